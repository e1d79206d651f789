#include "schedule.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace ciphermark {

using Lock = std::unique_lock<std::mutex>;

namespace {

template <class Function>
std::int64_t elapsed_ns(Function function)
{
    const auto start = std::chrono::steady_clock::now();
    function();
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

} // namespace

Schedule::Schedule(
    const Dependencies &dependencies, std::size_t threads, std::function<void()> begin,
    std::function<void(Index)> execute)
    : dependencies_(dependencies), threads_(threads), begin_(std::move(begin)), execute_(std::move(execute))
{}

std::int64_t Schedule::run(std::int64_t loops)
{
    if (loops <= 0 || dependencies_.waits.empty()) {
        return elapsed_ns(begin_);
    }
    return threads_ > 1 ? run_together(loops) : elapsed_ns([&] { run_alone(loops); });
}

void Schedule::run_alone(std::int64_t loops)
{
    const Index count = static_cast<Index>(dependencies_.waits.size());
    for (std::int64_t loop = 0; loop < loops; ++loop) {
        begin_();
        for (Index node = 0; node < count; ++node) {
            execute_(node);
        }
    }
}

std::int64_t Schedule::run_together(std::int64_t loops)
{
    queue_ = {};
    error_ = nullptr;
    loops_left_ = loops; // nothing can start yet: helpers wait
    std::vector<std::thread> helpers;
    std::int64_t elapsed = 0;
    try {
        while (helpers.size() + 1 < threads_) {
            helpers.emplace_back([this] { work(); });
        }
        elapsed = elapsed_ns([this] {
            {
                const Lock lock(mutex_);
                start_loop();
            }
            ready_.notify_all();
            work();
        });
    } catch (...) {
        fail(std::current_exception());
    }
    for (std::thread &helper : helpers) {
        helper.join();
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
    return elapsed;
}

// What each thread does: takes nodes until the last loop is done.
void Schedule::work()
{
    Lock lock(mutex_);
    while (true) {
        ready_.wait(lock, [this] { return !queue_.empty() || loops_left_ == 0; });
        if (loops_left_ == 0) {
            return;
        }
        const Index node = queue_.top();
        queue_.pop();
        lock.unlock();
        execute_one(node);
        lock.lock();
    }
}

// The mutex is held by the caller.
void Schedule::start_loop()
{
    waits_ = dependencies_.waits;
    nodes_left_ = waits_.size();
    begin_();
    for (Index node = 0; node < waits_.size(); ++node) {
        if (waits_[node] == 0) {
            queue_.push(node);
        }
    }
}

void Schedule::execute_one(Index node)
{
    try {
        execute_(node);
    } catch (...) {
        fail(std::current_exception());
        return;
    }
    std::size_t woken = 0;
    {
        const Lock lock(mutex_);
        if (loops_left_ == 0) {
            return; // another node has failed
        }
        for (const Index follower : dependencies_.followers[node]) {
            if (--waits_[follower] == 0) {
                queue_.push(follower);
                ++woken;
            }
        }
        if (--nodes_left_ == 0) {
            if (--loops_left_ > 0) {
                start_loop();
            }
            woken = threads_;
        }
    }
    // This thread takes one of the nodes itself.
    if (woken > 1) {
        ready_.notify_all();
    }
}

void Schedule::fail(std::exception_ptr error)
{
    {
        const Lock lock(mutex_);
        if (!error_) {
            error_ = std::move(error);
        }
        loops_left_ = 0;
    }
    ready_.notify_all();
}

} // namespace ciphermark
