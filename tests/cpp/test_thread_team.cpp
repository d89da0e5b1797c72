// Tests the CPU thread teams: work sharing, exceptions, failure to create threads, concurrent callers and forked
// children.
#include "../../src/cpp/backend/cpu/thread_team.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../src/cpp/backend/cpu/threads.h"
#include "../../src/cpp/process/fork.h"
#include "check.h"

using namespace lbm;

namespace {

/// The status that a child ends with that runs the body; 99 after an exception.
template <class Body>
int status_of_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 99;
        try {
            status = body();
        } catch (...) {
        }
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Index sum_by(int threads) {
    std::atomic<Index> sum{0};
    cpu::parallel_shares(threads, 1000, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k) {
            sum += k;
        }
    });
    return sum;
}

}  // namespace

TEST(thread_team_shares_are_contiguous_and_complete) {
    for (const int threads : {1, 2, 3, 7}) {
        std::vector<Index> starts(10, -1);
        cpu::parallel_shares(threads, 10, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                starts[std::size_t(k)] = first;
            }
        });
        for (Index k = 0; k < 10; ++k) {
            const Index start = starts[std::size_t(k)];
            CHECK(start >= 0 && start <= k);
            CHECK_EQUAL(starts[std::size_t(start)], start);
        }
    }
}

TEST(thread_team_members_run_at_the_same_time_on_threads_of_their_own) {
    std::atomic<int> arrived{0};
    std::mutex mutex;
    std::set<std::thread::id> ids;
    cpu::parallel_shares(3, 3, [&](Index, Index) {
        {
            const std::lock_guard<std::mutex> lock(mutex);
            ids.insert(std::this_thread::get_id());
        }
        ++arrived;
        while (arrived < 3) {  // for ever, if one waited for another
            std::this_thread::yield();
        }
    });
    CHECK_EQUAL(ids.size(), std::size_t(3));
    CHECK(ids.count(std::this_thread::get_id()) == 1);
}

TEST(thread_team_throws_what_a_member_throws_and_goes_on) {
    for (const Index guilty : {0, 1, 3}) {
        CHECK_THROWS(std::out_of_range, "share", cpu::parallel_shares(4, 4, [&](Index first, Index) {
                         if (first == guilty) {
                             throw std::out_of_range("share");
                         }
                     }));
        CHECK_EQUAL(sum_by(4), Index(499500));
    }
}

TEST(thread_team_callers_at_the_same_time_do_not_disturb_each_other) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    callers.reserve(4);
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            for (int k = 0; k < 200; ++k) {
                wrong += sum_by(1 + (caller + k) % 4) == 499500 ? 0 : 1;
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK_EQUAL(wrong.load(), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take terabytes of addresses
TEST(thread_team_too_many_threads_are_an_error_that_names_them) {
    const int status = status_of_child([] {
        struct rlimit limit {};
        limit.rlim_cur = limit.rlim_max = rlim_t(1) << 30;  // of addresses: stacks of 8 MiB for 100 threads or so
        setrlimit(RLIMIT_AS, &limit);
        try {
            sum_by(1000);
        } catch (const std::runtime_error& error) {
            const bool named = std::string(error.what()).find("threads: 1000 given") == 0;
            return named && sum_by(2) == 499500 ? 0 : 1;
        }
        return 2;
    });
    CHECK_EQUAL(status, 0);
}
#endif

TEST(thread_team_works_in_a_forked_child) {
    CHECK_EQUAL(sum_by(3), Index(499500));
    CHECK_EQUAL(status_of_child([] { return sum_by(3) == 499500 && sum_by(2) == 499500 ? 0 : 1; }), 0);
    CHECK_EQUAL(sum_by(3), Index(499500));
}

TEST(thread_team_fork_mutex_that_was_free_is_the_childs) {
    process::Mutex mutex;
    const int status = status_of_child([&] {
        const bool before = mutex.is_of_this_process();
        const std::lock_guard<process::Mutex> lock(mutex);
        return !before && mutex.is_of_this_process() ? 0 : 1;
    });
    CHECK_EQUAL(status, 0);
    CHECK(mutex.is_of_this_process());
}

TEST(thread_team_fork_mutex_that_another_thread_held_is_an_error_in_the_child) {
    process::Mutex mutex;
    std::atomic<bool> held{false}, done{false};
    std::thread holder([&] {
        const std::lock_guard<process::Mutex> lock(mutex);
        held = true;
        while (!done) {
            std::this_thread::yield();
        }
    });
    while (!held) {
        std::this_thread::yield();
    }
    const int status = status_of_child([&] {
        for (int k = 0; k < 2; ++k) {  // and stays one
            try {
                mutex.lock();
                return 1;
            } catch (const process::ForkError&) {
            }
        }
        return mutex.is_of_this_process() ? 2 : 0;
    });
    done = true;
    holder.join();
    CHECK_EQUAL(status, 0);
    const std::lock_guard<process::Mutex> lock(mutex);
}
