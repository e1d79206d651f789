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

// A new bytes object of this many bytes, not yet written.
inline nb::object bytes_of(std::size_t size)
{
    PyObject *buffer = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (!buffer) {
        throw nb::python_error();
    }
    return nb::steal(buffer);
}

inline seal::seal_byte *begin(const nb::object &bytes)
{
    return reinterpret_cast<seal::seal_byte *>(PyBytes_AS_STRING(bytes.ptr()));
}

// SEAL writes straight into the bytes object: evaluation keys are too large for a second copy.
template <class Object>
nb::bytes save(const Object &object, const std::string &compression)
{
    const seal::compr_mode_type mode = compression_named(compression);
    const auto bound = object.save_size(mode);
    nb::object owner = bytes_of(bound);
    const auto size = object.save(begin(owner), bound, mode);
    PyObject *buffer = owner.release().ptr();
    if (_PyBytes_Resize(&buffer, size) != 0) {
        throw nb::python_error();
    }
    return nb::steal<nb::bytes>(buffer);
}

// Bytes of any Python object that has some, such as a part of others, as long as this lives.
class View {
public:
    explicit View(nb::handle source)
    {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) {
            throw nb::python_error();
        }
    }
    ~View() { PyBuffer_Release(&view_); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    const seal::seal_byte *data() const { return static_cast<const seal::seal_byte *>(view_.buf); }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }

private:
    Py_buffer view_{};
};

// Throws if the bytes do not hold an `Object` that is valid for the context.
template <class Object>
Object load(const seal::SEALContext &context, const View &bytes)
{
    Object object;
    object.load(context, bytes.data(), bytes.size());
    return object;
}

} // namespace ciphermark
