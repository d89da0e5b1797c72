// Divides work among the threads of a block, and sets their floating-point mode.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "../../lattice/portability.h"
#include "thread_team.h"

namespace lbm::cpu {

/// Flushes denormal numbers to zero during its lifetime: a flow that starts from rest fills its far field with numbers
/// that decay below 1e-38, with which a processor computes a hundred times slower.
class FlushDenormals {
public:
#if defined(__SSE__)
    FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040U); }
    ~FlushDenormals() { _mm_setcsr(saved_); }
#else
    FlushDenormals() = default;
    ~FlushDenormals() = default;
#endif
    FlushDenormals(const FlushDenormals&) = delete;
    FlushDenormals& operator=(const FlushDenormals&) = delete;

private:
#if defined(__SSE__)
    unsigned saved_;
#endif
};

/// Calls body(first, last) on every thread with its contiguous share of [0, count). A thread always gets the same
/// share, so that it is the first to touch the memory that it will update. Throws as run_team does.
template <class Body>
void parallel_shares(int threads, Index count, Body&& body) {
    auto share = [&](int member) {
        const FlushDenormals mode;
        body(count * member / threads, count * (member + 1) / threads);
    };
    run_team(
        threads, [](void* of, int member) { (*static_cast<decltype(share)*>(of))(member); }, &share);
}

}  // namespace lbm::cpu
