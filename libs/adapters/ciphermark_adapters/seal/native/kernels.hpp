// The operations of the contract on SEAL's ciphertexts, by name: the only place that says what they are.
#pragma once

#include "evaluator.hpp"
#include "seal/seal.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ciphermark {

// What one execution of an operation takes.
struct KernelOperands {
    std::vector<const seal::Ciphertext *> ciphertexts;
    std::vector<const seal::Plaintext *> plaintexts;
    std::vector<std::int64_t> numbers;
    std::vector<seal::Ciphertext *> further; // results after the first, where there are several
};

// How many of each kind an operation takes, in this order; or, with `several`, this many times any number from 1, and the
// numbers for each result.
struct Takes {
    std::size_t ciphertexts;
    std::size_t plaintexts = 0;
    std::size_t numbers = 0;
    bool several = false;

    bool fits(const KernelOperands &operands) const;
};

enum Trait : unsigned {
    grows = 1,           // the result has the polynomials of the first operand's square, not of the operand
    commutes = 2,        // `out` may as well be the second operand, with the same bytes as result:
    commutes_in_bgv = 4, // there sums balance correction factors, and not the same way in both orders
    copies_in_place = 8, // the operand cannot be overwritten, or only at the cost of a copy
    in_one_pass = 16,    // of the same ciphertexts several results are made at once
};

struct Kernel {
    // `out` may be the first operand itself, which is then overwritten.
    using Function = void (*)(const Evaluator &, const KernelOperands &, seal::Ciphertext &out);

    Function apply;
    Takes takes;
    unsigned traits = 0;

    bool has(Trait trait) const { return (traits & trait) != 0; }
};

// Throws Unsupported for an unknown name.
const Kernel &kernel_named(const std::string &operation);

} // namespace ciphermark
