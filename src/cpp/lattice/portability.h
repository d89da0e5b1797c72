// Types, macros and helpers that g++, clang, nvcc and NVRTC all accept, so that no header of lattice/ includes a
// standard one.
#pragma once

#if defined(__CUDACC__)
#define LBM_HD __host__ __device__ __forceinline__
#define LBM_INLINE_LAMBDA
#else
// Functions are always inlined: the same header is compiled for several instruction sets into one library, and an
// out-of-line copy would let the linker give AVX-512 code to a processor that lacks it.
#define LBM_HD inline __attribute__((always_inline))
#define LBM_INLINE_LAMBDA __attribute__((always_inline))
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
LBM_HD constexpr void unroll(Body&& body, IntSequence<I...>) {
    (body.template operator()<I>(), ...);
}
}  // namespace detail

/// Calls body.operator()<0>() ... <N-1>(): a loop that is unrolled by construction. The index is a template argument of
/// the body, a lambda `[&]<int i>() {...}`, so that lambdas within the body can use it as a constant, under NVRTC too.
template <int N, class Body>
LBM_HD constexpr void static_for(Body&& body) {
    detail::unroll(body, typename detail::MakeSequence<N>::type{});
}

}  // namespace lbm
