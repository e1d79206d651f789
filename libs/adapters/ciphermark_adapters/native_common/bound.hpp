// An operation with its operands: the one thing that is timed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ciphermark {

// What Python sees of a bound operation: how its results look, not what it executes.
template <class Result>
class Bound {
public:
    virtual ~Bound() = default;

    // Executes `loops` times over all rows; returns the elapsed nanoseconds of the whole loop.
    virtual std::int64_t run(std::int64_t loops) = 0;

    // Copies of the last execution's results, one per row; none before the first.
    std::vector<Result> results() const { return executed_ ? results_ : std::vector<Result>(); }

    // The same results, moved out: for an operation that is executed once.
    std::vector<Result> take() { return std::move(results_); }

protected:
    explicit Bound(std::vector<Result> destinations) : results_(std::move(destinations)) {}

    std::vector<Result> results_;
    bool executed_ = false;
};

// The kernel is a template argument, so that the compiler inlines it: an iteration costs no dispatch.
template <class Row, class Result, class Kernel>
class KernelBound final : public Bound<Result> {
public:
    KernelBound(std::vector<Row> rows, std::vector<Result> destinations, Kernel kernel)
        : Bound<Result>(std::move(destinations)), rows_(std::move(rows)), kernel_(std::move(kernel))
    {}

    std::int64_t run(std::int64_t loops) override
    {
        this->executed_ = false;
        const std::size_t count = rows_.size();
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t loop = 0; loop < loops; ++loop) {
            for (std::size_t i = 0; i < count; ++i) {
                kernel_(rows_[i], this->results_[i]);
            }
        }
        const auto elapsed = std::chrono::steady_clock::now() - start;
        this->executed_ = loops > 0;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
    }

private:
    std::vector<Row> rows_;
    Kernel kernel_;
};

template <class Result>
using BoundPointer = std::unique_ptr<Bound<Result>>;

// `destinations` holds one result per row, with the memory that the kernel will write.
template <class Row, class Result, class Kernel>
BoundPointer<Result> bind(std::vector<Row> rows, std::vector<Result> destinations, Kernel kernel)
{
    using Made = KernelBound<Row, Result, Kernel>;
    return std::make_unique<Made>(std::move(rows), std::move(destinations), std::move(kernel));
}

// A loop like the others over a kernel that does nothing. The barrier makes the compiler keep it.
inline BoundPointer<std::tuple<>> bind_empty()
{
    return bind(std::vector<std::tuple<>>(1), std::vector<std::tuple<>>(1), [](const auto &, auto &result) {
        asm volatile("" : : "g"(&result) : "memory");
    });
}

} // namespace ciphermark
