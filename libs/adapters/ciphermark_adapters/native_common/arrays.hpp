// Between numpy arrays and the vectors that libraries want. Nothing here is timed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ciphermark {

namespace nb = nanobind;

// The contract's arrays: int64 in [0, t) for bfv and bgv, float64 for ckks.
template <class Value>
using Array = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Slots, class Value>
Slots to_slots(const Array<Value> &array)
{
    return Slots(array.data(), array.data() + array.size());
}

template <class Slots, class Value>
std::vector<std::tuple<Slots>> to_rows(const std::vector<std::tuple<Array<Value>>> &arrays)
{
    std::vector<std::tuple<Slots>> rows;
    for (const auto &array : arrays) {
        rows.emplace_back(to_slots<Slots, Value>(std::get<0>(array)));
    }
    return rows;
}

// Whatever the library's integers are, the contract's are int64.
template <class Slot>
nb::object to_array(const std::vector<Slot> &slots)
{
    using Value = std::conditional_t<std::is_floating_point_v<Slot>, double, std::int64_t>;
    auto *values = new Value[slots.size()];
    nb::capsule owner(values, [](void *memory) noexcept { delete[] static_cast<Value *>(memory); });
    std::copy(slots.begin(), slots.end(), values);
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, { slots.size() }, owner));
}

template <class Slot>
nb::object to_python_one(std::vector<Slot> &&slots)
{
    return to_array(slots);
}

inline nb::object to_python_one(std::tuple<> &&) { return nb::none(); }

template <class Result>
nb::object to_python_one(Result &&result)
{
    return nb::cast(std::forward<Result>(result));
}

template <class Result>
nb::list to_python(std::vector<Result> results)
{
    nb::list list;
    for (Result &result : results) {
        list.append(to_python_one(std::move(result)));
    }
    return list;
}

} // namespace ciphermark
