#include "program.hpp"

#include "errors.hpp"
#include "kernels.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace ciphermark {

namespace {

using seal::Ciphertext;

using Owned = std::unique_ptr<Ciphertext>;

// Room of a ciphertext in 64-bit words.
std::size_t capacity(const Owned &ciphertext)
{
    return ciphertext->dyn_array().capacity();
}

// Ciphertexts whose values are dead, for the next that need as much room. From one loop to the next no ciphertext is
// allocated any more.
class Recycled {
public:
    explicit Recycled(const Context &context) : context_(context) {}

    Owned taken(const seal::parms_id_type &level, std::size_t polynomials, std::size_t words)
    {
        if (Owned found = smallest(words)) {
            return found;
        }
        Owned made = std::make_unique<Ciphertext>();
        made->reserve(context_.seal(), level, polynomials);
        return made;
    }

    void give(Owned ciphertext)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        free_.push_back(std::move(ciphertext));
    }

private:
    // The last given of the smallest that are large enough: its memory is likely to be in a cache.
    Owned smallest(std::size_t words)
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

    const Context &context_;
    std::mutex mutex_;
    std::vector<Owned> free_;
};

// A value of the program. `uses_left` counts nodes that still read it, and outputs, which never cease.
struct Value {
    const Ciphertext *ciphertext = nullptr; // an input, or `own`
    Owned own;                              // never of an input
    std::atomic<Index> uses_left{ 0 };
};

struct Instruction {
    const Kernel *kernel;
    std::vector<Index> operands;
    KernelOperands fixed; // plaintexts and numbers
    Index result;
    seal::parms_id_type level;
    std::size_t polynomials;
    std::size_t words;
};

class ProgramBound final : public Bound<Ciphertext> {
public:
    ProgramBound(
        const Evaluator &evaluator, const std::vector<ProgramNode> &nodes, ProgramOperands operands,
        std::size_t threads)
        : Bound<Ciphertext>(std::vector<Ciphertext>(operands.outputs.size())), evaluator_(evaluator),
          operands_(std::move(operands)), values_(operands_.inputs.size() + nodes.size()),
          recycled_(evaluator.context())
    {
        for (const ProgramNode &node : nodes) {
            add(node);
        }
        count_uses();
        schedule_.emplace(
            dependencies(), threads, [this] { begin(); }, [this](Index node) { execute(instructions_[node]); });
    }

    std::int64_t run(std::int64_t loops) override
    {
        this->executed_ = false;
        const auto start = std::chrono::steady_clock::now();
        schedule_->run(loops);
        const auto elapsed = std::chrono::steady_clock::now() - start;
        keep_results();
        this->executed_ = loops > 0;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
    }

private:
    void add(const ProgramNode &node)
    {
        const auto &[operation, operands, plaintexts, numbers, results] = node;
        if (results.size() != 1) {
            throw Unsupported("SEAL's programs have no operations of several results");
        }
        const auto [level, polynomials] = results[0];
        const auto parms_id = evaluator_.context().at(level);
        const auto &parms = evaluator_.context().seal().get_context_data(parms_id)->parms();
        const std::size_t words = polynomials * parms.poly_modulus_degree() * parms.coeff_modulus().size();
        const Index result = static_cast<Index>(operands_.inputs.size() + instructions_.size());
        Instruction made{ &kernel_named(operation), operands, {}, result, parms_id, polynomials, words };
        made.fixed.numbers = numbers;
        for (const Index plaintext : plaintexts) {
            made.fixed.plaintexts.push_back(operands_.plaintexts.at(plaintext).get());
        }
        for (const Index operand : operands) {
            if (operand >= result) {
                throw std::invalid_argument("the nodes of a program must be in an order of execution");
            }
        }
        instructions_.push_back(std::move(made));
    }

    void count_uses()
    {
        uses_.assign(values_.size(), 0);
        for (const Instruction &instruction : instructions_) {
            for (const Index operand : instruction.operands) {
                ++uses_[operand];
            }
        }
        for (const Index output : operands_.outputs) {
            ++uses_.at(output);
        }
    }

    Dependencies dependencies() const
    {
        Dependencies found;
        found.followers.resize(instructions_.size());
        const Index inputs = static_cast<Index>(operands_.inputs.size());
        for (Index node = 0; node < instructions_.size(); ++node) {
            const auto &operands = instructions_[node].operands;
            const std::set<Index> distinct(operands.begin(), operands.end());
            Index waits = 0;
            for (const Index operand : distinct) {
                if (operand >= inputs) {
                    found.followers[operand - inputs].push_back(node);
                    ++waits;
                }
            }
            found.waits.push_back(waits);
        }
        return found;
    }

    // Takes back what the last execution left, outputs included.
    void begin()
    {
        const std::size_t inputs = operands_.inputs.size();
        for (std::size_t i = 0; i < values_.size(); ++i) {
            Value &value = values_[i];
            if (i < inputs) {
                value.ciphertext = operands_.inputs[i].get();
            } else if (value.own) {
                recycled_.give(std::move(value.own));
            }
            value.uses_left.store(uses_[i], std::memory_order_relaxed);
        }
    }

    void execute(const Instruction &instruction)
    {
        Value &result = values_[instruction.result];
        Value *overwritten = overwritable(instruction);
        if (overwritten) {
            result.own = std::move(overwritten->own);
        } else {
            result.own = recycled_.taken(instruction.level, instruction.polynomials, instruction.words);
        }
        result.ciphertext = result.own.get();
        KernelOperands operands = instruction.fixed;
        for (const Index operand : instruction.operands) {
            operands.ciphertexts.push_back(values_[operand].ciphertext);
        }
        instruction.kernel->apply(evaluator_, operands, *result.own);
        for (const Index operand : instruction.operands) {
            release(values_[operand]);
        }
        if (uses_[instruction.result] == 0) {
            recycled_.give(std::move(result.own));
        }
    }

    // The operand that dies with this instruction and has room for the result, where the kernel may overwrite it.
    Value *overwritable(const Instruction &instruction)
    {
        const auto &operands = instruction.operands;
        if (instruction.kernel->copies_in_place) {
            return nullptr;
        }
        if (dies(values_[operands[0]], instruction.words)) {
            return &values_[operands[0]];
        }
        if (instruction.kernel->commutes && dies(values_[operands[1]], instruction.words)) {
            return &values_[operands[1]];
        }
        return nullptr;
    }

    // One use is left: this one. An operand that is taken twice has two.
    static bool dies(const Value &value, std::size_t words)
    {
        return value.own && value.uses_left.load(std::memory_order_acquire) == 1 && capacity(value.own) >= words;
    }

    void release(Value &value)
    {
        if (value.uses_left.fetch_sub(1, std::memory_order_acq_rel) == 1 && value.own) {
            recycled_.give(std::move(value.own));
        }
    }

    // The outputs become results without a copy, unless they are inputs or wanted again. Off the clock.
    void keep_results()
    {
        const auto &outputs = operands_.outputs;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            Value &value = values_[outputs[i]];
            if (value.own && std::count(outputs.begin(), outputs.end(), outputs[i]) == 1) {
                std::swap(results_[i], *value.own);
            } else {
                results_[i] = *value.ciphertext;
            }
        }
    }

    const Evaluator &evaluator_;
    ProgramOperands operands_;
    std::vector<Instruction> instructions_;
    std::vector<Value> values_;
    std::vector<Index> uses_;
    Recycled recycled_;
    std::optional<Schedule> schedule_;
};

} // namespace

CiphertextBound bind_program(
    const Evaluator &evaluator, const std::vector<ProgramNode> &nodes, ProgramOperands operands,
    std::size_t threads)
{
    return std::make_unique<ProgramBound>(evaluator, nodes, std::move(operands), threads);
}

} // namespace ciphermark
