#include "execution.hpp"

#include <utility>

namespace ciphermark {

using seal::Ciphertext;

namespace {

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

} // namespace

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

} // namespace ciphermark
