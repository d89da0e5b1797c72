// A pack: V stored numbers of neighbouring cells in a thread's registers, which can be shifted by one cell along a row.
#pragma once

#include "../../../lattice/storage.h"

namespace lbm::cuda {

constexpr unsigned whole_warp = 0xFFFFFFFFU;

/// The value of x in another thread of the warp.
template <class Stored>
__device__ Stored from_thread(Stored x, int lane) {
    return __shfl_sync(whole_warp, x, lane);
}
__device__ inline Half from_thread(Half x, int lane) { return {UInt16(__shfl_sync(whole_warp, UInt32(x.bits), lane))}; }

/// A pack of numbers of 32 or 64 bits.
template <class Stored, int V>
struct alignas(sizeof(Stored) * V) Pack {
    Stored lane[V];

    template <int l>
    __device__ Stored get() const {
        return lane[l];
    }
    template <int l>
    __device__ void set(Stored x) {
        lane[l] = x;
    }

    /// Rotates the pack by n numbers: number n becomes the first.
    template <int n>
    __device__ void rotate() {
        Stored first[n];
        static_for<n>([&]<int l>() { first[l] = lane[l]; });
        static_for<V - n>([&]<int l>() { lane[l] = lane[l + n]; });
        static_for<n>([&]<int l>() { lane[V - n + l] = first[l]; });
    }

    /// Shifts all numbers by one cell up in x. The last one goes to the next thread; the first one comes from the
    /// previous thread, or is `low` if `at_start`. shift_down() shifts the other way.
    __device__ void shift_up(bool at_start, Stored low) {
        const Stored before = __shfl_up_sync(whole_warp, lane[V - 1], 1);
        static_for<V - 1>([&]<int l>() { lane[V - 1 - l] = lane[V - 2 - l]; });
        lane[0] = at_start ? low : before;
    }
    __device__ void shift_down(bool at_end, Stored high) {
        const Stored after = __shfl_down_sync(whole_warp, lane[0], 1);
        static_for<V - 1>([&]<int l>() { lane[l] = lane[l + 1]; });
        lane[V - 1] = at_end ? high : after;
    }
};

/// A pack of float16 numbers, two in a register: shifts are funnel shifts of registers, and nothing is unpacked.
template <int V>
requires(V > 1) struct alignas(2 * V) Pack<Half, V> {
    static constexpr int words = V / 2;
    UInt32 word[words];

    template <int l>
    __device__ Half get() const {
        return {UInt16(word[l / 2] >> (16 * (l % 2)))};
    }
    template <int l>
    __device__ void set(Half x) {
        word[l / 2] =
            l % 2 == 0 ? (word[l / 2] & 0xFFFF0000U) | x.bits : (word[l / 2] & 0xFFFFU) | (UInt32(x.bits) << 16);
    }

    template <int n>
    __device__ void rotate() {
        static_assert(n % 2 == 0);
        UInt32 first[n / 2];
        static_for<n / 2>([&]<int w>() { first[w] = word[w]; });
        static_for<words - n / 2>([&]<int w>() { word[w] = word[w + n / 2]; });
        static_for<n / 2>([&]<int w>() { word[words - n / 2 + w] = first[w]; });
    }

    __device__ void shift_up(bool at_start, Half low) {
        UInt32 before = __shfl_up_sync(whole_warp, word[words - 1], 1);
        before = at_start ? UInt32(low.bits) << 16 : before;
        static_for<words - 1>(
            [&]<int w>() { word[words - 1 - w] = __funnelshift_l(word[words - 2 - w], word[words - 1 - w], 16); });
        word[0] = __funnelshift_l(before, word[0], 16);
    }
    __device__ void shift_down(bool at_end, Half high) {
        UInt32 after = __shfl_down_sync(whole_warp, word[0], 1);
        after = at_end ? high.bits : after;
        static_for<words - 1>([&]<int w>() { word[w] = __funnelshift_r(word[w], word[w + 1], 16); });
        word[words - 1] = __funnelshift_r(word[words - 1], after, 16);
    }
};

}  // namespace lbm::cuda
