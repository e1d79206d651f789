// Between numpy arrays and the vectors that HElib wants. Nothing here is timed.
#pragma once

#include "arrays.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include "key_owner.hpp"
#include <tuple>
#include <type_traits>
#include <vector>

namespace ciphermark::he {

template <class Value>
using Slots = std::conditional_t<std::is_same_v<Value, double>, Reals, Integers>;

template <class Value>
CiphertextBound encrypt(const KeyOwner &owner, const std::vector<std::tuple<Array<Value>>> &arrays, double scale)
{
    return owner.encrypt<Slots<Value>>(to_rows<Slots<Value>, Value>(arrays), scale);
}

// A plaintext at the primes of `like`, or where that is missing at those of a level.
template <class Value>
Plaintext encode(
    const Evaluator &evaluator, const Array<Value> &values, const Ciphertext *like, long level, double scale)
{
    const Context &context = *evaluator.keys()->context;
    const double error = context.is_real() ? context.rounding_error() : 0.0;
    Plaintext plain;
    // The server's values: a tight bound lets HElib decrypt after more products.
    context.encode(to_slots<Slots<Value>, Value>(values), scale, error, 1 / scale, plain.compact);
    plain.expanded.expand(plain.compact, like ? like->ctxt.getPrimeSet() : context.primes_of_level(level));
    return plain;
}

} // namespace ciphermark::he
