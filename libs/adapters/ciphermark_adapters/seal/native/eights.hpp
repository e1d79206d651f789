// Residues of eight places at once, on CPUs that have AVX-512 IFMA.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define CIPHERMARK_HAS_IFMA 1

#include <cstdint>
#include <immintrin.h>

#define CIPHERMARK_IFMA __attribute__((target("avx512f,avx512ifma")))

namespace ciphermark {

using Eight = __m512i;

inline bool cpu_has_ifma()
{
    static const bool has_ifma = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma");
    return has_ifma;
}

// Reduces low + high·2^shift modulo a prime of at most 50 bits, for any high and any low < 2^52.
class EightReduction {
public:
    static constexpr int most_bits = 50;

    EightReduction(std::uint64_t q, int shift)
        : q_(q), one_(1, q), middle_(power(shift), q), high_(power(shift + 52), q)
    {}

    // In three parts below 2^52: each times its power of 2 is below 2q.
    CIPHERMARK_IFMA Eight operator()(Eight low, Eight high) const
    {
        const Eight mask = _mm512_set1_epi64((1LL << 52) - 1);
        const Eight parts = _mm512_add_epi64(times(low, one_), times(_mm512_and_si512(high, mask), middle_));
        const Eight whole = _mm512_add_epi64(parts, times(_mm512_srli_epi64(high, 52), high_));
        return less(less(less(whole, 4 * q_), 2 * q_), q_);
    }

private:
    __extension__ typedef unsigned __int128 Wide;

    static Wide power(int exponent) { return static_cast<Wide>(1) << exponent; }

    // A factor c < q, and ⌊c·2^52/q⌋: by both the product with any x < 2^52 is known modulo q, up to one q too many
    // (Shoup).
    struct Factor {
        Factor(Wide c, std::uint64_t q) : value(static_cast<std::uint64_t>(c % q)), quotient(
            static_cast<std::uint64_t>((static_cast<Wide>(value) << 52) / q)) {}

        std::uint64_t value;
        std::uint64_t quotient;
    };

    CIPHERMARK_IFMA Eight times(Eight x, const Factor &factor) const
    {
        const Eight zero = _mm512_setzero_si512(), mask = _mm512_set1_epi64((1LL << 52) - 1);
        const Eight quotient = _mm512_madd52hi_epu64(zero, x, _mm512_set1_epi64(static_cast<long long>(factor.quotient)));
        const Eight product = _mm512_madd52lo_epu64(zero, x, _mm512_set1_epi64(static_cast<long long>(factor.value)));
        const Eight multiple = _mm512_madd52lo_epu64(zero, quotient, _mm512_set1_epi64(static_cast<long long>(q_)));
        return _mm512_and_si512(_mm512_sub_epi64(product, multiple), mask);
    }

    // x, or x - amount where that is not negative.
    CIPHERMARK_IFMA static Eight less(Eight x, std::uint64_t amount)
    {
        return _mm512_min_epu64(x, _mm512_sub_epi64(x, _mm512_set1_epi64(static_cast<long long>(amount))));
    }

    const std::uint64_t q_;
    const Factor one_, middle_, high_;
};

} // namespace ciphermark

#endif
