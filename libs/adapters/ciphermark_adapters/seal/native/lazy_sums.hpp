// Sums of products modulo a prime that are reduced once for many terms.
#pragma once

#include "seal/seal.h"
#include <cstddef>
#include <cstdint>

namespace ciphermark {

// Where the terms of one or two sums lie: `count` residues of one prime each. Term i of sum p is a[p][i]·b[i], place by
// place: what two sums have in common is read once.
struct Terms {
    const std::uint64_t *const *a[2];
    std::size_t sums;
    const std::uint64_t *const *b;
    std::size_t terms;
    std::size_t count;
};

// Writes sum p to out[p], which may be one of the a[p][i]. Takes any number of terms.
using LazySum = void (*)(const Terms &, const seal::Modulus &, std::uint64_t *const *out);

// The fastest that this CPU has for a prime and a count: with AVX-512 IFMA, products of 52 bits and 52, for primes of at most
// 50 bits and counts that 8 divides; else products of 64 bits. Both yield the same residues.
LazySum lazy_sum(const seal::Modulus &modulus, std::size_t count);

} // namespace ciphermark
