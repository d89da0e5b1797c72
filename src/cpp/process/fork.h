// Support for processes that fork: a count of forks, by which objects know whether they belong to this process, and a
// mutex on which a child never deadlocks.
//
// A forked child has a copy of all memory but only the thread that forked. There a lock that another thread held is
// never released, worker threads do not exist, and neither CUDA nor MPI can be used. The start method "fork" of
// multiprocessing, Python's default on Linux before 3.14, makes such children.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

namespace lbm::process {

/// A forked child has tried to use something of its parent that it cannot use.
class ForkError : public std::runtime_error {
public:
    /// `what` says what cannot be used and why, such as "CUDA cannot be used ...".
    explicit ForkError(const std::string& what);
};

/// The generation of the calling process: 1 in the process that loaded this library, one more after each fork.
int generation();

/// A mutex that survives forks. A child takes over one that was free. If another thread of the parent held it, the
/// guarded object is in the middle of a change, and locking throws ForkError.
class Mutex {
public:
    void lock();
    void unlock() { mutex_.unlock(); }
    /// Whether the mutex was created or has been locked in this process, so that the guarded object is usable here.
    bool is_of_this_process() const { return owner_ == generation(); }

private:
    std::mutex mutex_;
    /// The generation of the process that the mutex belongs to; negated while the first thread of a child takes it
    /// over.
    std::atomic<int> owner_{generation()};
};

}  // namespace lbm::process
