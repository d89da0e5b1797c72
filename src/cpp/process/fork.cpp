// Counts forks, and hands over mutexes to forked children.
#include "fork.h"

#include <pthread.h>

#include <limits>
#include <thread>

namespace lbm::process {
namespace {

/// The owner of a mutex that another thread held at the fork.
constexpr int lost = std::numeric_limits<int>::min();

std::atomic<int> forks{1};
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

ForkError::ForkError(const std::string& what)
    : std::runtime_error("fork: " + what +
                         "; start processes by multiprocessing.get_context('spawn') or 'forkserver', or make solvers "
                         "in the children only") {}

int generation() { return forks.load(); }

void Mutex::lock() {
    const int now = generation();
    for (;;) {
        int seen = owner_.load();
        if (seen == now) {
            mutex_.lock();
            return;
        }
        if (seen == -now) {  // another thread of the child is finding out whether it was free
            std::this_thread::yield();
            continue;
        }
        if (seen > 0 && !owner_.compare_exchange_strong(seen, -now)) {
            continue;
        }
        const bool is_free = seen > 0 && mutex_.try_lock();
        owner_ = is_free ? now : lost;
        if (!is_free) {
            throw ForkError("another thread of the parent was using this object at the fork, so it is not whole");
        }
        return;
    }
}

}  // namespace lbm::process
