// Types, macros and helpers that g++, clang, nvcc and NVRTC all accept, so that no header of lattice/ includes a
// standard one.
#pragma once

// LBM_HD: a function of the host and of GPUs. LBM_INLINE: one that is always inlined, as is a lambda with
// LBM_INLINE_LAMBDA. LBM_FLATTEN: a function that all it calls is inlined into, as it runs for each of many cells.
#if defined(__CUDACC__)
#define LBM_HD __host__ __device__ __forceinline__
#define LBM_INLINE LBM_HD
#define LBM_INLINE_LAMBDA
#define LBM_FLATTEN
#else
#define LBM_INLINE inline __attribute__((always_inline))
#define LBM_INLINE_LAMBDA __attribute__((always_inline))
#if defined(LBM_VECTOR_BYTES)
// The kernels of the CPU are compiled for several instruction sets into one library. All functions of theirs are
// inlined: of copies that are not, the linker would keep one, and give AVX-512 code to a processor that lacks it.
#define LBM_HD LBM_INLINE
#define LBM_FLATTEN
#else
// The rest is compiled once. What to inline compilers know there, and take a quarter of the time.
#define LBM_HD inline
#define LBM_FLATTEN __attribute__((flatten))
#endif
#endif

namespace lbm {

using Index = long long;
using UInt16 = unsigned short;
using UInt32 = unsigned int;
using UInt64 = unsigned long long;

static_assert(sizeof(Index) == 8 && sizeof(UInt16) == 2 && sizeof(UInt32) == 4);

template <class A, class B>
struct IsSame {
    static constexpr bool value = false;
};
template <class A>
struct IsSame<A, A> {
    static constexpr bool value = true;
};

template <int... I>
struct IntSequence {};

namespace detail {
template <int N, int... I>
struct MakeSequence : MakeSequence<N - 1, N - 1, I...> {};
template <int... I>
struct MakeSequence<0, I...> {
    using type = IntSequence<I...>;
};

template <class Body, int... I>
LBM_INLINE constexpr void unroll(Body&& body, IntSequence<I...>) {
    (body.template operator()<I>(), ...);
}
}  // namespace detail

/// Calls body.operator()<0>() ... <N-1>(): a loop that is unrolled by construction. The index is a template argument of
/// the body, a lambda `[&]<int i>() {...}`, so that lambdas within the body can use it as a constant, under NVRTC too.
template <int N, class Body>
LBM_INLINE constexpr void static_for(Body&& body) {
    detail::unroll(body, typename detail::MakeSequence<N>::type{});
}

}  // namespace lbm
