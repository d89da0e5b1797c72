// The interface to the statistics of a block's cells, which are kept in the memory of its device.
#pragma once

#include <cstddef>
#include <vector>

#include "statistics_slots.h"

namespace lbm::backend {

/// The axes that a sum goes over; the result has an element for each place along the others, x fastest.
struct SummedAxes {
    bool axis[3];
};

/// Float64 numbers for each cell, one for each slot that was chosen, which samples of the block's state change. Those
/// of solid cells stay what they are initially. Arrays that are passed in and out have x fastest, then y and z.
class CellStatistics {
public:
    CellStatistics() = default;
    CellStatistics(const CellStatistics&) = delete;
    CellStatistics& operator=(const CellStatistics&) = delete;
    virtual ~CellStatistics() = default;

    /// Keeps the slots of a set, which must be complete, and drops the others; new ones begin at their initial number.
    virtual void choose(SlotMask slots) = 0;
    /// Sets all chosen slots to their initial number.
    virtual void reset() = 0;
    /// Changes all chosen slots by the state after the last step, in one pass; `count` is the number of samples with
    /// this one. A block on a GPU only enqueues the work.
    virtual void sample(Index count) = 0;
    virtual void get(int slot, double* out) const = 0;
    virtual void set(int slot, const double* values) = 0;
    /// The sums of a slot over axes, of the block's fluid cells, in fixed point: for each element of the result three
    /// words, side by side.
    virtual std::vector<Index> sums(int slot, const SummedAxes& over) const = 0;
    virtual std::size_t bytes() const = 0;
};

}  // namespace lbm::backend
