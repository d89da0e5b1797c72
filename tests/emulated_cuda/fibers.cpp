// Fibers begin by ucontext and then switch by longjmp, which makes no system call.
#include "fibers.h"

#include <sys/mman.h>

#include <new>

namespace emulated {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024, guard_bytes = 4096 * 16;

Fiber* current = nullptr;

}  // namespace

Fiber::Fiber(void (*body)()) : body_(body) {
    stack_ = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack_ == MAP_FAILED) {
        throw std::bad_alloc();
    }
    mprotect(stack_, guard_bytes, PROT_NONE);  // a stack that overflows ends the program
    getcontext(&beginning_);
    beginning_.uc_stack.ss_sp = static_cast<char*>(stack_) + guard_bytes;
    beginning_.uc_stack.ss_size = stack_bytes;
    beginning_.uc_link = nullptr;
    makecontext(&beginning_, &Fiber::loop, 0);
    current = this;
    if (_setjmp(caller_) == 0) {
        setcontext(&beginning_);
    }
}

Fiber::~Fiber() { munmap(stack_, stack_bytes + guard_bytes); }

bool Fiber::resume() {
    current = this;
    if (_setjmp(caller_) == 0) {
        _longjmp(fiber_, 1);
    }
    return has_ended_;
}

void Fiber::pause() {
    Fiber& own = *current;
    if (_setjmp(own.fiber_) == 0) {
        _longjmp(own.caller_, 1);
    }
}

void Fiber::loop() {
    Fiber& own = *current;
    while (true) {
        own.has_ended_ = true;
        pause();
        own.has_ended_ = false;
        own.body_();
    }
}

}  // namespace emulated
