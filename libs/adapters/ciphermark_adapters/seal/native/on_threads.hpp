// Independent pieces of work on several threads, which end with it: a process may be forked between.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ciphermark {

// Calls `function` with each number below `count`, once, on at most `threads` threads. Rethrows what one call throws; others
// may not have been made then.
template <class Function>
void on_threads(std::size_t count, std::size_t threads, Function function)
{
    std::atomic<std::size_t> next{ 0 };
    std::exception_ptr error;
    std::mutex mutex;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) {
                function(i);
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            error = std::current_exception();
            next = count;
        }
    };
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) {
        helpers.emplace_back(work);
    }
    work();
    for (std::thread &helper : helpers) {
        helper.join();
    }
    if (error) {
        std::rethrow_exception(error);
    }
}

} // namespace ciphermark
