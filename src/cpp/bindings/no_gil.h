// Releases Python's global interpreter lock (GIL) while the engine works.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace lbm::bindings {

/// Releases the GIL during its lifetime.
///
/// A daemon thread may return here after the interpreter has been finalized. Python before 3.14 then ends the thread by
/// unwinding its stack, which terminates the process at the first C++ destructor that must not throw. The thread sleeps
/// instead until the process ends, as newer versions of Python have it, and touches no Python object.
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
