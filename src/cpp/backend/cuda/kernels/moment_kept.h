// What a thread of an update of moments keeps from one layer to the next where registers have no room for it.
#pragma once

#include "moment_packs.h"
#include "moment_shape.h"

namespace lbm::cuda {

/// So many numbers of a thread, those of all `threads` one beside the other in shared memory.
template <class Real, int count, int threads, bool in_shared>
class NumbersOfThread {
public:
    __device__ explicit NumbersOfThread(Real* shared) : first_(shared + threadIdx.x) {}

    template <int k>
    __device__ Real& at() {
        static_assert(k < count);
        return first_[k * threads];
    }

private:
    Real* first_;
};

/// Those of a thread that has no room there: wherever the compiler finds some.
template <class Real, int count, int threads>
class NumbersOfThread<Real, count, threads, false> {
public:
    __device__ explicit NumbersOfThread(Real* /*shared*/) {}

    template <int k>
    __device__ Real& at() {
        return own_[k];
    }

private:
    Real own_[count] = {};
};

/// What a thread keeps of each of its V cells in each of the steps: at walls what formulas give in place of populations
/// of the layer above, until that is there, and with `cuts` what streams in from below against these links; and so many
/// of its sums as lie in shared memory. None of it is read before it is written, but by cells whose results are not
/// needed.
template <class S, class Real, int V, int steps, bool cuts, int threads, InShared in_shared>
class KeptNumbers {
    static constexpr int from_above = FromAbove<S>::count, streamed = steps * V * from_above;
    static constexpr int populations = steps * V * populations_at_walls<S>(cuts);

public:
    __device__ explicit KeptNumbers(Real* shared) : populations_(shared), sums_(shared) {}
    /// Where in shared memory something else has its place, behind these numbers of all threads.
    template <class Other>
    __device__ static Other* behind(Real* shared) {
        return reinterpret_cast<Other*>(shared + threads * numbers_in_shared<S, V, steps>(cuts, in_shared));
    }

    /// Calls visit.operator()<i>(number) for the populations that formulas give cell v of those from above.
    template <int s, int v, class Visit>
    __device__ void for_each_given(UInt32 links, Visit&& visit) {
        for_each_from_above<(s * V + v) * from_above>(links, visit);
    }
    /// The same with what streams in from below against these.
    template <int s, int v, class Visit>
    __device__ void for_each_streamed(UInt32 links, Visit&& visit) {
        for_each_from_above<streamed + (s * V + v) * from_above>(links, visit);
    }
    template <int s>
    __device__ void take(MomentSums<S, Real, V>& of_step) {
        for_each_of_sums<s>(of_step, [](Real& number, Real kept) { number = kept; });
    }
    template <int s>
    __device__ void keep(MomentSums<S, Real, V>& of_step) {
        for_each_of_sums<s>(of_step, [](Real number, Real& kept) { kept = number; });
    }

private:
    template <int first, class Visit>
    __device__ void for_each_from_above(UInt32 links, Visit&& visit) {
        static_for<S::Q>([&]<int i>() {
            if constexpr (FromAbove<S>::has(i)) {
                if ((links >> i & 1U) != 0) {
                    visit.template operator()<i>(populations_.template at<first + FromAbove<S>::rank(i)>());
                }
            }
        });
    }
    template <int s, class Visit>
    __device__ void for_each_of_sums(MomentSums<S, Real, V>& of_step, Visit&& visit) {
        static_for<V>([&]<int v>() {
            const auto visit_kept = [&]<int k>(Real& number) {
                constexpr int place = (k * steps + s) * V + v;
                if constexpr (place < in_shared.sums) {
                    visit(number, sums_.template at<(in_shared.populations ? populations : 0) + place>());
                }
            };
            of_step.two[v].for_each(visit_kept);
            of_step.below[v].template for_each<1>(
                [&]<int k>(Real& number) { visit_kept.template operator()<TwoLayers<S, Real>::numbers + k>(number); });
        });
    }

    NumbersOfThread<Real, populations, threads, in_shared.populations> populations_;
    NumbersOfThread<Real, numbers_in_shared<S, V, steps>(cuts, in_shared), threads, true> sums_;  // behind those
};

}  // namespace lbm::cuda
