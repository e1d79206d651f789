// Operations one by one: rows of Python's operands, bound to a kernel.
#pragma once

#include "evaluator.hpp"
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace ciphermark {

// Rows are ciphertexts, then plaintexts, then whole numbers, as many as the operation takes: else a TypeError. The
// destinations have room for the results, so that SEAL allocates none while it is timed. Throws Unsupported for an
// operation that there is not.
CiphertextBound bind_primitive(
    const Evaluator &evaluator, const std::string &operation,
    const std::vector<std::vector<nanobind::object>> &rows);

} // namespace ciphermark
