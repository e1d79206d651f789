// The server: computes on ciphertexts with evaluation keys; there is no secret key in here.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include "seal/seal.h"
#include <memory>
#include <tuple>
#include <vector>

namespace ciphermark {

using CiphertextPointer = std::shared_ptr<const seal::Ciphertext>;
using PlaintextPointer = std::shared_ptr<const seal::Plaintext>;

// The operands of one execution. Rows own their operands, so that these outlive the Python handles.
using UnaryRow = std::tuple<CiphertextPointer>;
using BinaryRow = std::tuple<CiphertextPointer, CiphertextPointer>;
using PlainRow = std::tuple<CiphertextPointer, PlaintextPointer>;
using RotateRow = std::tuple<CiphertextPointer, int>;

using CiphertextBound = BoundPointer<seal::Ciphertext>;

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
    CiphertextBound rotate(std::vector<RotateRow> rows) const;

    // A plaintext of bgv as a product takes it: transformed, for one level. Others are transformed anyway, or never.
    seal::Plaintext transformed(const seal::Plaintext &plaintext, std::size_t level) const;

    const Context &context() const { return *context_; }
    const seal::Evaluator &seal() const { return evaluator_; }
    const seal::RelinKeys &relinearization_keys() const { return relinearization_keys_; }
    const seal::GaloisKeys &rotation_keys() const { return rotation_keys_; }

private:
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

} // namespace ciphermark
