// The server: computes on ciphertexts with evaluation keys; there is no secret key in here.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include "seal/seal.h"
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ciphermark {

using CiphertextPointer = std::shared_ptr<const seal::Ciphertext>;
using PlaintextPointer = std::shared_ptr<const seal::Plaintext>;

// The operands of one execution. Rows own their operands, so that these outlive the Python handles.
using UnaryRow = std::tuple<CiphertextPointer>;
using BinaryRow = std::tuple<CiphertextPointer, CiphertextPointer>;
using PlainRow = std::tuple<CiphertextPointer, PlaintextPointer>;
using NumberRow = std::tuple<CiphertextPointer, int>;
using ManyRow = std::tuple<std::vector<CiphertextPointer>>;
using SumRow = std::tuple<std::vector<CiphertextPointer>, std::vector<PlaintextPointer>>;
using PlacedRow = std::tuple<PlaintextPointer, CiphertextPointer>;

using CiphertextBound = BoundPointer<seal::Ciphertext>;
using PlaintextBound = BoundPointer<seal::Plaintext>;

// A Bound refers to its Evaluator, which must outlive it.
class Evaluator {
public:
    Evaluator(
        std::shared_ptr<const Context> context, seal::RelinKeys relinearization_keys,
        seal::GaloisKeys rotation_keys);

    CiphertextBound negate(std::vector<UnaryRow> rows) const;
    CiphertextBound square(std::vector<UnaryRow> rows) const;
    CiphertextBound relinearize(std::vector<UnaryRow> rows) const;
    CiphertextBound rescale(std::vector<UnaryRow> rows) const;
    CiphertextBound mod_switch(std::vector<UnaryRow> rows) const;
    CiphertextBound rotate_columns(std::vector<UnaryRow> rows) const;
    CiphertextBound add(std::vector<BinaryRow> rows) const;
    CiphertextBound sub(std::vector<BinaryRow> rows) const;
    CiphertextBound mul(std::vector<BinaryRow> rows) const;
    CiphertextBound add_plain(std::vector<PlainRow> rows) const;
    CiphertextBound sub_plain(std::vector<PlainRow> rows) const;
    CiphertextBound mul_plain(std::vector<PlainRow> rows) const;
    CiphertextBound rotate(std::vector<NumberRow> rows) const;

    // X → X^k, for the k of each row modulo 2N, which has a key; −1 conjugates (ckks).
    CiphertextBound substitute(std::vector<NumberRow> rows) const;
    CiphertextBound conjugate(std::vector<UnaryRow> rows) const;

    // The product with X^k, of ciphertexts in coefficient form (bfv): every polynomial shifted.
    CiphertextBound mul_monomial(std::vector<NumberRow> rows) const;
    CiphertextBound add_many(std::vector<ManyRow> rows) const;

    // Sums of products with plaintexts in evaluation form.
    CiphertextBound multiply_accumulate(std::vector<SumRow> rows) const;

    // To evaluation form, at the level of the row's ciphertext (bfv, bgv).
    PlaintextBound transform_plain(std::vector<PlacedRow> rows) const;

    // Encode at the top level; `scale` is for ckks.
    template <class Values>
    PlaintextBound encode(std::vector<std::tuple<Values>> rows, double scale) const;

    // A plaintext of bgv as a product takes it: transformed, for one level. Others are transformed anyway, or never.
    seal::Plaintext transformed(const seal::Plaintext &plaintext, std::size_t level) const;

    const Context &context() const { return *context_; }
    const seal::Evaluator &seal() const { return evaluator_; }
    const seal::RelinKeys &relinearization_keys() const { return relinearization_keys_; }
    const seal::GaloisKeys &rotation_keys() const { return rotation_keys_; }

private:
    // An empty ciphertext with memory for so many polynomials at the level of another.
    seal::Ciphertext room(const seal::Ciphertext &like, std::size_t polynomials) const;

    // Binds with destinations that have room for results as large as the row's first operand ...
    template <class Row, class Kernel>
    CiphertextBound linear(std::vector<Row> rows, Kernel kernel) const;

    // ... or as large as its square, so that SEAL allocates no destination while it is timed.
    template <class Row, class Kernel>
    CiphertextBound quadratic(std::vector<Row> rows, Kernel kernel) const;

    std::shared_ptr<const Context> context_;
    seal::Evaluator evaluator_;
    seal::RelinKeys relinearization_keys_;
    seal::GaloisKeys rotation_keys_;
};

template <class Row, class Kernel>
CiphertextBound Evaluator::linear(std::vector<Row> rows, Kernel kernel) const
{
    std::vector<seal::Ciphertext> destinations;
    for (const Row &row : rows) {
        destinations.push_back(room(*std::get<0>(row), std::get<0>(row)->size()));
    }
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

} // namespace ciphermark
