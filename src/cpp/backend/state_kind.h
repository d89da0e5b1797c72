// A streaming pattern as a run-time value: all that the engine knows of how a block stores its state.
#pragma once

#include <memory>
#include <vector>

#include "../lattice/streaming.h"

namespace lbm::backend {

class BlockState;
struct BlockSpec;
struct DeviceOptions;

/// The properties of a streaming pattern (lattice/state/two_lattice.h).
///
/// What is exchanged between blocks depends on the depth of the halo (halo_depth in block_state.h). For depth 1 it is
/// the populations that enter the block, each copied to the place from which the next step reads it. For larger depths
/// halo cells hold the post-collision populations of the cells that they stand for, and the block streams them itself.
struct StateKind {
    const char* name;
    Phase first_phase;
    int phases;
    int lattices;
    int steps_per_launch;
    /// Makes a block with this streaming pattern; null if the blocks of the backends support it.
    std::unique_ptr<BlockState> (*make_block)(const BlockSpec& spec, const DeviceOptions& options) = nullptr;
    /// Whether a cell keeps moments (lattice/moment_state.h) in place of populations. Its halo cells keep all of them.
    bool keeps_moments = false;
    /// Whether the two lattices overlap in memory, so that they take little more than one (slabs_of in block_layout.h).
    bool lattices_overlap = false;
};

/// The run-time value of a streaming pattern.
template <class State>
inline constexpr StateKind state_kind{State::name, State::first_phase, State::phases, State::lattices,
                                      State::steps_per_launch};

/// All streaming patterns, in the order of the list.
inline std::vector<const StateKind*> state_kinds() {
    std::vector<const StateKind*> all;
    for_types(States{}, [&](auto state) { all.push_back(&state_kind<typename decltype(state)::type>); });
    return all;
}

inline const char* name_of(Phase phase) {
    return lbm::detail::with_state_of(phase, States{}, [&](auto state) {
        using State = typename decltype(state)::type;
        return State::phase_names[int(phase) - int(State::first_phase)];
    });
}

/// An array with one element for each of several consecutive phases.
template <class T>
class ByPhase {
public:
    ByPhase() = default;
    explicit ByPhase(const std::vector<Phase>& phases) : first_(phases.front()), each_(phases.size()) {}

    T& operator[](Phase phase) { return each_[index(phase)]; }
    const T& operator[](Phase phase) const { return each_[index(phase)]; }

    std::size_t size() const { return each_.size(); }
    auto begin() { return each_.begin(); }
    auto end() { return each_.end(); }
    auto begin() const { return each_.begin(); }
    auto end() const { return each_.end(); }

private:
    std::size_t index(Phase phase) const { return std::size_t(int(phase) - int(first_)); }

    Phase first_{};
    std::vector<T> each_;
};

}  // namespace lbm::backend
