// The operations of the contract on SEAL's ciphertexts, by name.
#pragma once

#include "evaluator.hpp"
#include "seal/seal.h"
#include <string>
#include <vector>

namespace ciphermark {

// What one execution of an operation takes.
struct KernelOperands {
    std::vector<const seal::Ciphertext *> ciphertexts;
    std::vector<const seal::Plaintext *> plaintexts;
    std::vector<double> numbers;
};

struct Kernel {
    // `out` may be the first operand itself, which is then overwritten.
    using Function = void (*)(const Evaluator &, const KernelOperands &, seal::Ciphertext &out);

    Function apply;
    bool commutes = false;        // `out` may as well be the second operand, with the same bytes as result:
    bool commutes_in_bgv = false; // there sums balance correction factors, and not the same way in both orders
    bool copies_in_place = false; // the operand cannot be overwritten, or only at the cost of a copy
};

// Throws Unsupported for an unknown name.
const Kernel &kernel_named(const std::string &operation);

} // namespace ciphermark
