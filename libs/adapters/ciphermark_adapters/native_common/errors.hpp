// What becomes an error of ciphermark_core.errors in Python.
#pragma once

#include <stdexcept>

namespace ciphermark {

struct Unsupported : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct Exhausted : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace ciphermark
