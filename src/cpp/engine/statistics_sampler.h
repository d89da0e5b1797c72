// Samples statistics of an engine's cells between its steps.
#pragma once

#include <memory>
#include <vector>

#include "../backend/cell_statistics.h"
#include "engine.h"

namespace lbm::engine {

/// Statistics of the cells of an engine's blocks. Callers of members must hold the engine's mutex. The engine must
/// outlive it.
class StatisticsSampler final : public Sampler {
public:
    StatisticsSampler(Engine& engine, Index every, Index start);

    void sample(Index step) override;

    /// The number of samples since the last reset.
    Index samples() const { return samples_; }
    void set_samples(Index samples);
    backend::SlotMask slots() const { return slots_; }
    /// Keeps the slots of a set, drops the others, and adds new ones, which must be set where there are samples
    /// already. Throws std::invalid_argument for a set with a co-moment without its means.
    void choose(backend::SlotMask slots);
    /// Forgets all samples.
    void reset();

    /// The numbers of a slot for the cells of the local subdomain; those of solid cells are not defined. Throws
    /// std::invalid_argument for a slot that was not chosen.
    void get(int slot, double* out) const;
    void set(int slot, const double* values);
    /// The sums of a slot over axes and the fluid cells of the local subdomain, in fixed point: for each element along
    /// the other axes, x fastest, three words side by side.
    std::vector<Index> sums(int slot, const backend::SummedAxes& over) const;

    std::size_t bytes() const;
    Engine& engine() const { return engine_; }

private:
    void check_slot(int slot) const;

    Engine& engine_;
    Index samples_ = 0;
    backend::SlotMask slots_ = 0;
    std::vector<std::unique_ptr<backend::CellStatistics>> parts_;  // of each block of this process
};

}  // namespace lbm::engine
