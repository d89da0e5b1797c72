// What CUDA C++ adds to C++, as far as the kernels use it, for g++: it is included before the text of a kernel.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "machine.h"

extern "C" {
/// Set by the driver when it has loaded the library.
__attribute__((visibility("default"))) emulated::Machine* emulated_machine = nullptr;
}

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
// Thread blocks run one after the other, so that one copy serves all.
#define __shared__ static

#define threadIdx (::emulated_machine->thread)
#define blockIdx (::emulated_machine->block)
#define blockDim (::emulated_machine->block_size)
#define gridDim (::emulated_machine->grid_size)

struct alignas(16) float4 {
    float x, y, z, w;
};

inline void __syncthreads() { emulated_machine->wait_for_block(); }

namespace emulated {

/// The value of `x` in lane `from` of the warp, or the thread's own where there is no such lane.
template <class T>
T from_lane(unsigned mask, T x, int from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if (mask != 0xFFFFFFFFU) {
        __builtin_trap();  // not emulated
    }
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    const unsigned long long* values = emulated_machine->exchange(__builtin_bit_cast(Bits, x));
    return from < 0 || from >= warp_size ? x : __builtin_bit_cast(T, Bits(values[from]));
}

}  // namespace emulated

template <class T>
T __shfl_sync(unsigned mask, T x, int lane) {
    return emulated::from_lane(mask, x, lane % emulated::warp_size);
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, unsigned by) {
    return emulated::from_lane(mask, x, emulated_machine->lane() - int(by));
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, unsigned by) {
    return emulated::from_lane(mask, x, emulated_machine->lane() + int(by));
}

inline int __reduce_max_sync(unsigned mask, int x) {
    int most = x;
    for (int lane = 0; lane < emulated::warp_size; ++lane) {
        const int other = __shfl_sync(mask, x, lane);
        most = other > most ? other : most;
    }
    return most;
}

/// Each thread goes its own way: none is known to be where another one is.
inline unsigned __activemask() { return 1U << emulated_machine->lane(); }
inline int __any_sync(unsigned mask, int holds) {
    int any = holds;
    for (int lane = 0; lane < emulated::warp_size; ++lane) {
        any |= (mask >> lane & 1U) != 0 && lane != emulated_machine->lane() ? __shfl_sync(mask, holds, lane) : 0;
    }
    return any;
}

template <class T>
T atomicAdd(T* to, T value) {
    const T before = *to;
    *to = before + value;
    return before;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned((((unsigned long long)high << 32 | low) << (by & 31U)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned(((unsigned long long)high << 32 | low) >> (by & 31U));
}

inline unsigned long __cvta_generic_to_shared(const void* address) { return reinterpret_cast<unsigned long>(address); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline float fabsf(float x) { return __builtin_fabsf(x); }
inline double fabs(double x) { return __builtin_fabs(x); }

template <class T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}

namespace emulated {

/// PTX instructions, which the kernels have as inline assembly; compiler.cpp turns that into calls of these.
inline void rcp_approx_ftz_f32(float& to, float from) { to = 1 / from; }
inline void cvt_f32_f16(float& to, unsigned short from) { to = float(__builtin_bit_cast(_Float16, from)); }
inline void cvt_rn_f16_f32(unsigned short& to, float from) {
    to = __builtin_bit_cast(unsigned short, static_cast<_Float16>(from));
}
/// Copies that a thread has asked for and not waited for yet. Until it does, what is there is no number that it may
/// use.
struct AskedCopy {
    int* to;
    const int* from;
};
inline std::vector<AskedCopy>& asked_copies() {
    static std::map<unsigned, std::vector<AskedCopy>> of_threads;
    const auto &thread = emulated_machine->thread, &size = emulated_machine->block_size;
    return of_threads[(thread.z * size.y + thread.y) * size.x + thread.x];
}
inline void cp_async_ca_shared_global(unsigned long to, const void* from) {
    asked_copies().push_back({reinterpret_cast<int*>(to), static_cast<const int*>(from)});
    *asked_copies().back().to = 0x7BADBAD7;
}
inline void cp_async_wait_all() {
    for (const AskedCopy& copy : asked_copies()) {
        *copy.to = *copy.from;
    }
    asked_copies().clear();
}
inline void griddepcontrol_launch_dependents() {}
inline void griddepcontrol_wait() {}
/// Reads a byte, so that an address outside of the lattice ends the program at a guard page.
inline void prefetch_global_L2(const void* address) { static_cast<void>(*static_cast<const volatile char*>(address)); }
/// Loads four numbers, whose address must be a multiple of 16 bytes as on a GPU.
inline void ld_global_L1(float& first, float& second, float& third, float& fourth, const void* address) {
    if (reinterpret_cast<unsigned long>(address) % 16 != 0) {
        __builtin_trap();
    }
    const auto* numbers = static_cast<const float*>(address);
    first = numbers[0], second = numbers[1], third = numbers[2], fourth = numbers[3];
}

/// The entry of a kernel, which is a function with parameters of any types.
template <auto kernel>
struct Entry;
template <class... Parameters, void (*kernel)(Parameters...)>
struct Entry<kernel> {
    static constexpr std::size_t bytes[] = {sizeof(Parameters)..., 0};

    static void run(const void* const* arguments) { call(arguments, std::index_sequence_for<Parameters...>{}); }

    static constexpr KernelEntry described(const char* name) { return {run, sizeof...(Parameters), bytes, name}; }

private:
    template <std::size_t... k>
    static void call(const void* const* arguments, std::index_sequence<k...>) {
        kernel(*static_cast<const Parameters*>(arguments[k])...);
        if (!asked_copies().empty()) {
            __builtin_trap();
        }
    }
};

}  // namespace emulated
