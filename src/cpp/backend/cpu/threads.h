// The OpenMP team of a block, and the floating-point mode its threads compute in.
#pragma once

#include <omp.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "../../lattice/portability.h"

namespace lbm::cpu {

/// Flushes denormal numbers to zero while it lives: a flow that starts from rest fills its far field with numbers that
/// fade below 1e-38, and a processor computes with those a hundred times slower.
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

/// Calls body(first, last) on every thread with its contiguous share of [0, count), always the same share: memory is
/// first touched by the thread that will update it.
template <class Body>
void parallel_shares(int threads, Index count, Body&& body) {
    if (threads == 1) {
        const FlushDenormals mode;
        body(Index(0), count);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const FlushDenormals mode;
        const Index team = omp_get_num_threads();
        const Index me = omp_get_thread_num();
        body(count * me / team, count * (me + 1) / team);
    }
}

}  // namespace lbm::cpu
