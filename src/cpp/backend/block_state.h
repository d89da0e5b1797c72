// The interface between the engine and the state of one block on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../lattice/address.h"
#include "../lattice/moment_orders.h"
#include "../lattice/parameters.h"
#include "../lattice/temperature.h"
#include "cell_box.h"
#include "cell_statistics.h"
#include "custom/collision.h"
#include "device_array.h"
#include "extremes.h"
#include "gpu_inputs.h"
#include "initial_state.h"
#include "kinds.h"
#include "links.h"
#include "moving_state.h"
#include "point_samples.h"
#include "recorder.h"
#include "remote_block.h"
#include "row_box.h"
#include "scaled_state.h"
#include "state_kind.h"
#include "state_samples.h"
#include "step_batch.h"
#include "thermal_state.h"
#include "timestamps.h"
#include "transfers.h"
#include "turbulence_state.h"

namespace lbm::backend {

/// What a block computes, and how it stores its state.
struct BlockSpec {
    const StateKind* state = &state_kind<TwoLattice>;  // streaming pattern
    StencilKind stencil;
    ModelKind model;
    CollisionKind collision;
    NumberKind precision;
    NumberKind storage;
    int size[3];                     // nz = 1 in two dimensions
    bool self_periodic[3];           // axes along which the block is its own neighbour
    std::vector<double> parameters;  // of the collision, in its order (lattice/parameters.h)
    double omega;                    // relaxation rate of the stress
    double compressibility = 1;      // 0 with the incompressible equilibrium (lattice/inertia.h)
    bool has_eddy_viscosity;         // whether the collision computes an eddy viscosity from the local stress
    HeatParameters<double> heat;     // of the hybrid thermal model
    double gravity[3];               // acceleration, of the multispeed thermal model
    int stored[6];                   // numbers kept by each boundary cell at a face; 0 where the block has none
    std::shared_ptr<const custom::CustomCollision> custom = nullptr;  // replaces a member of the list of collisions
    bool cuts_rows = false;  // whether the block has only a part of the domain's rows, and others the rest
    bool is_part = false;    // whether the domain has other blocks
    TurbulenceKind turbulence = no_turbulence;  // model of an eddy viscosity of velocity gradients
    double turbulence_factor = 0;               // of its constant
    int refresh_every = 1;                      // steps for which that eddy viscosity holds
    bool takes_strain = false;                  // whether the collision takes the strain rate of velocity gradients
};

/// The parameters of a collision as its parameter struct.
template <class Parameters>
Parameters parameters_of(const BlockSpec& spec) {
    return parameters_from<Parameters>(spec.parameters.data());
}

/// Whether the block stores a temperature in addition to the populations (hybrid thermal model).
inline bool is_hybrid(const BlockSpec& spec) { return spec.model == model_kind<HybridThermal>; }
/// Whether the populations carry the energy, and with it the temperature (multispeed thermal model).
inline bool is_multispeed(const BlockSpec& spec) { return spec.model == model_kind<MultispeedThermal>; }
inline bool has_temperature(const BlockSpec& spec) { return is_hybrid(spec) || is_multispeed(spec); }

/// Whether velocities are kept from step to step, for an eddy viscosity or a strain rate of their gradients.
inline bool keeps_velocity(const BlockSpec& spec) { return spec.turbulence != no_turbulence || spec.takes_strain; }

/// The numbers that a cell keeps of the flow.
inline int numbers_of_cell(const BlockSpec& spec) {
    return with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        return spec.state->keeps_moments ? moment_count<S> : S::Q;
    });
}

/// The phases through which the steps of a block cycle.
inline std::vector<Phase> phases_of(const BlockSpec& spec) {
    std::vector<Phase> phases(std::size_t(spec.state->phases));
    for (std::size_t k = 0; k < phases.size(); ++k) {
        phases[k] = Phase(int(spec.state->first_phase) + int(k));
    }
    return phases;
}

/// The depth of the halo: how many cells beyond a block one launch of its update reads.
inline int halo_depth(const BlockSpec& spec) {
    const int radius = with_stencil(spec.stencil, [](auto s) { return decltype(s)::radius; });
    return radius * spec.state->steps_per_launch;
}

/// The launch configuration and the resources of an update kernel on a GPU.
struct KernelFigures {
    Phase phase;
    int cells_per_thread;  // cells per thread, neighbours along x
    int threads;           // threads per block
    int registers;
    int local_bytes;        // local memory (stack) per thread
    double occupancy;       // resident threads as a fraction of those that a multiprocessor can hold
    std::string part = {};  // which cells it updates; empty for all, or all others
};

/// Sums over the fluid cells of a block.
struct Totals {
    double mass;
    double momentum[3];
    double energy;  // kinetic
    double heat;    // sum of the temperature; of the internal energy rho T in the multispeed thermal model

    /// Adds the sums over other cells.
    void join(const Totals& other) {
        mass += other.mass;
        energy += other.energy;
        heat += other.heat;
        for (int d = 0; d < 3; ++d) {
            momentum[d] += other.momentum[d];
        }
    }
};

/// Gives the links of a body as they are now, always as many.
using BodyLinksNow = std::function<const std::vector<BodyLink>&()>;

/// The state of a block and the operations on it. Arrays that are passed in and out have x fastest, then y, z and the
/// component.
class BlockState : public EventSource {
public:
    virtual const Address& address() const = 0;
    virtual std::size_t bytes() const = 0;
    /// The update kernels of the next steps; empty on the CPU.
    virtual std::vector<KernelFigures> update_kernels() const { return {}; }

    /// Sets the boundary-and-halo plan. The caller owns it; it must outlive the block.
    virtual void set_plan(const LinkPlan& plan) = 0;
    /// Tells the block that values of the plan's wall links, or of links of bodies, have changed since the last call.
    virtual void plan_values_changed() = 0;
    /// To be called after values of walls have changed in the plan that the block computes by itself: what it has of
    /// the heat through walls is stale.
    virtual void heat_samples_changed() {}
    /// Sets which cells are solid, and their wall velocity (null: at rest). The caller owns both arrays, and calls this
    /// again when they have changed.
    virtual void set_solid(const std::uint8_t* solid, const double* velocity) = 0;
    /// Sets a uniform force, or a field of D components (of moments: MomentForceRows), copied; both null for none. With
    /// a `series` of 0 or more the force of each step is this times that factor of it (ScaledState), in float64.
    virtual void set_force(const double* uniform, const double* field, int series) = 0;

    /// The phase of the last step, or of the current one once its shell has been updated.
    virtual Phase phase() const = 0;
    /// Lattice 0 or 1 in the memory of the device; both are the same if the block has only one.
    virtual void* lattice(int which) const = 0;
    virtual std::unique_ptr<Transfers> make_transfers(const std::vector<Transfer>& list) = 0;
    /// The same for the copies of the late exchange, of a block with a late interior.
    virtual std::unique_ptr<Transfers> make_late_transfers(const std::vector<Transfer>& list) {
        return make_transfers(list);
    }
    /// Begins the late exchange: makes its copies wait for the block's whole step and its other copies, and records an
    /// event before them.
    virtual void begin_late(int slot) { static_cast<void>(slot); }
    /// Makes the copies of the late exchange wait for an event of another block.
    virtual void wait_late(const EventSource& other, int slot) { other.wait(slot); }
    /// Ends the late exchange: the next step updates the late interior and the rows beside it after these copies.
    virtual void end_late() {}
    /// Sets the cells that update_shell() leaves to update_interior(). The exchange must not read or write links
    /// between them. Initially there are none; call this before make_transfers().
    virtual void set_interior(const Interior& interior) = 0;
    /// Supplies, by the plan, all incoming populations that do not stream from a fluid cell of this block.
    virtual void apply_boundaries() = 0;
    /// After apply_boundaries(), changes the incoming populations of cells that are changed as a whole, and computes
    /// what else needs all that come in: temperatures next to bodies. Only an update may follow, as the new populations
    /// lie where post-collision ones of neighbours did.
    virtual void change_incoming() {}
    /// Initialises the numbers of the plan's boundary cells from a state that was set.
    virtual void start_boundary_numbers() = 0;
    /// The numbers of the boundary cells, cell by cell in the order of the plan.
    virtual void boundary_numbers(double* out) const = 0;
    virtual void set_boundary_numbers(const double* values) = 0;
    /// Begins an update of so many steps, at most StateKind::steps_per_launch, with the shell. From then on phase() and
    /// lattice() are those after the last of these steps.
    virtual void update_shell(int steps) = 0;
    /// Completes the update with the interior. Work requested between the two calls starts after the shell, and need
    /// not wait for the interior.
    virtual void update_interior() = 0;

    /// Records the time at which the work requested so far ends; if shell and interior are updated concurrently, only
    /// the work to which the timestamp belongs.
    virtual void record(Timestamp timestamp) = 0;
    /// Seconds between the last recordings of two timestamps, both of which have been reached.
    virtual double seconds_between(Timestamp from, Timestamp to) const = 0;

    /// Whether calls only enqueue work on the device and return; the host must wait before it reads a result.
    virtual bool is_asynchronous() const { return false; }
    /// Calls work() with the block's device as the current one of the thread, for libraries that need that.
    virtual void on_device(const std::function<void()>& work) const { work(); }
    /// Records an event after all work requested so far.
    virtual void record_event(int slot) { static_cast<void>(slot); }
    /// Makes all work requested from now on wait for an event of another block.
    virtual void wait_for(const EventSource& other, int slot) { other.wait(slot); }
    /// Returns a handle by which other processes of the host open this block (open_block); empty if it cannot be
    /// shared.
    virtual std::string share() { return {}; }
    /// Tells the block that no other process has opened it.
    virtual void unshare() {}
    /// The number of updates in a cycle, after which the state is at the same addresses and in the same phase again, so
    /// that the launches repeat.
    virtual int updates_of_cycle() const { return 1; }
    /// Which update of the cycle is the next one: a number that no other update of it has.
    virtual int place_in_cycle() const { return 0; }
    /// How many updates, from the next one on, launch what those of the cycle do: 0 where the next one does not, as the
    /// first of a state that was set, or one that does what most updates do not.
    virtual Index updates_in_cycle() const { return std::numeric_limits<Index>::max(); }
    /// Counts updates that were replayed from a recording; a negative number takes back those that were only recorded.
    /// Both are whole cycles.
    virtual void count_replayed(Index updates) { static_cast<void>(updates); }
    /// A counter that grows whenever an argument or an address with which updates are launched changes.
    virtual Index revision() const { return 0; }
    /// Makes a recorder of the work of this block and its `mates`, all of which must outlive it; null if they cannot be
    /// recorded together.
    virtual std::unique_ptr<Recorder> make_recorder(const std::vector<BlockState*>& mates) {
        static_cast<void>(mates);
        return nullptr;
    }
    /// Makes a batch of this block and its `mates`, all of which must outlive it; null if their work cannot be launched
    /// together.
    virtual std::unique_ptr<StepBatch> make_batch(const std::vector<BlockState*>& mates) {
        static_cast<void>(mates);
        return nullptr;
    }

    /// Sets the state to equilibrium, plus the first-order non-equilibrium part if gradients are wanted.
    virtual void initialize(const InitialFields& fields) = 0;

    /// The density, and the velocity, of the cells of a box.
    virtual void density(float* out, const CellBox& box) const = 0;
    virtual void density(double* out, const CellBox& box) const = 0;
    virtual void velocity(float* out, const CellBox& box) const = 0;
    virtual void velocity(double* out, const CellBox& box) const = 0;
    virtual void populations(float* out) const = 0;
    virtual void populations(double* out) const = 0;
    virtual void set_populations(const double* values) = 0;
    /// Computes a field of the current state in the memory of the device, in the arithmetic type; throws
    /// std::invalid_argument on the CPU. A temperature is the stored one plus `reference`, and 0 in solid cells.
    virtual std::shared_ptr<DeviceArray> device_field(FieldName name, double reference) const {
        static_cast<void>(name);
        static_cast<void>(reference);
        throw std::invalid_argument("the fields of a CPU's block are in the memory of the host");
    }
    /// Copies the stored numbers, unconverted.
    virtual void get_state(void* out) const = 0;
    /// Sets the stored numbers. After this, as after set_populations(), the temperature of the hybrid thermal model is
    /// undefined and has to be set again.
    virtual void set_state(const void* values) = 0;

    /// The block's temperature; null if the model has none.
    virtual ThermalState* thermal() { return nullptr; }

    /// What takes fields from the memory of GPUs; null of a block that is on none.
    virtual GpuInputs* gpu_inputs() { return nullptr; }

    /// The factors of the plan's scaled values, by which the block computes these itself; null of a block that takes no
    /// walls.
    virtual ScaledState* scaled() { return nullptr; }

    /// The bodies that move; null of a block that takes no walls.
    virtual MovingState* moving() { return nullptr; }

    /// The block's eddy viscosity; null if the fluid has none.
    virtual TurbulenceState* turbulence() { return nullptr; }

    virtual ForceAndTorque body_force(const std::vector<BodyLink>& links, const double center[3]) const = 0;
    /// Makes what records fields of some cells of the block, which must outlive it.
    virtual std::unique_ptr<StateSamples> make_point_samples(const std::vector<Cell>& cells,
                                                             const PointFields& fields) = 0;
    /// Makes what records the numbers of body_force(): three of the force, three of the torque.
    virtual std::unique_ptr<StateSamples> make_force_samples(const BodyLinksNow& links, const double (&center)[3]) = 0;
    virtual Totals totals() const = 0;
    /// Squared norms of u - u_last and of u; then sets u_last = u. The first call gives an infinite change.
    virtual void velocity_change(double& change2, double& norm2) = 0;
    /// The fastest cell, the range of the density, and the first cell that is not valid; cells are those of the block.
    virtual Extremes extremes() const = 0;
    /// Makes statistics of the block's cells, without any slots yet; the block must outlive them.
    virtual std::unique_ptr<CellStatistics> make_cell_statistics() {
        throw std::invalid_argument("statistics: blocks of this kind have none");
    }
};

}  // namespace lbm::backend
