// SEAL objects as Python bytes, in SEAL's own format: their lengths are SEAL's sizes.
#pragma once

#include "errors.hpp"
#include "seal/seal.h"
#include <nanobind/nanobind.h>
#include <string>

namespace ciphermark {

namespace nb = nanobind;

inline seal::compr_mode_type compression_named(const std::string &name)
{
    if (name == "none") {
        return seal::compr_mode_type::none;
    }
#ifdef SEAL_USE_ZLIB
    if (name == "zlib") {
        return seal::compr_mode_type::zlib;
    }
#endif
#ifdef SEAL_USE_ZSTD
    if (name == "zstd") {
        return seal::compr_mode_type::zstd;
    }
#endif
    throw Unsupported("this SEAL has no compression " + name);
}

// SEAL writes straight into the bytes object: evaluation keys are too large for a second copy.
template <class Object>
nb::bytes save(const Object &object, const std::string &compression)
{
    const seal::compr_mode_type mode = compression_named(compression);
    const auto bound = object.save_size(mode);
    PyObject *buffer = PyBytes_FromStringAndSize(nullptr, bound);
    if (!buffer) {
        throw nb::python_error();
    }
    nb::object owner = nb::steal(buffer);
    const auto size = object.save(reinterpret_cast<seal::seal_byte *>(PyBytes_AS_STRING(buffer)), bound, mode);
    owner.release();
    if (_PyBytes_Resize(&buffer, size) != 0) {
        throw nb::python_error();
    }
    return nb::steal<nb::bytes>(buffer);
}

// Throws if the bytes do not hold an `Object` that is valid for the context.
template <class Object>
Object load(const seal::SEALContext &context, const nb::bytes &data)
{
    Object object;
    object.load(context, reinterpret_cast<const seal::seal_byte *>(data.c_str()), data.size());
    return object;
}

} // namespace ciphermark
