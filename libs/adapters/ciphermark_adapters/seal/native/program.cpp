#include "program.hpp"

#include "errors.hpp"
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ciphermark {

using seal::Ciphertext;

namespace {

using Owned = std::shared_ptr<seal::Ciphertext>;

// Ciphertexts whose values are dead, for the next that need as much room. From one loop to the next no ciphertext is
// allocated any more.
class Recycled {
public:
    explicit Recycled(const seal::SEALContext &context) : context_(context) {}

    Owned taken(const Instruction &instruction);
    void give(Owned ciphertext);

private:
    Owned smallest(std::size_t words);

    const seal::SEALContext &context_;
    std::mutex mutex_;
    std::vector<Owned> free_;
};

// A value of the program. `uses_left` counts nodes that still read it, and outputs, which never cease.
struct Value {
    const seal::Ciphertext *ciphertext = nullptr; // an input, or `own`
    Owned own;                                    // never of an input
    std::atomic<Index> uses_left{ 0 };
};

// One binding of a program: its inputs, and the values of the execution that is under way.
class Execution final : public ProgramBound {
public:
    Execution(const Program &program, std::vector<CiphertextPointer> inputs, std::size_t threads);

    std::int64_t run(std::int64_t loops) override;

private:
    void begin();
    void execute(Index node);
    Value *overwritable(const Instruction &instruction);
    void release(Value &value);
    void keep_results();

    const Program &program_;
    const std::vector<CiphertextPointer> inputs_;
    std::vector<Value> values_;
    std::vector<KernelOperands> operands_; // of each instruction
    Recycled recycled_;
    Schedule schedule_;
};

// Room of a ciphertext in 64-bit words.
std::size_t capacity(const Owned &ciphertext)
{
    return ciphertext->dyn_array().capacity();
}

// One use is left: the one that asks. An operand that is taken twice has two.
bool dies(const Value &value, std::size_t words)
{
    return value.own && value.uses_left.load(std::memory_order_acquire) == 1 && capacity(value.own) >= words;
}

Owned Recycled::taken(const Instruction &instruction)
{
    if (Owned found = smallest(instruction.words)) {
        return found;
    }
    Owned made = std::make_shared<Ciphertext>();
    made->reserve(context_, instruction.level, instruction.polynomials);
    return made;
}

void Recycled::give(Owned ciphertext)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(ciphertext));
}

// The last given of the smallest that are large enough: its memory is likely to be in a cache.
Owned Recycled::smallest(std::size_t words)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = free_.end();
    for (auto one = free_.begin(); one != free_.end(); ++one) {
        if (capacity(*one) >= words && (best == free_.end() || capacity(*one) <= capacity(*best))) {
            best = one;
        }
    }
    if (best == free_.end()) {
        return nullptr;
    }
    Owned found = std::move(*best);
    free_.erase(best);
    return found;
}

Execution::Execution(const Program &program, std::vector<CiphertextPointer> inputs, std::size_t threads)
    : ProgramBound(std::vector<CiphertextPointer>(program.outputs().size())), program_(program),
      inputs_(std::move(inputs)), values_(program.uses().size()), recycled_(program.evaluator().context().seal()),
      schedule_(
          program.dependencies(), threads, [this] { begin(); },
          [this](Index node) { execute(node); })
{
    for (const Instruction &instruction : program.instructions()) {
        operands_.push_back(instruction.fixed);
    }
}

std::int64_t Execution::run(std::int64_t loops)
{
    this->executed_ = false;
    this->results_.assign(this->results_.size(), nullptr);
    const std::int64_t elapsed = schedule_.run(loops);
    keep_results();
    this->executed_ = loops > 0;
    return elapsed;
}

// Takes back what the last execution left; its outputs too, unless somebody still holds them.
void Execution::begin()
{
    for (std::size_t i = 0; i < values_.size(); ++i) {
        Value &value = values_[i];
        if (i < inputs_.size()) {
            value.ciphertext = inputs_[i].get();
        } else if (Owned left = std::move(value.own); left && left.use_count() == 1) {
            recycled_.give(std::move(left));
        }
        value.uses_left.store(program_.uses()[i], std::memory_order_relaxed);
    }
}

void Execution::execute(Index node)
{
    const Instruction &instruction = program_.instructions()[node];
    KernelOperands &operands = operands_[node];
    Value &first = values_[instruction.result];
    Value *overwritten = overwritable(instruction);
    first.own = overwritten ? std::move(overwritten->own) : recycled_.taken(instruction);
    first.ciphertext = first.own.get();
    for (std::size_t i = 1; i < instruction.results; ++i) {
        Value &result = values_[instruction.result + i];
        result.own = recycled_.taken(instruction);
        result.ciphertext = operands.further[i - 1] = result.own.get();
    }
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        operands.ciphertexts[i] = values_[instruction.operands[i]].ciphertext;
    }
    instruction.kernel->apply(program_.evaluator(), operands, *first.own);
    for (const Index operand : instruction.operands) {
        release(values_[operand]);
    }
    for (std::size_t i = 0; i < instruction.results; ++i) {
        if (program_.uses()[instruction.result + i] == 0) {
            recycled_.give(std::move(values_[instruction.result + i].own));
        }
    }
}

// The operand that dies with this instruction and has room for the result, where the kernel may overwrite it.
Value *Execution::overwritable(const Instruction &instruction)
{
    const auto &operands = instruction.operands;
    if (instruction.kernel->has(copies_in_place) || instruction.results > 1) {
        return nullptr;
    }
    if (dies(values_[operands[0]], instruction.words)) {
        return &values_[operands[0]];
    }
    if (instruction.commutes && dies(values_[operands[1]], instruction.words)) {
        return &values_[operands[1]];
    }
    return nullptr;
}

void Execution::release(Value &value)
{
    if (value.uses_left.fetch_sub(1, std::memory_order_acq_rel) == 1 && value.own) {
        recycled_.give(std::move(value.own));
    }
}

void Execution::keep_results()
{
    const auto &outputs = program_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Index output = outputs[i];
        this->results_[i] = output < inputs_.size() ? inputs_[output] : values_[output].own;
    }
}

} // namespace

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
