// Executes the nodes of a graph in an order of their dependencies, on one thread or on several.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace ciphermark {

using Index = std::uint32_t;

// Which nodes wait for which: `followers` of a node can start when all that they wait for are done.
struct Dependencies {
    std::vector<std::vector<Index>> followers;
    std::vector<Index> waits; // per node, how many others it waits for
};

// Of the nodes that can start, the first in the program's order does: so memory stays near to what one thread needs. There
// are no threads but while it runs: a process may be forked between.
class Schedule {
public:
    // `dependencies` must outlive it. `execute` gets the number of a node, `begin` is called before the first node of
    // every loop. One thread executes nodes in their order, which must be an order of execution.
    Schedule(
        const Dependencies &dependencies, std::size_t threads, std::function<void()> begin,
        std::function<void(Index)> execute);
    Schedule(const Schedule &) = delete;
    Schedule &operator=(const Schedule &) = delete;

    // Executes the whole graph `loops` times, one after the other, and returns the elapsed nanoseconds, without those
    // of starting and ending threads. Rethrows what a node throws, after all threads have ended.
    std::int64_t run(std::int64_t loops);

private:
    void run_alone(std::int64_t loops);
    std::int64_t run_together(std::int64_t loops);
    void work();
    void start_loop();
    void execute_one(Index node);
    void fail(std::exception_ptr error);

    const Dependencies &dependencies_;
    const std::size_t threads_;
    const std::function<void()> begin_;
    const std::function<void(Index)> execute_;

    std::mutex mutex_;
    std::condition_variable ready_; // a node can start, or there is nothing left
    std::priority_queue<Index, std::vector<Index>, std::greater<Index>> queue_;
    std::vector<Index> waits_;
    std::size_t nodes_left_ = 0;
    std::int64_t loops_left_ = 0;
    std::exception_ptr error_;
};

} // namespace ciphermark
