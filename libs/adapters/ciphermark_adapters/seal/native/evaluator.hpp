// The server: evaluation keys, and what makes plaintexts; there is no secret key in here. Its operations on ciphertexts
// are in kernels.cpp.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include "seal/seal.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace ciphermark {

using CiphertextPointer = std::shared_ptr<const seal::Ciphertext>;
using PlaintextPointer = std::shared_ptr<const seal::Plaintext>;

// The operands of one execution. Rows own their operands, so that these outlive the Python handles.
using UnaryRow = std::tuple<CiphertextPointer>;
using PlacedRow = std::tuple<PlaintextPointer, CiphertextPointer>;

using CiphertextBound = BoundPointer<seal::Ciphertext>;
using PlaintextBound = BoundPointer<seal::Plaintext>;

// A Bound refers to its Evaluator, which must outlive it.
class Evaluator {
public:
    // Without keys. `scale` is what numbers are encoded at (ckks; else 1).
    Evaluator(std::shared_ptr<const Context> context, double scale);

    void set_relinearization_keys(seal::RelinKeys keys);

    // The key of X -> X^element, in a set of one; throws std::invalid_argument for anything else.
    void add_rotation_key(std::uint32_t element, seal::KSwitchKeys one);

    // To NTT form, at the level of the row's ciphertext (bfv, bgv).
    PlaintextBound transform_plain(std::vector<PlacedRow> rows) const;

    // Encode at the top level; `scale` is for ckks.
    template <class Values>
    PlaintextBound encode(std::vector<std::tuple<Values>> rows, double scale) const;

    // Vectors as the coefficients of plaintexts (bfv, bgv).
    PlaintextBound encode_coefficients(std::vector<std::tuple<Integers>> rows) const;

    // A vector in memory of others, and what its plaintext is like: in bfv and bgv in NTT form at a level, or only
    // encoded where there is none; in ckks of a level and a scale.
    template <class Value>
    struct Constant {
        const Value *values;
        std::size_t count;
        std::optional<std::size_t> level;
        double scale;
    };

    // The plaintexts of vectors of int64 (bfv, bgv) or double (ckks), made on so many threads. Throws std::invalid_argument
    // for integers that are not in [0, t).
    template <class Value>
    std::vector<seal::Plaintext> prepared(const std::vector<Constant<Value>> &constants, std::size_t threads) const;

    const Context &context() const { return *context_; }
    double scale() const { return scale_; }
    const seal::Evaluator &seal() const { return evaluator_; }
    const seal::RelinKeys &relinearization_keys() const { return relinearization_keys_; }
    const seal::GaloisKeys &rotation_keys() const { return rotation_keys_; }

private:
    void prepare(const Constant<std::int64_t> &constant, seal::Plaintext &out) const;
    void prepare(const Constant<double> &constant, seal::Plaintext &out) const;

    std::shared_ptr<const Context> context_;
    const double scale_;
    seal::Evaluator evaluator_;
    seal::RelinKeys relinearization_keys_; // empty where none were added
    seal::GaloisKeys rotation_keys_;
};

} // namespace ciphermark
