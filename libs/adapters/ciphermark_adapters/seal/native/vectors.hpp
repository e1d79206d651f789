// Between numpy arrays and the vectors that SEAL's encoders want. Nothing here is timed.
#pragma once

#include "arrays.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include "key_owner.hpp"
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ciphermark {

template <class Value>
using Slots = std::conditional_t<std::is_same_v<Value, double>, Reals, Integers>;

template <class Value>
CiphertextBound encrypt(const KeyOwner &owner, const std::vector<std::tuple<Array<Value>>> &arrays, double scale)
{
    return owner.encrypt<Slots<Value>>(to_rows<Slots<Value>, Value>(arrays), scale);
}

template <class Value>
PlaintextBound encode_rows(
    const Evaluator &evaluator, const std::vector<std::tuple<Array<Value>>> &arrays, double scale)
{
    return evaluator.encode<Slots<Value>>(to_rows<Slots<Value>, Value>(arrays), scale);
}

inline PlaintextBound encode_coefficients(
    const Evaluator &evaluator, const std::vector<std::tuple<Array<std::int64_t>>> &arrays)
{
    return evaluator.encode_coefficients(to_rows<Integers, std::int64_t>(arrays));
}

// Vectors with the levels and scales of their plaintexts: see Evaluator::prepared. Others need not wait meanwhile.
template <class Value>
std::vector<seal::Plaintext> prepare(
    const Evaluator &evaluator,
    const std::vector<std::tuple<Array<Value>, std::optional<std::size_t>, double>> &vectors, std::size_t threads)
{
    std::vector<Evaluator::Constant<Value>> constants;
    for (const auto &[values, level, scale] : vectors) {
        constants.push_back({ values.data(), values.size(), level, scale });
    }
    const nb::gil_scoped_release released;
    return evaluator.prepared(constants, threads);
}

// See Context::residues, and its inverse.
inline nb::object residues(const Context &context, const seal::Ciphertext &ciphertext)
{
    return to_array(context.residues(ciphertext));
}

inline seal::Ciphertext from_residues(
    const Context &context, const Array<std::int64_t> &values, std::size_t level)
{
    return context.from_residues(to_slots<Integers, std::int64_t>(values), level);
}

// A plaintext at a level, or at the top level.
template <class Value>
seal::Plaintext encode(
    const Context &context, const Array<Value> &values, std::optional<std::size_t> level, double scale)
{
    seal::Plaintext plain;
    const auto place = level ? context.at(*level) : context.top();
    context.encode(to_slots<Slots<Value>, Value>(values), { place, scale }, plain);
    return plain;
}

} // namespace ciphermark
