// What every native module has in common on Python's side.
#pragma once

#include "arrays.hpp"
#include "bound.hpp"
#include "errors.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <string>

namespace ciphermark {

using namespace nb::literals;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;
// A Bound keeps the object alive that it was bound by.
using KeepOwner = nb::keep_alive<0, 1>;

// `name` is a class of ciphermark_core.errors.
inline void set_python_error(const char *name, const std::string &text)
{
    const nb::object kind = nb::module_::import_("ciphermark_core.errors").attr(name);
    PyErr_SetString(kind.ptr(), text.c_str());
}

template <class Result>
void define_bound(nb::module_ &module, const char *name)
{
    nb::class_<Bound<Result>>(module, name)
        .def("run", &Bound<Result>::run, "loops"_a, ReleaseGil())
        .def("results", [](const Bound<Result> &bound) { return to_python(bound.results()); })
        .def("take", [](Bound<Result> &bound) { return to_python(bound.take()); });
}

} // namespace ciphermark
