#include "weighted_sums.hpp"

#include "eights.hpp"
#include "seal/util/uintarithsmallmod.h"
#include <algorithm>
#include <vector>

namespace ciphermark {

namespace {

// So many places of so many terms are 512 KiB: they stay in a second cache while rows take them, one after the other.
constexpr std::size_t places = 256;
constexpr std::size_t most_terms = 256;
constexpr std::size_t tile = 5; // rows whose sums are in registers at once

__extension__ typedef unsigned __int128 Wide;

// Of one place of one row: low + high·2^shift.
struct alignas(64) Row {
    std::uint64_t low[places];
    std::uint64_t high[places];
};

struct Span {
    std::size_t first; // place
    std::size_t count; // at most `places`
    std::size_t start; // term
    std::size_t end;
};

// Products of 64 bits and 64 that any CPU has, for primes of up to 61 bits: of 2^16 terms the sum is below 2^128 where
// it is reduced after every 2^6.
struct AnyPrime {
    static std::size_t terms(const seal::Modulus &) { return 63; }

    template <std::size_t Rows>
    static void add(const WeightedTerms &of, const Span &span, const seal::Modulus &modulus, std::size_t row, Row *sums)
    {
        for (std::size_t r = 0; r < Rows; ++r) {
            for (std::size_t i = 0; i < span.count; ++i) {
                Wide total = sums[r].low[i];
                for (std::size_t t = span.start; t < span.end; ++t) {
                    total += static_cast<Wide>(of.a[t][span.first + i]) * of.weights[row + r][t];
                }
                const unsigned long long words[2] = { static_cast<std::uint64_t>(total),
                                                      static_cast<std::uint64_t>(total >> 64) };
                sums[r].low[i] = seal::util::barrett_reduce_128(words, modulus);
            }
        }
    }

    static void write(const Row &sums, const seal::Modulus &, std::size_t count, std::uint64_t *out)
    {
        std::copy(sums.low, sums.low + count, out);
    }
};

#ifdef CIPHERMARK_HAS_IFMA

// Products of 32 bits and 32: of primes of b bits, 2^(64 - 2b) are below 2^64, one of them for what is left of those before.
struct Narrow {
    static constexpr int most_bits = 29;
    static constexpr int shift = 32;

    static std::size_t terms(const seal::Modulus &modulus)
    {
        return std::min(most_terms, (std::size_t(1) << (64 - 2 * modulus.bit_count())) - 1);
    }

    CIPHERMARK_IFMA static void multiply(Eight &low, Eight &, Eight a, Eight b)
    {
        low = _mm512_add_epi64(low, _mm512_mul_epu32(a, b));
    }
};

// Low and high 52 bits of products, added up apart.
struct Split {
    static constexpr int shift = 52;

    static std::size_t terms(const seal::Modulus &) { return most_terms; }

    CIPHERMARK_IFMA static void multiply(Eight &low, Eight &high, Eight a, Eight b)
    {
        low = _mm512_madd52lo_epu64(low, a, b);
        high = _mm512_madd52hi_epu64(high, a, b);
    }
};

// Carries go to the high part after every span, which so is below 2^64: of 2^16 terms of primes of 50 bits below 2^65/2.
template <class Products>
struct Eights : Products {
    template <std::size_t Rows>
    CIPHERMARK_IFMA static void add(
        const WeightedTerms &of, const Span &span, const seal::Modulus &, std::size_t row, Row *sums)
    {
        std::size_t i = 0;
        for (; i + 16 <= span.count; i += 16) {
            add_at<Rows, 2>(of, span, i, row, sums);
        }
        for (; i < span.count; i += 8) {
            add_at<Rows, 1>(of, span, i, row, sums);
        }
    }

    CIPHERMARK_IFMA static void write(const Row &sums, const seal::Modulus &modulus, std::size_t count, std::uint64_t *out)
    {
        const EightReduction reduced(modulus.value(), Products::shift);
        for (std::size_t i = 0; i < count; i += 8) {
            _mm512_storeu_si512(
                out + i, reduced(_mm512_load_si512(&sums.low[i]), _mm512_load_si512(&sums.high[i])));
        }
    }

private:
    // At `Eighths` times eight places from place i of the span on.
    template <std::size_t Rows, std::size_t Eighths>
    CIPHERMARK_IFMA static void add_at(
        const WeightedTerms &of, const Span &span, std::size_t i, std::size_t row, Row *sums)
    {
        Eight low[Rows][Eighths], high[Rows][Eighths];
        for (std::size_t r = 0; r < Rows; ++r) {
            for (std::size_t e = 0; e < Eighths; ++e) {
                low[r][e] = _mm512_load_si512(&sums[r].low[i + 8 * e]);
                high[r][e] = _mm512_load_si512(&sums[r].high[i + 8 * e]);
            }
        }
        const std::uint64_t *const *const weights = of.weights + row;
        for (std::size_t t = span.start; t < span.end; ++t) {
            const std::uint64_t *const from = of.a[t] + span.first + i;
            Eight a[Eighths];
            for (std::size_t e = 0; e < Eighths; ++e) {
                a[e] = _mm512_loadu_si512(from + 8 * e);
            }
            for (std::size_t r = 0; r < Rows; ++r) {
                const Eight b = _mm512_set1_epi64(static_cast<long long>(weights[r][t]));
                for (std::size_t e = 0; e < Eighths; ++e) {
                    Products::multiply(low[r][e], high[r][e], a[e], b);
                }
            }
        }
        const Eight mask = _mm512_set1_epi64((1LL << Products::shift) - 1);
        for (std::size_t r = 0; r < Rows; ++r) {
            for (std::size_t e = 0; e < Eighths; ++e) {
                const Eight carry = _mm512_srli_epi64(low[r][e], Products::shift);
                _mm512_store_si512(&sums[r].low[i + 8 * e], _mm512_and_si512(low[r][e], mask));
                _mm512_store_si512(&sums[r].high[i + 8 * e], _mm512_add_epi64(high[r][e], carry));
            }
        }
    }
};

#endif

template <class Products>
void sum(const WeightedTerms &of, const seal::Modulus &modulus, std::uint64_t *const *out)
{
    std::vector<Row> sums(of.rows);
    const std::size_t step = Products::terms(modulus);
    for (std::size_t first = 0; first < of.count; first += places) {
        const std::size_t count = std::min(places, of.count - first);
        std::fill(sums.begin(), sums.end(), Row{});
        for (std::size_t start = 0; start < of.terms; start += step) {
            const Span span{ first, count, start, std::min(start + step, of.terms) };
            std::size_t row = 0;
            for (; row + tile <= of.rows; row += tile) {
                Products::template add<tile>(of, span, modulus, row, &sums[row]);
            }
            for (; row < of.rows; ++row) {
                Products::template add<1>(of, span, modulus, row, &sums[row]);
            }
        }
        for (std::size_t row = 0; row < of.rows; ++row) {
            Products::write(sums[row], modulus, count, out[row] + first);
        }
    }
}

} // namespace

void weighted_sums(const WeightedTerms &terms, const seal::Modulus &modulus, std::uint64_t *const *out)
{
#ifdef CIPHERMARK_HAS_IFMA
    if (cpu_has_ifma() && terms.count % 8 == 0 && modulus.bit_count() <= Narrow::most_bits) {
        return sum<Eights<Narrow>>(terms, modulus, out);
    }
    if (cpu_has_ifma() && terms.count % 8 == 0 && modulus.bit_count() <= EightReduction::most_bits) {
        return sum<Eights<Split>>(terms, modulus, out);
    }
#endif
    sum<AnyPrime>(terms, modulus, out);
}

} // namespace ciphermark
