#include "schedule.hpp"

#include <utility>

namespace ciphermark {

using Lock = std::unique_lock<std::mutex>;

Schedule::Schedule(
    const Dependencies &dependencies, std::size_t threads, std::function<void()> begin,
    std::function<void(Index)> execute)
    : dependencies_(dependencies), begin_(std::move(begin)), execute_(std::move(execute))
{
    for (std::size_t i = 1; i < threads; ++i) {
        helpers_.emplace_back([this] { serve(); });
    }
}

Schedule::~Schedule()
{
    {
        const Lock lock(mutex_);
        is_ending_ = true;
    }
    called_.notify_all();
    for (std::thread &helper : helpers_) {
        helper.join();
    }
}

void Schedule::run(std::int64_t loops)
{
    if (loops <= 0 || dependencies_.waits.empty()) {
        begin_();
        return;
    }
    if (helpers_.empty()) {
        run_alone(loops);
        return;
    }
    {
        const Lock lock(mutex_);
        error_ = nullptr;
        loops_left_ = loops;
        helpers_at_work_ = helpers_.size();
        ++calls_;
        start_loop();
    }
    called_.notify_all();
    work();
    Lock lock(mutex_);
    idle_.wait(lock, [this] { return helpers_at_work_ == 0; });
    if (error_) {
        std::rethrow_exception(error_);
    }
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

// What a helper thread does: sleeps until it is called.
void Schedule::serve()
{
    std::uint64_t answered = 0;
    while (true) {
        {
            Lock lock(mutex_);
            called_.wait(lock, [&] { return is_ending_ || calls_ != answered; });
            if (is_ending_) {
                return;
            }
            answered = calls_;
        }
        work();
        {
            const Lock lock(mutex_);
            --helpers_at_work_;
        }
        idle_.notify_one();
    }
}

// Takes nodes until the last loop is done. The mutex is held by the caller of start_loop.
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

void Schedule::start_loop()
{
    queue_ = {};
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
            woken = helpers_.size() + 1;
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
