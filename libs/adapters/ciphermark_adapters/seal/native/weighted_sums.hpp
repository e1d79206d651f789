// Sums of ciphertexts' residues modulo a prime, each weighted by a number.
#pragma once

#include "seal/seal.h"
#include <cstddef>
#include <cstdint>

namespace ciphermark {

// Row r has the sum of a[i]·weights[r][i] over all i, place by place: `count` residues of one prime each. What all rows
// have in common is read from memory once.
struct WeightedTerms {
    const std::uint64_t *const *a;
    std::size_t terms;
    const std::uint64_t *const *weights; // residues of the prime
    std::size_t rows;
    std::size_t count;
};

// Writes row r to out[r]; of one row it may be one of the a[i]. Takes up to 2^16 terms. With AVX-512 and counts that 8
// divides, products are of 32 bits for primes of at most 29, and of 52 bits (IFMA) for those of at most 50; else of 64. All
// yield the same residues.
void weighted_sums(const WeightedTerms &terms, const seal::Modulus &modulus, std::uint64_t *const *out);

} // namespace ciphermark
