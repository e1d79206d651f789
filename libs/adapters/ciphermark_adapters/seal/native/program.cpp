#include "program.hpp"

#include "errors.hpp"
#include "execution.hpp"
#include <set>
#include <stdexcept>
#include <utility>

namespace ciphermark {

Program::Program(
    const Evaluator &evaluator, std::size_t inputs, const std::vector<ProgramNode> &nodes,
    std::vector<PlaintextPointer> plaintexts, std::vector<Index> outputs)
    : evaluator_(evaluator), inputs_(inputs), plaintexts_(std::move(plaintexts)), outputs_(std::move(outputs))
{
    for (const ProgramNode &node : nodes) {
        add(node);
    }
    count_uses();
    find_dependencies();
}

std::unique_ptr<ProgramBound> Program::bind(std::vector<CiphertextPointer> inputs, std::size_t threads) const
{
    if (inputs.size() != inputs_) {
        throw std::invalid_argument("the program takes another number of inputs");
    }
    return std::make_unique<Execution>(*this, std::move(inputs), threads);
}

void Program::add(const ProgramNode &node)
{
    const auto &[operation, operands, plaintexts, numbers, results] = node;
    const Kernel &kernel = kernel_named(operation);
    if (results.size() != 1 && (results.empty() || !kernel.has(in_one_pass))) {
        throw Unsupported("SEAL's programs have no several results of " + operation);
    }
    const auto [level, polynomials] = results[0];
    const auto parms_id = evaluator_.context().at(level);
    const auto &parms = evaluator_.context().seal().get_context_data(parms_id)->parms();
    const std::size_t words = polynomials * parms.poly_modulus_degree() * parms.coeff_modulus().size();
    const Index result = static_cast<Index>(inputs_ + makers_.size());
    const bool is_bgv = parms.scheme() == seal::scheme_type::bgv;
    const bool commutes = kernel.has(is_bgv ? commutes_in_bgv : Trait::commutes);
    Instruction made{ &kernel, commutes, operands, {}, result, results.size(), parms_id, polynomials, words };
    made.fixed.ciphertexts.resize(operands.size());
    made.fixed.numbers = numbers;
    made.fixed.further.resize(results.size() - 1);
    for (const Index plaintext : plaintexts) {
        made.fixed.plaintexts.push_back(plaintexts_.at(plaintext).get());
    }
    if (!kernel.takes.fits(made.fixed)) {
        throw std::invalid_argument(operation + " takes another number of operands");
    }
    for (const Index operand : operands) {
        if (operand >= result) {
            throw std::invalid_argument("the nodes of a program must be in an order of execution");
        }
    }
    makers_.insert(makers_.end(), results.size(), static_cast<Index>(instructions_.size()));
    instructions_.push_back(std::move(made));
}

void Program::count_uses()
{
    uses_.assign(inputs_ + makers_.size(), 0);
    for (const Instruction &instruction : instructions_) {
        for (const Index operand : instruction.operands) {
            ++uses_[operand];
        }
    }
    for (const Index output : outputs_) {
        ++uses_.at(output);
    }
}

void Program::find_dependencies()
{
    dependencies_.followers.resize(instructions_.size());
    for (Index node = 0; node < instructions_.size(); ++node) {
        std::set<Index> before;
        for (const Index operand : instructions_[node].operands) {
            if (operand >= inputs_) {
                before.insert(makers_[operand - inputs_]);
            }
        }
        for (const Index maker : before) {
            dependencies_.followers[maker].push_back(node);
        }
        dependencies_.waits.push_back(static_cast<Index>(before.size()));
    }
}

} // namespace ciphermark
