// HElib objects as Python bytes, in HElib's own binary format: their lengths are HElib's sizes.
#pragma once

#include <istream>
#include <nanobind/nanobind.h>
#include <sstream>
#include <streambuf>
#include <string>

namespace ciphermark::he {

namespace nb = nanobind;

// `write` gets the stream to write to.
template <class Write>
nb::bytes written(Write write)
{
    std::ostringstream stream;
    write(stream);
    const std::string data = stream.str();
    return nb::bytes(data.data(), data.size());
}

// Reads from bytes without a copy of them. Ends of input within a value throw.
class BytesStream : private std::streambuf, public std::istream {
public:
    explicit BytesStream(const nb::bytes &data) : std::istream(static_cast<std::streambuf *>(this))
    {
        char *start = const_cast<char *>(data.c_str());
        setg(start, start, start + data.size());
        exceptions(std::ios::failbit | std::ios::badbit);
    }
};

} // namespace ciphermark::he
