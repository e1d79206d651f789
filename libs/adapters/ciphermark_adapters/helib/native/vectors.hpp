// Between numpy arrays and the vectors that HElib wants. Nothing here is timed.
#pragma once

#include "context.hpp"
#include "evaluator.hpp"
#include "key_owner.hpp"
#include <algorithm>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ciphermark::he {

namespace nb = nanobind;

// Full arrays in HElib's order: int64 in [0, t) for bgv, float64 for ckks.
template <class Value>
using Array = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Value>
using Slots = std::conditional_t<std::is_same_v<Value, double>, Reals, Integers>;

template <class Value>
Slots<Value> slots(const Array<Value> &array)
{
    return Slots<Value>(array.data(), array.data() + array.size());
}

template <class Value>
CiphertextBound encrypt(const KeyOwner &owner, const std::vector<std::tuple<Array<Value>>> &arrays, double scale)
{
    std::vector<std::tuple<Slots<Value>>> rows;
    for (const auto &array : arrays) {
        rows.emplace_back(slots<Value>(std::get<0>(array)));
    }
    return owner.encrypt<Slots<Value>>(std::move(rows), scale);
}

// A plaintext at the primes of `like`, or at the top level's.
template <class Value>
Plaintext encode(const Evaluator &evaluator, const Array<Value> &values, const Ciphertext *like, double scale)
{
    const Context &context = *evaluator.keys()->context;
    const double error = context.is_real() ? context.rounding_error() : 0.0;
    Plaintext plain;
    context.encode(slots<Value>(values), scale, error, plain.compact);
    plain.expanded.expand(plain.compact, like ? like->ctxt.getPrimeSet() : context.helib().getCtxtPrimes());
    return plain;
}

template <class Value, class Slot>
nb::object to_array(const std::vector<Slot> &slots)
{
    auto *values = new Value[slots.size()];
    nb::capsule owner(values, [](void *memory) noexcept { delete[] static_cast<Value *>(memory); });
    std::copy(slots.begin(), slots.end(), values);
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, { slots.size() }, owner));
}

inline nb::object to_python_one(Integers &&values) { return to_array<std::int64_t>(values); }
inline nb::object to_python_one(Reals &&values) { return to_array<double>(values); }
inline nb::object to_python_one(std::tuple<> &&) { return nb::none(); }
inline nb::object to_python_one(Ciphertext &&ciphertext) { return nb::cast(std::move(ciphertext)); }

template <class Result>
nb::list to_python(std::vector<Result> results)
{
    nb::list list;
    for (Result &result : results) {
        list.append(to_python_one(std::move(result)));
    }
    return list;
}

} // namespace ciphermark::he
