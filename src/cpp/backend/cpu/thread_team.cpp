// Teams of threads that wait for work, and the pool of idle teams.
//
// OpenMP is not used: libgomp ends the process if a thread cannot be created, and hangs in forked children.
#include "thread_team.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../../process/fork.h"

namespace lbm::cpu {
namespace {

/// How often a thread polls before it sleeps: about the smallest number with which small domains keep their speed on
/// idle cores. If other programs use the same cores, a spinning thread takes time from the thread for which it waits
/// (docs/performance.md has the measurement).
constexpr int spins = 1000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/// Returns when `word` no longer holds `old`.
template <class T>
void wait_while(const std::atomic<T>& word, T old) {
    for (int k = 0; k < spins; ++k) {
        if (word.load(std::memory_order_acquire) != old) {
            return;
        }
        relax();
    }
    word.wait(old, std::memory_order_acquire);
}

/// Blocks all signals in threads that are created meanwhile: signals are for the threads of the program.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

private:
    sigset_t before_;
};

class Team {
public:
    /// Throws std::system_error if the system does not provide so many threads.
    explicit Team(int threads) {
        const NoSignals mask;
        try {
            others_.reserve(std::size_t(threads - 1));
            for (int member = 1; member < threads; ++member) {
                others_.emplace_back([this, member] { serve(member); });
            }
        } catch (...) {
            dismiss();
            throw;
        }
    }
    ~Team() { dismiss(); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int threads() const { return int(others_.size()) + 1; }

    void run(void (*work)(void*, int), void* context) {
        work_ = work;
        context_ = context;
        error_ = nullptr;
        busy_.store(int(others_.size()), std::memory_order_relaxed);
        begin_round();
        work_on(0);
        for (int left = busy_.load(std::memory_order_acquire); left != 0;
             left = busy_.load(std::memory_order_acquire)) {
            wait_while(busy_, left);
        }
        if (error_ != nullptr) {
            std::rethrow_exception(std::exchange(error_, nullptr));
        }
    }

private:
    void begin_round() {
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
    }

    void serve(int member) {
        for (unsigned last = 0;; ++last) {
            wait_while(round_, last);
            if (work_ == nullptr) {
                return;
            }
            work_on(member);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                busy_.notify_one();
            }
        }
    }

    void work_on(int member) {
        try {
            work_(context_, member);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(error_mutex_);
            error_ = std::current_exception();
        }
    }

    void dismiss() {
        work_ = nullptr;
        begin_round();
        for (std::thread& thread : others_) {
            thread.join();
        }
    }

    void (*work_)(void*, int) = nullptr;  // null: the thread ends
    void* context_ = nullptr;
    std::exception_ptr error_;
    std::mutex error_mutex_;
    alignas(64) std::atomic<unsigned> round_{0};
    alignas(64) std::atomic<int> busy_{0};  // other members that have not finished the round
    std::vector<std::thread> others_;       // last, as they use the rest
};

/// The pool of teams that are not running.
class IdleTeams {
public:
    /// The pool of this process; a forked child gets a new one, as it has none of its parent's threads. Pools are never
    /// destroyed, because threads of the program may still be running when the process ends.
    static IdleTeams& here() {
        static constinit std::atomic<IdleTeams*> current{nullptr};
        IdleTeams* found = current.load();
        while (found == nullptr || found->generation_ != process::generation()) {
            auto fresh = std::make_unique<IdleTeams>();
            if (current.compare_exchange_strong(found, fresh.get())) {
                found = fresh.release();
            }
        }
        return *found;
    }

    std::unique_ptr<Team> take(int threads) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(teams_.rbegin(), teams_.rend(),
                                        [threads](const auto& team) { return team->threads() == threads; });
        if (found == teams_.rend()) {
            return nullptr;
        }
        std::unique_ptr<Team> team = std::move(*found);
        teams_.erase(std::next(found).base());
        return team;
    }

    void put(std::unique_ptr<Team> team) {
        constexpr std::size_t most = 8;  // limits what a program that tries many thread counts leaves
        std::unique_ptr<Team> oldest;    // declared first, so that it is joined after unlocking
        const std::lock_guard<std::mutex> lock(mutex_);
        if (teams_.size() == most) {
            oldest = std::move(teams_.front());
            teams_.erase(teams_.begin());
        }
        teams_.push_back(std::move(team));
    }

    void dismiss_all() {
        std::vector<std::unique_ptr<Team>> all;
        const std::lock_guard<std::mutex> lock(mutex_);
        all.swap(teams_);
    }

private:
    const int generation_ = process::generation();
    std::mutex mutex_;
    std::vector<std::unique_ptr<Team>> teams_;  // most recently used last
};

std::unique_ptr<Team> new_team(int threads) {
    for (const bool again : {false, true}) {
        try {
            return std::make_unique<Team>(threads);
        } catch (const std::system_error& error) {
            if (again) {
                throw std::runtime_error("threads: " + std::to_string(threads) +
                                         " given, but the system does not let this process have so many (" +
                                         error.code().message() + ")");
            }
            IdleTeams::here().dismiss_all();
        }
    }
    return nullptr;
}

}  // namespace

void run_team(int threads, void (*work)(void*, int), void* context) {
    if (threads == 1) {
        work(context, 0);
        return;
    }
    IdleTeams& idle = IdleTeams::here();
    std::unique_ptr<Team> team = idle.take(threads);
    if (team == nullptr) {
        team = new_team(threads);
    }
    try {
        team->run(work, context);
    } catch (...) {
        idle.put(std::move(team));
        throw;
    }
    idle.put(std::move(team));
}

}  // namespace lbm::cpu
