#include "lazy_sums.hpp"

#include "eights.hpp"
#include "seal/util/uintarithsmallmod.h"
#include <algorithm>

namespace ciphermark {

namespace {

constexpr std::size_t block = 512; // places whose accumulators stay in the first cache: 16 KiB for two sums
constexpr std::size_t group = 4;   // terms that are added while an accumulator is in registers

struct Span {
    std::size_t first; // place
    std::size_t count; // at most `block`
};

// In blocks of places: accumulators are cleared, take `most` terms at a time, are folded to one residue, which is less than
// another term, and written in the end.
template <class Accumulators>
void sum(const Terms &terms, std::size_t most, Accumulators &accumulators, std::uint64_t *const *out)
{
    for (std::size_t first = 0; first < terms.count; first += block) {
        const Span span{ first, std::min(block, terms.count - first) };
        accumulators.clear();
        for (std::size_t start = 0; start < terms.terms; start += most) {
            const std::size_t end = std::min(start + most, terms.terms);
            std::size_t term = start;
            for (; term + group <= end; term += group) {
                accumulators.template add<group>(terms, term, span);
            }
            for (; term < end; ++term) {
                accumulators.template add<1>(terms, term, span);
            }
            accumulators.fold(terms.sums, span.count);
        }
        for (std::size_t p = 0; p < terms.sums; ++p) {
            accumulators.write(p, span.count, out[p] + first);
        }
    }
}

__extension__ typedef unsigned __int128 Wide;

class WideAccumulators {
public:
    explicit WideAccumulators(const seal::Modulus &modulus) : modulus_(modulus) {}

    void clear() { std::fill(&sums_[0][0], &sums_[0][0] + 2 * block, Wide(0)); }

    template <std::size_t Count>
    void add(const Terms &terms, std::size_t term, const Span &span)
    {
        for (std::size_t p = 0; p < terms.sums; ++p) {
            for (std::size_t i = 0; i < span.count; ++i) {
                Wide total = sums_[p][i];
                for (std::size_t t = 0; t < Count; ++t) {
                    const std::size_t place = span.first + i;
                    total += static_cast<Wide>(terms.a[p][term + t][place]) * terms.b[term + t][place];
                }
                sums_[p][i] = total;
            }
        }
    }

    void fold(std::size_t sums, std::size_t count)
    {
        for (std::size_t p = 0; p < sums; ++p) {
            for (std::size_t i = 0; i < count; ++i) {
                const unsigned long long words[2] = { static_cast<std::uint64_t>(sums_[p][i]),
                                                      static_cast<std::uint64_t>(sums_[p][i] >> 64) };
                sums_[p][i] = seal::util::barrett_reduce_128(words, modulus_);
            }
        }
    }

    void write(std::size_t p, std::size_t count, std::uint64_t *out) const
    {
        std::transform(sums_[p], sums_[p] + count, out, [](Wide residue) { return static_cast<std::uint64_t>(residue); });
    }

private:
    const seal::Modulus &modulus_;
    Wide sums_[2][block];
};

// Of primes of b bits, 2^(128 - 2b) products are below 2^128; one place is the residue's that was folded.
void wide_sum(const Terms &terms, const seal::Modulus &modulus, std::uint64_t *const *out)
{
    const int spare = std::min(128 - 2 * modulus.bit_count(), 20);
    WideAccumulators accumulators(modulus);
    sum(terms, (std::size_t(1) << spare) - 1, accumulators, out);
}

#ifdef CIPHERMARK_HAS_IFMA

// Low and high 52 bits of products are added up apart. 2^12 - 1 low halves and a residue are below 2^64; of primes of 50
// bits, as many high halves are below 2^60.
class SplitAccumulators {
public:
    static constexpr std::size_t most = (std::size_t(1) << 12) - 1;

    explicit SplitAccumulators(std::uint64_t q) : reduced_(q, 52) {}

    void clear() { std::fill(&sums_[0][0][0], &sums_[0][0][0] + 4 * block, 0); }

    template <std::size_t Count>
    CIPHERMARK_IFMA void add(const Terms &terms, std::size_t term, const Span &span)
    {
        if (terms.sums == 2) {
            add_to<Count, 2>(terms, term, span);
        } else {
            add_to<Count, 1>(terms, term, span);
        }
    }

    CIPHERMARK_IFMA void fold(std::size_t sums, std::size_t count)
    {
        const Eight mask = _mm512_set1_epi64((1LL << 52) - 1);
        for (std::size_t p = 0; p < sums; ++p) {
            for (std::size_t i = 0; i < count; i += 8) {
                const Eight low = _mm512_load_si512(&sums_[p][0][i]);
                const Eight high = _mm512_add_epi64(_mm512_load_si512(&sums_[p][1][i]), _mm512_srli_epi64(low, 52));
                _mm512_store_si512(&sums_[p][0][i], reduced_(_mm512_and_si512(low, mask), high));
                _mm512_store_si512(&sums_[p][1][i], _mm512_setzero_si512());
            }
        }
    }

    void write(std::size_t p, std::size_t count, std::uint64_t *out) const
    {
        std::copy(sums_[p][0], sums_[p][0] + count, out);
    }

private:
    template <std::size_t Count, std::size_t Sums>
    CIPHERMARK_IFMA void add_to(const Terms &terms, std::size_t term, const Span &span)
    {
        for (std::size_t i = 0; i < span.count; i += 8) {
            Eight sums[Sums][2];
            for (std::size_t p = 0; p < Sums; ++p) {
                sums[p][0] = _mm512_load_si512(&sums_[p][0][i]);
                sums[p][1] = _mm512_load_si512(&sums_[p][1][i]);
            }
            for (std::size_t t = 0; t < Count; ++t) {
                const Eight b = _mm512_loadu_si512(terms.b[term + t] + span.first + i);
                for (std::size_t p = 0; p < Sums; ++p) {
                    const Eight a = _mm512_loadu_si512(terms.a[p][term + t] + span.first + i);
                    sums[p][0] = _mm512_madd52lo_epu64(sums[p][0], a, b);
                    sums[p][1] = _mm512_madd52hi_epu64(sums[p][1], a, b);
                }
            }
            for (std::size_t p = 0; p < Sums; ++p) {
                _mm512_store_si512(&sums_[p][0][i], sums[p][0]);
                _mm512_store_si512(&sums_[p][1][i], sums[p][1]);
            }
        }
    }

    const EightReduction reduced_;
    alignas(64) std::uint64_t sums_[2][2][block]; // of each sum, low and high halves
};

CIPHERMARK_IFMA void split_sum(const Terms &terms, const seal::Modulus &modulus, std::uint64_t *const *out)
{
    SplitAccumulators accumulators(modulus.value());
    sum(terms, SplitAccumulators::most, accumulators, out);
}

#endif

} // namespace

LazySum lazy_sum(const seal::Modulus &modulus, std::size_t count)
{
#ifdef CIPHERMARK_HAS_IFMA
    if (cpu_has_ifma() && count % 8 == 0 && modulus.bit_count() <= EightReduction::most_bits) {
        return split_sum;
    }
#endif
    return wide_sum;
}

} // namespace ciphermark
