// What becomes ciphermark_core.errors.Exhausted in Python.
#pragma once

#include <stdexcept>

namespace ciphermark::he {

struct Exhausted : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace ciphermark::he
