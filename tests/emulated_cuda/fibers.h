// Fibers: functions that run by turns in one thread, each with a stack of its own.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace emulated {

/// A fiber runs `body` each time that it has been started, and then waits for the next start.
class Fiber {
public:
    explicit Fiber(void (*body)());
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs the fiber until it pauses or its body has ended; returns whether that has ended.
    bool resume();
    /// Called in a fiber: returns to the caller of resume().
    static void pause();

private:
    static void loop();

    void (*body_)();
    void* stack_;
    bool has_ended_ = true;
    jmp_buf fiber_, caller_;
    ucontext_t beginning_;
};

}  // namespace emulated
