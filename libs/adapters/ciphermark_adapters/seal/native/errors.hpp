// What becomes ciphermark_core.errors.Unsupported in Python.
#pragma once

#include <stdexcept>

namespace ciphermark {

struct Unsupported : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

} // namespace ciphermark
