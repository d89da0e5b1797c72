// The release of Python's global lock while the engine works.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace lbm::bindings {

/// While it lives Python goes on in other threads.
///
/// A daemon thread that comes back when the interpreter has ended must not have the lock again: Python before 3.14 ends
/// the thread then, by an unwinding that no C++ destructor survives. It sleeps instead until the process is gone, as
/// threads do in newer versions; what it holds of Python stays untouched.
class NoGil {
public:
    NoGil() : state_(PyEval_SaveThread()) {}
    ~NoGil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) {
                pause();
            }
        }
    }
    NoGil(const NoGil&) = delete;
    NoGil& operator=(const NoGil&) = delete;

private:
    PyThreadState* state_;
};

}  // namespace lbm::bindings
