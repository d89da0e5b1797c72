// The state of one block on one device, and all that the engine may ask of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../lattice/address.h"
#include "../lattice/parameters.h"
#include "../lattice/temperature.h"
#include "custom/collision.h"
#include "device_array.h"
#include "initial_state.h"
#include "kinds.h"
#include "links.h"
#include "recorder.h"
#include "remote_block.h"
#include "row_box.h"
#include "state_kind.h"
#include "thermal_state.h"
#include "timestamps.h"
#include "transfers.h"

namespace lbm::backend {

/// What a block computes.
struct BlockSpec {
    const StateKind* state = &state_kind<TwoLattice>;  // how it is kept
    StencilKind stencil;
    ModelKind model;
    CollisionKind collision;
    NumberKind precision;
    NumberKind storage;
    int size[3];                     // nz = 1 in two dimensions
    bool self_periodic[3];           // axes along which the block is its own neighbour
    std::vector<double> parameters;  // of the collision, in its order (lattice/parameters.h)
    double omega;                    // its rate of the stress
    bool has_eddy_viscosity;         // whether an eddy viscosity changes that
    HeatParameters<double> heat;     // of hybrid thermal models
    double gravity[3];               // acceleration, of multispeed models
    int stored[6];                   // numbers that each cell before a face keeps; 0 where the block has none
    std::shared_ptr<const custom::CustomCollision> custom = nullptr;  // in place of a member of the list
};

/// The parameters of a collision in their own type.
template <class Parameters>
Parameters parameters_of(const BlockSpec& spec) {
    return parameters_from<Parameters>(spec.parameters.data());
}

/// Whether a temperature lies beside the populations, stored as they are.
inline bool is_hybrid(const BlockSpec& spec) { return spec.model == model_kind<HybridThermal>; }
/// Whether populations carry the energy, and so have a temperature.
inline bool is_multispeed(const BlockSpec& spec) { return spec.model == model_kind<MultispeedThermal>; }
inline bool has_temperature(const BlockSpec& spec) { return is_hybrid(spec) || is_multispeed(spec); }

/// The phases that the steps of a block take turns in.
inline std::vector<Phase> phases_of(const BlockSpec& spec) {
    std::vector<Phase> phases(std::size_t(spec.state->phases));
    for (std::size_t k = 0; k < phases.size(); ++k) {
        phases[k] = Phase(int(spec.state->first_phase) + int(k));
    }
    return phases;
}

/// Cells around a block that one launch of its update reaches.
inline int halo_depth(const BlockSpec& spec) {
    const int reach = with_stencil(spec.stencil, [](auto s) { return decltype(s)::reach; });
    return reach * spec.state->steps_per_launch;
}

/// An update kernel on a GPU, and what it takes of it.
struct KernelFigures {
    Phase phase;
    int lanes;    // neighbouring cells a thread
    int threads;  // a thread block
    int registers;
    int local_bytes;   // of a thread's stack
    double occupancy;  // threads at work at once, of those that a multiprocessor could hold
};

struct Totals {
    double mass;
    double momentum[3];
    double energy;
    double heat;  // sum of the temperature
};

struct Cell {
    int x, y, z;
};

/// Arrays that go in and out have x fastest, then y, z and the component.
class BlockState : public EventSource {
public:
    virtual const Address& address() const = 0;
    virtual std::size_t bytes() const = 0;
    /// The kernels of the next steps; none on a CPU.
    virtual std::vector<KernelFigures> update_kernels() const { return {}; }

    /// The plan stays the caller's and must outlive the block.
    virtual void set_plan(const LinkPlan& plan) = 0;
    /// The values of the plan's wall links, or of links of bodies, are others than at the last call.
    virtual void plan_values_changed() = 0;
    /// Cells that hold no fluid, and their wall velocity (null: at rest); both stay the caller's. Call it again when
    /// they have changed.
    virtual void set_solid(const std::uint8_t* solid, const double* velocity) = 0;
    /// A uniform force, or a field of D components that is copied in; neither for none.
    virtual void set_force(const double* uniform, const double* field) = 0;

    /// Of the last step, or the one whose shell has been updated.
    virtual Phase phase() const = 0;
    /// One of its lattices, 0 or 1, in the memory of the device; the same where it has but one.
    virtual void* lattice(int which) const = 0;
    virtual std::unique_ptr<Transfers> make_transfers(const std::vector<Transfer>& list) = 0;
    /// The rows that update_shell() leaves to update_interior(): nothing that the exchange reads or writes is in them.
    /// None of them to begin with; transfers are made after it is called.
    virtual void set_interior(const RowBox& rows) = 0;
    virtual void apply_boundaries() = 0;
    /// Gives the plan's boundary cells the numbers that their conditions start with, in a state that was set.
    virtual void start_boundary_numbers() = 0;
    /// Those of the state, cell by cell as the plan lists them.
    virtual void boundary_numbers(double* out) const = 0;
    virtual void set_boundary_numbers(const double* values) = 0;
    /// Advances by so many steps, at most those that one launch of its state does. From then on phase() and lattice()
    /// are those of the last of them.
    virtual void update_shell(int steps) = 0;
    /// Whatever is asked for between the two begins after the shell, and need not wait for the interior.
    virtual void update_interior() = 0;

    /// Notes when what has been asked for so far is done; of what is done side by side, the part that the moment is of.
    virtual void record(Timestamp moment) = 0;
    /// Seconds between the last notes of two moments, both past.
    virtual double seconds_between(Timestamp from, Timestamp to) const = 0;

    /// Whether calls return before their work is done.
    virtual bool is_asynchronous() const { return false; }
    /// Calls work with the block's device as that of the thread, for libraries that want one.
    virtual void on_device(const std::function<void()>& work) const { work(); }
    /// Marks the end of all that has been asked for so far.
    virtual void record_event(int slot) { static_cast<void>(slot); }
    /// What is asked for from now on begins after what another block has marked.
    virtual void wait_for(const EventSource& other, int slot) { other.wait(slot); }
    /// By which other processes of the host open this block (open_block); empty where it cannot be shared.
    virtual std::string share() { return {}; }
    /// None of them has.
    virtual void unshare() {}
    /// After so many updates from its start the state lies where it lay, and the next ones are launched alike.
    virtual int updates_of_cycle() const { return 1; }
    virtual bool at_start_of_cycle() const { return true; }
    /// Grows whenever updates are no more launched with the arguments and addresses that they were launched with.
    virtual Index revision() const { return 0; }
    /// A recorder of what this block and its `mates` are asked for, which must outlive it; null where they cannot be
    /// recorded together.
    virtual std::unique_ptr<Recorder> make_recorder(const std::vector<BlockState*>& mates) {
        static_cast<void>(mates);
        return nullptr;
    }

    /// Equilibrium, and first-order parts where gradients are wanted.
    virtual void initialize(const InitialFields& fields) = 0;

    virtual void density(float* out) const = 0;
    virtual void density(double* out) const = 0;
    virtual void velocity(float* out) const = 0;
    virtual void velocity(double* out) const = 0;
    virtual void populations(float* out) const = 0;
    virtual void populations(double* out) const = 0;
    virtual void set_populations(const double* values) = 0;
    /// A field of now in the memory of the device, in the arithmetic type; throws std::invalid_argument on the CPU.
    /// A temperature is the stored one plus `reference`, but 0 in solid cells.
    virtual std::shared_ptr<DeviceArray> device_field(FieldName name, double reference) const {
        static_cast<void>(name);
        static_cast<void>(reference);
        throw std::invalid_argument("the fields of a CPU's block are in the memory of the host");
    }
    /// The stored numbers themselves.
    virtual void get_state(void* out) const = 0;
    /// Setting populations or a state loses the temperature.
    virtual void set_state(const void* values) = 0;

    /// Null where the fluid has no temperature.
    virtual ThermalState* thermal() { return nullptr; }

    virtual ForceAndTorque body_force(const std::vector<BodyLink>& links, const double center[3]) const = 0;
    virtual Totals totals() const = 0;
    /// Squared norms of u - u_last and of u; remembers u as u_last. The first call gives an infinite change.
    virtual void velocity_change(double& change2, double& norm2) = 0;
    virtual std::optional<Cell> find_diverged() const = 0;
};

}  // namespace lbm::backend
