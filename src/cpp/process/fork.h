// What a fork leaves of a process: which of its things a child may use, and locks that no child waits for in vain.
//
// A child has a copy of all memory but only the thread that forked. A lock that another thread held is never given
// back there, threads that wait for work are gone, and neither CUDA nor MPI can be used. The children of
// multiprocessing's method "fork", Python's default on Linux before 3.14, are of this kind.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

namespace lbm::process {

/// Something of the parent that a forked child cannot use.
class ForkError : public std::runtime_error {
public:
    /// `what` names the thing and why, such as "CUDA cannot be used ...".
    explicit ForkError(const std::string& what);
};

/// Counts the forks between the process that loaded this library and the calling one, from 1.
int generation();

/// A mutex that knows forks. A child goes on with one that was free; where another thread of the parent held it, what
/// it guards is in the middle of a change, and to lock it throws ForkError.
class Mutex {
public:
    void lock();
    void unlock() { mutex_.unlock(); }
    /// Whether it is of this process, or was locked in it: what it guards is whole.
    bool is_of_this_process() const { return owner_ == generation(); }

private:
    std::mutex mutex_;
    /// The generation of the process that it works in; negated while the first thread of a child looks at it.
    std::atomic<int> owner_{generation()};
};

}  // namespace lbm::process
