// A fixed piece of work of the same kind as what is measured: number-theoretic transforms of one array, small enough for
// the first two caches, and a chain of multiplications each of which waits for the one before. What slows the core, such
// as a sibling thread, a neighbour of the virtual machine or a lower frequency, slows this. A sibling thread slows the
// transforms more than it slows operations of libraries, which wait for memory at times; it hardly slows the chain. Seven
// parts of time to three are slowed as SEAL's operations are: docs/decisions/0043.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include <sys/mman.h>

namespace {

constexpr std::size_t size = 4096;
constexpr std::size_t links = 16384;
constexpr std::uint64_t modulus = 1152921504606830593; // below 2^60, so that sums of four stay below 2^62

struct Work {
    alignas(4096) std::uint64_t values[size];
    std::uint64_t factors[size];
    std::uint64_t quotients[size]; // of factors: floor(factor * 2^64 / modulus)
    std::uint64_t chain;
};

using Wide = unsigned __int128;

std::uint64_t high(std::uint64_t a, std::uint64_t b)
{
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

std::uint64_t below_twice(std::uint64_t value)
{
    return value - (value >= 2 * modulus ? 2 * modulus : 0);
}

Work made()
{
    Work work{};
    std::uint64_t random = 88172645463325252;
    const auto next = [&random] {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return random % modulus;
    };
    for (std::size_t i = 0; i < size; ++i) {
        work.values[i] = next();
        work.factors[i] = next();
        work.quotients[i] = static_cast<std::uint64_t>((static_cast<Wide>(work.factors[i]) << 64) / modulus);
    }
    work.chain = next();
    return work;
}

// Butterflies as Harvey has them: values stay below 4 * modulus. All of a stage are independent of each other.
void transform(Work &work)
{
    for (std::size_t groups = 1, gap = size / 2; gap > 0; groups *= 2, gap /= 2) {
        for (std::size_t group = 0; group < groups; ++group) {
            const std::uint64_t factor = work.factors[groups + group], quotient = work.quotients[groups + group];
            std::uint64_t *x = work.values + 2 * group * gap, *y = x + gap;
            for (std::size_t i = 0; i < gap; ++i) {
                const std::uint64_t own = below_twice(x[i]);
                const std::uint64_t other = factor * y[i] - high(quotient, y[i]) * modulus;
                x[i] = own + other;
                y[i] = own + 2 * modulus - other;
            }
        }
    }
}

// Bound by the latency of a multiplication and an addition, whatever else the core does.
std::uint64_t chained(std::uint64_t value)
{
    for (std::size_t i = 0; i < links; ++i) {
        value = value * 6364136223846793005 + 1442695040888963407;
    }
    return value;
}

// More than a second cache holds, and a small part of a shared last one: what others load into that displaces it.
constexpr std::size_t memory_bytes = std::size_t{4} << 20;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t words_of_line = 64 / sizeof(std::uint64_t);

const std::uint64_t *pages()
{
    auto *memory = static_cast<std::uint64_t *>(::operator new(memory_bytes, std::align_val_t{page_bytes}));
    madvise(memory, memory_bytes, MADV_NOHUGEPAGE); // the same pages in every process, whatever memory is left
    std::memset(memory, 1, memory_bytes);
    return memory;
}

} // namespace

// The time in nanoseconds of reading a buffer once, line by line. The first reading of a process makes the buffer.
extern "C" std::int64_t ciphermark_memory()
{
    static const volatile std::uint64_t *memory = pages();
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < memory_bytes / sizeof(std::uint64_t); i += words_of_line) {
        static_cast<void>(memory[i]);
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

// The least time in nanoseconds of one transform and chain among `repeats` in a row: a single interrupt shows in none of them.
extern "C" std::int64_t ciphermark_reference_kernel(std::int64_t repeats)
{
    static Work work = made();
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        transform(work);
        work.chain = chained(work.chain);
        const auto elapsed = std::chrono::steady_clock::now() - start;
        const std::int64_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
        least = nanoseconds < least ? nanoseconds : least;
    }
    return least;
}
