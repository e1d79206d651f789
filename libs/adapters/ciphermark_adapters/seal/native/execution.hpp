// One binding of a program: its inputs, and the values of the execution that is under way.
#pragma once

#include "program.hpp"
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ciphermark {

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

} // namespace ciphermark
