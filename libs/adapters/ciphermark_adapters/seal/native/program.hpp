// A program of the contract, translated once, and interpreted: no Python between its operations.
#pragma once

#include "bound.hpp"
#include "evaluator.hpp"
#include "kernels.hpp"
#include "schedule.hpp"
#include "seal/seal.h"
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace ciphermark {

// Level and number of polynomials of a result.
using ResultShape = std::tuple<std::size_t, std::size_t>;

// Operation, values that it takes, plaintexts, numbers, and its results, which are alike and numbered on from those before.
using ProgramNode = std::tuple<
    std::string, std::vector<Index>, std::vector<Index>, std::vector<std::int64_t>, std::vector<ResultShape>>;

struct Instruction {
    const Kernel *kernel;
    bool commutes;
    std::vector<Index> operands;
    KernelOperands fixed; // all but the ciphertexts, for which there are places
    Index result; // the first, of as many as there are
    std::size_t results;
    seal::parms_id_type level;
    std::size_t polynomials;
    std::size_t words; // room that a result needs
};

// Results are handed out as they are: nobody copies them.
using ProgramBound = Bound<CiphertextPointer>;

// Values are numbered as in the contract: inputs first, then results. The Evaluator must outlive it.
class Program {
public:
    // Throws Unsupported for an operation that is not known here, std::invalid_argument for nodes that make no sense.
    Program(
        const Evaluator &evaluator, std::size_t inputs, const std::vector<ProgramNode> &nodes,
        std::vector<PlaintextPointer> plaintexts, std::vector<Index> outputs);

    // Binds the program to its inputs; it must outlive what is returned.
    std::unique_ptr<ProgramBound> bind(std::vector<CiphertextPointer> inputs, std::size_t threads) const;

    const Evaluator &evaluator() const { return evaluator_; }
    std::size_t inputs() const { return inputs_; }
    const std::vector<Instruction> &instructions() const { return instructions_; }
    const std::vector<Index> &outputs() const { return outputs_; }
    // Per value, how many operands and outputs it is.
    const std::vector<Index> &uses() const { return uses_; }
    const Dependencies &dependencies() const { return dependencies_; }

private:
    void add(const ProgramNode &node);
    void count_uses();
    void find_dependencies();

    const Evaluator &evaluator_;
    const std::size_t inputs_;
    const std::vector<PlaintextPointer> plaintexts_;
    const std::vector<Index> outputs_;
    std::vector<Instruction> instructions_;
    std::vector<Index> makers_; // of each result, the number of its instruction
    std::vector<Index> uses_;
    Dependencies dependencies_;
};

} // namespace ciphermark
