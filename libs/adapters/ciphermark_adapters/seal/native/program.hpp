// A program of the contract, interpreted: no Python between its operations.
#pragma once

#include "bound.hpp"
#include "evaluator.hpp"
#include "schedule.hpp"
#include "seal/seal.h"
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace ciphermark {

// Level and number of polynomials of a result.
using ResultShape = std::tuple<std::size_t, std::size_t>;

// Operation, values that it takes, plaintexts, numbers, and its results, which are numbered on from those before.
using ProgramNode = std::tuple<
    std::string, std::vector<Index>, std::vector<Index>, std::vector<double>, std::vector<ResultShape>>;

// Operands of all executions. Values are numbered as in the contract: inputs first, then results.
struct ProgramOperands {
    std::vector<CiphertextPointer> inputs;
    std::vector<PlaintextPointer> plaintexts;
    std::vector<Index> outputs;
};

// Binds a program. Throws Unsupported for an operation that is not known here. The Evaluator must outlive it.
CiphertextBound bind_program(
    const Evaluator &evaluator, const std::vector<ProgramNode> &nodes, ProgramOperands operands,
    std::size_t threads);

} // namespace ciphermark
