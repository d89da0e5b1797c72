// What statistics of a cell consist of, and how a sample changes them. Both backends include it, so that they round
// alike.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// The quantities of a cell that are sampled: the density's deviation from 1, three components of the velocity, and the
/// temperature as it is stored, of the hybrid thermal model as a deviation from its reference.
constexpr int sampled_quantities = 5;

/// The numbers of a cell that samples change, by *slot*: means, minima and maxima of the quantities, and the co-moments
/// of pairs of them, the sums of (a - mean a)(b - mean b).
constexpr int statistics_slots = 30;

LBM_HD constexpr int mean_slot(int q) { return q; }
LBM_HD constexpr int minimum_slot(int q) { return sampled_quantities + q; }
LBM_HD constexpr int maximum_slot(int q) { return 2 * sampled_quantities + q; }
/// The slot of the co-moment of quantities a <= b.
LBM_HD constexpr int comoment_slot(int a, int b) {
    return 3 * sampled_quantities + a * sampled_quantities - a * (a - 1) / 2 + (b - a);
}
static_assert(comoment_slot(sampled_quantities - 1, sampled_quantities - 1) == statistics_slots - 1);

/// A set of slots, with a bit for each.
using SlotMask = UInt32;

LBM_HD constexpr bool has_slot(SlotMask slots, int slot) { return ((slots >> unsigned(slot)) & 1U) != 0; }

/// Whether a quantity is sampled for any of the slots.
LBM_HD constexpr bool needs_quantity(SlotMask slots, int q) {
    return has_slot(slots, mean_slot(q)) || has_slot(slots, minimum_slot(q)) || has_slot(slots, maximum_slot(q));
}

/// Whether all co-moments of a set have the means that they are updated with.
LBM_HD constexpr bool is_complete(SlotMask slots) {
    for (int a = 0; a < sampled_quantities; ++a) {
        for (int b = a; b < sampled_quantities; ++b) {
            if (has_slot(slots, comoment_slot(a, b)) &&
                !(has_slot(slots, mean_slot(a)) && has_slot(slots, mean_slot(b)))) {
                return false;
            }
        }
    }
    return slots >> unsigned(statistics_slots) == 0;
}

/// What a slot holds before the first sample.
LBM_HD constexpr double initial_number(int slot) {
    return slot < minimum_slot(0) || slot >= comoment_slot(0, 0) ? 0
           : slot < maximum_slot(0)                              ? 1.7976931348623157e308
                                                                 : -1.7976931348623157e308;
}

/// A mean after a sample that deviates so much from the mean before; `weight` is 1 over the number of samples.
LBM_HD double mean_after(double mean, double deviation, double weight) { return mean + deviation * weight; }

/// The change of a co-moment by a sample: the deviation of a from its mean before the sample times that of b from its
/// mean after it (Welford, Technometrics 4 (1962) 419; for two quantities Pebay, Sandia report SAND2008-6212,
/// eq. 3.12). Denormal products are 0, as CPUs flush them and GPUs do not.
LBM_HD double comoment_change(double deviation_before, double deviation_after) {
    const double product = deviation_before * deviation_after;
    return product < 2.2250738585072014e-308 && product > -2.2250738585072014e-308 ? 0 : product;
}

/// A number in fixed point: three words whose units are 2^-11, 2^-43 and 2^-75. Sums of up to 2^31 words fit in 64
/// bits, and sums of integers do not depend on their order.
struct FixedPoint {
    static constexpr int words = 3;
    Index word[words];
};

/// The largest magnitude that FixedPoint has.
constexpr double largest_fixed_point = 1048576;

/// Rounds to the nearest integer, half-way cases to even, for magnitudes up to 2^51.
LBM_HD double nearest_integer(double value) {
    constexpr double shift = 6755399441055744.0;  // 1.5 2^52: the unit of the sum is 1
    return (value + shift) - shift;
}

/// Converts a number to fixed point; what is out of range, or no number, becomes the largest one or its negative.
LBM_HD FixedPoint fixed_point(double value) {
    FixedPoint fixed{};
    value = value < largest_fixed_point ? value : largest_fixed_point;
    value = value > -largest_fixed_point ? value : -largest_fixed_point;
    constexpr double next_word = 4294967296.0;
    double rest = value * 2048.0;
    for (Index& word : fixed.word) {
        const double integer = nearest_integer(rest);
        word = Index(integer);
        rest = (rest - integer) * next_word;
    }
    return fixed;
}

/// Changes the numbers of a cell by a sample.
template <SlotMask slots>
LBM_HD void add_sample(const double (&value)[sampled_quantities], double weight, double (&number)[statistics_slots]) {
    double before[sampled_quantities], after[sampled_quantities];  // deviations from the means
    static_for<sampled_quantities>([&]<int q>() LBM_INLINE_LAMBDA {
        if constexpr (has_slot(slots, mean_slot(q))) {
            double& mean = number[mean_slot(q)];
            before[q] = value[q] - mean;
            mean = mean_after(mean, before[q], weight);
            after[q] = value[q] - mean;
        }
        if constexpr (has_slot(slots, minimum_slot(q))) {
            double& least = number[minimum_slot(q)];
            least = value[q] < least ? value[q] : least;
        }
        if constexpr (has_slot(slots, maximum_slot(q))) {
            double& most = number[maximum_slot(q)];
            most = value[q] > most ? value[q] : most;
        }
    });
    static_for<sampled_quantities>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<sampled_quantities - a>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int slot = comoment_slot(a, a + k);
            if constexpr (has_slot(slots, slot)) {
                number[slot] += comoment_change(before[a], after[a + k]);
            }
        });
    });
}

}  // namespace lbm::backend
