// A way to keep the state at run time: all that the engine knows of how a block keeps its own.
#pragma once

#include <memory>
#include <vector>

#include "../lattice/streaming.h"

namespace lbm::backend {

class BlockState;
struct BlockSpec;
struct DeviceOptions;

/// See lattice/state/two_lattice.h.
///
/// What crosses a face between blocks depends on the depth of the halo, which is as far as the steps of one launch
/// reach (halo_depth in block_state.h). From one cell the links come that lead into the block, each to where it
/// arrives. From more, cells of the halo hold what departed from them, which the block streams itself.
struct StateKind {
    const char* name;
    Phase first_phase;
    int phases;
    int lattices;
    int steps_per_launch;
    /// Makes a block that keeps its state so; null where the backends do.
    std::unique_ptr<BlockState> (*make_block)(const BlockSpec& spec, const DeviceOptions& options) = nullptr;
};

template <class State>
inline constexpr StateKind state_kind{State::name, State::first_phase, State::phases, State::lattices,
                                      State::steps_per_launch};

/// In the order of the list.
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

/// One of something for each of some phases that follow one another.
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
