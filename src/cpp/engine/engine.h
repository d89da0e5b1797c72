// The engine: a simulation as the bindings see it. It owns the blocks of this process, their boundary-and-halo plans
// and the halo exchange, and steps them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../backend/devices.h"
#include "../comm/communicator.h"
#include "../process/fork.h"
#include "boundary_halo_plan.h"
#include "domain.h"
#include "executor.h"
#include "field_parts.h"
#include "halo_exchange.h"
#include "initial_values.h"
#include "layout.h"
#include "sampler.h"
#include "series_sampler.h"
#include "setup.h"
#include "step_times.h"
#include "time_factors.h"

namespace lbm::engine {

/// The largest number of steps; a double represents every integer up to it exactly.
constexpr Index max_steps = Index(1) << 53;

class Engine {
public:
    /// Allocates the blocks of this process and sets the state to rest with density 1. Throws std::invalid_argument for
    /// an invalid setup.
    explicit Engine(const Setup& setup);

    /// The bytes of lattice, and of the cells of sponges, that an engine of this setup would allocate on a rank, by
    /// device. `setup` needs no communicator.
    static std::map<std::string, std::size_t> memory_needed(const Setup& setup, int rank = 0,
                                                            const std::vector<Sponge>& sponges = {});

    /// Makes the cells of `mask` a solid body and returns its index. `velocity` is empty (at rest), D values, or D
    /// values for each cell; `temperature` is empty (adiabatic), one value, or one for each cell. The cells are those
    /// of domain().known, for the other members those of window().
    int add_body(const std::vector<bool>& mask, std::vector<double> velocity, std::vector<double> temperature = {},
                 CutLinks cuts = {});
    /// Has a body that was added without cells, in the flow of an isothermal fluid, move from now on: its shape is
    /// looked up anew in each step, at the poses that the factors have. Before the first step.
    void move_body(int body, backend::MovingBodyData motion);
    bool moves(int body) const;
    /// The body must have been added with a velocity.
    void set_body_velocity(int body, std::vector<double> velocity);
    /// The body must have been added with velocities of its cut links.
    void set_link_velocity(int body, std::vector<double> velocity);
    /// Adds a sponge before a face, of the whole domain.
    void add_sponge(const Sponge& sponge);
    void set_face_velocity(int face, std::vector<double> velocity);
    /// Sets the number that the condition of a face takes, such as a density. Errors call it `name`.
    void set_face_number(int face, std::vector<double> number, const std::string& name = "number");
    /// `force` is empty (none), D values, or D values for each cell.
    void set_force(const std::vector<double>& force);
    void set_force_field(const double* force) { give_force(nullptr, force, -1); }
    /// The same of a field in a GPU's memory, which is not needed any more afterwards. Throws std::invalid_argument for
    /// other blocks than on GPUs, and where the array lacks cells of the local subdomain.
    void set_force_array(const backend::GpuArray& force);
    /// The force field of the local subdomain as its blocks have it, which must be on GPUs and have one.
    void force_field(double* out) const;
    /// `temperature` is one value, or one for each cell of the face, which must be isothermal.
    void set_face_temperature(int face, std::vector<double> temperature);
    /// The body must have been added with a temperature.
    void set_body_temperature(int body, std::vector<double> temperature);
    /// The same where the surface of a body cuts links, of one that was added with temperatures there.
    void set_link_temperature(int body, std::vector<double> temperature);
    /// `source` is empty (none), one value, or one for each cell.
    void set_heat_source(const std::vector<double>& source);
    void set_heat_source_field(const double* source);
    /// The same as with a force.
    void set_heat_source_array(const backend::GpuArray& source);
    void heat_source_field(double* out) const;

    /// From now on the value of a face, which its condition takes, follows from the factors of the step that is made;
    /// likewise the velocity of a body that was added with one. A value without a part is given for each cell of the
    /// face, or for the cells of the body at its places.
    void scale_face_value(int face, boundary::Value kind, ScaledValue value);
    void scale_body_velocity(int body, ScaledValue value);
    void scale_link_velocity(int body, ScaledValue value);
    /// The same of the temperature of a face or body that takes one, with `offset` subtracted from a product.
    void scale_face_temperature(int face, ScaledValue value, double offset);
    void scale_body_temperature(int body, ScaledValue value, double offset);
    void scale_link_temperature(int body, ScaledValue value, double offset);
    /// The same of the force, until another one is set: the product of a `uniform` part or of a `field`, the other
    /// being null, with a factor. `factor` is that of the present state, `before` that of the step before.
    void scale_force(int series, const double* uniform, const double* field, double factor, double before);
    /// Sets the factor of such a force for a state that is set, until steps are made or factors given. By that of the
    /// step before populations follow from moments.
    void set_force_factor(double factor, double before);
    /// Sets the factors of the steps from `first` on, `series` for each. Steps need those of each of them, and of the
    /// step that would follow.
    void set_factors(Index first, int series, std::vector<double> table);
    /// Sets what changes in time to its values in the next step, for fields and forces that depend on them.
    void bring_values_to_now() {
        prepare();
        bring_values_to(steps_);
    }

    /// Sets the state and makes the mean density of the fluid the reference density. With `nonequilibrium` the
    /// first-order part that follows from gradients is added. Collective. Arrays in the memory of GPUs are for blocks
    /// on GPUs, a density among them for a single process.
    void initialize(const InitialValues& given, bool nonequilibrium);
    /// The cells that fields of an initial state cover.
    const Box& initial_box(bool nonequilibrium) const { return nonequilibrium ? domain_.known : window_; }
    /// The cells that a force field covers: with cells that keep moments those around the local subdomain too.
    const Box& force_box() const { return spec_.state->keeps_moments ? domain_.known : window_; }
    /// The same with fields only (null: density 1, at rest).
    void initialize(const double* density, const double* velocity, bool nonequilibrium,
                    const double* temperature = nullptr);
    /// Advances by so many steps, max_steps in total at most. After an error in a step it throws std::runtime_error
    /// until a state is set.
    void step(Index steps);

    /// Has a sampler look at the state between steps from now on.
    void add_sampler(std::shared_ptr<Sampler> sampler) { samplers_.push_back(std::move(sampler)); }
    void remove_sampler(const std::shared_ptr<Sampler>& sampler);
    /// Has fields at points recorded after some steps; see SeriesSampler. Rows are of numbers by component and point.
    std::shared_ptr<SeriesSampler> add_point_sampler(PointSetup setup, Index every, Index start);
    /// Has the numbers of body_force() recorded: three of the force, three of the torque. The cells of bodies must not
    /// change afterwards.
    std::shared_ptr<SeriesSampler> add_force_sampler(int body, const double (&center)[3], Index every, Index start);
    /// The same of a body that moves.
    std::shared_ptr<SeriesSampler> add_moving_force_sampler(int body, const backend::TorqueCenter& center, Index every,
                                                            Index start);
    /// The same of the wall on a face, see face_force(). Its velocity must not change in time, but for samples that
    /// take_sample() takes.
    std::shared_ptr<SeriesSampler> add_face_force_sampler(int face, const double (&center)[3], Index every,
                                                          Index start);
    /// Takes a sample of the state and the walls of now, after `step` steps, besides those that are due. Collective.
    void take_sample(SeriesSampler& sampler, Index step);

    /// The density in the momentum term of moving walls, to which outflows relax; 1 until the state is initialized.
    double reference_density() const { return domain_.reference_density; }
    void set_reference_density(double density);

    Index steps() const { return steps_; }
    void set_steps(Index steps);

    /// Fields of this rank's local subdomain, in float or double; populations have Q components. Cells that belong to
    /// other processes are left as they are.
    template <class T>
    void density(T* out) {
        density(out, window_);
    }
    template <class T>
    void velocity(T* out) {
        velocity(out, window_);
    }
    /// The same of a box of the domain, as an array of its cells.
    template <class T>
    void density(T* out, const Box& box) {
        read_box(out, box, 1, [](const auto& block, T* part, const auto& cells) { block.density(part, cells); });
    }
    template <class T>
    void velocity(T* out, const Box& box) {
        read_box(out, box, domain_.D,
                 [](const auto& block, T* part, const auto& cells) { block.velocity(part, cells); });
    }
    template <class T>
    void populations(T* out) {
        read_parts(out, population_count(), [](const auto& block, T* part) { block.populations(part); });
    }
    /// Solid cells have the temperature of their body's surface, or 0.
    template <class T>
    void temperature(T* out) {
        check_temperature();
        read_parts(out, 1, [](auto& block, T* part) { block.thermal()->temperature(part); });
        give_solid_temperature(out);
    }
    void set_temperature(const double* values);
    /// The heat that enters the fluid in a step through each cell of an isothermal face of the whole domain.
    std::vector<double> heat_flux(int face);
    /// The mean of the heat flux over the fluid cells of a face.
    double mean_heat_flux(int face);
    /// The same of the multispeed thermal model, through each cell of a face: what the next step exchanges with the
    /// wall, or Fourier's law (backend::ColumnHeat).
    enum class HeatOf { Exchange, Gradient };
    std::vector<double> column_heat(int face, HeatOf of);
    /// The heat that enters the fluid in a step from a body.
    struct BodyHeat {
        std::vector<backend::Cell> cells;  // the fluid cells of this process next to the body
        std::vector<double> flux, area;    // of each cell
    };
    BodyHeat body_heat_flux(int body);
    struct BodyHeatRate {
        double rate, area;
    };
    BodyHeatRate body_heat_rate(int body);
    /// The largest change of the temperature of a fluid cell since the last call.
    double temperature_change();

    /// The eddy viscosity that the next step relaxes with; 0 in solid cells. Collective.
    template <class T>
    void eddy_viscosity(T* out) {
        prepare_eddy_viscosity();
        read_parts(out, 1, [](auto& block, T* part) { block.turbulence()->eddy_viscosity(part); });
    }
    /// How many numbers a cell are kept for velocity gradients in the next step: the D components of a velocity or one
    /// eddy viscosity; 0 if nothing is taken of them.
    int kept_turbulence_count() const;
    void kept_turbulence(double* out);
    /// Must be called after the state and the number of steps have been set.
    void set_kept_turbulence(const double* values);

    /// How many numbers each boundary cell of a face keeps from step to step, as its condition says.
    int boundary_number_count(int face) const;
    /// The numbers of all boundary cells of the face, number by number; 0 for solid cells. They are initialized
    /// whenever a state is set.
    std::vector<double> boundary_numbers(int face);
    /// Sets the numbers of the boundary cells of some faces; must be called after the state has been set.
    void set_boundary_numbers(const std::map<int, std::vector<double>>& values_by_face);

    void set_populations(const double* values);
    /// The populations in the storage format, bit by bit.
    void get_state(void* out);
    void set_state(const void* values);
    /// A field in a GPU's memory; `reference` is added to a temperature. Throws std::invalid_argument unless the domain
    /// is a single block on a GPU.
    std::shared_ptr<backend::DeviceArray> device_field(backend::FieldName name, double reference = 0);
    /// The fastest cell of the domain, the range of the density, and the first cell that is not valid. Collective.
    backend::Extremes extremes();

    /// Callers of members must hold this mutex, except for members that only read what the constructor has set. Throws
    /// process::ForkError in a forked child that cannot use the engine, which is on a GPU or has several ranks.
    process::Mutex& mutex() const;
    /// Whether the engine may be destroyed: a forked child does not destroy an engine of its parent that it has not
    /// used.
    bool is_of_this_process() const { return mutex_.is_of_this_process(); }

    backend::ForceAndTorque body_force(int body, const double (&center)[3]);
    /// The same of a body that moves, in the coming step.
    backend::ForceAndTorque moving_body_force(int body, const backend::TorqueCenter& center);
    /// The same of the wall on a face. Throws std::invalid_argument unless populations bounce off it half-way.
    backend::ForceAndTorque face_force(int face, const double (&center)[3]);
    backend::Totals totals();
    double velocity_change();

    std::size_t bytes() const;
    const Domain& domain() const { return domain_; }
    int population_count() const;
    /// Numbers of a cell in a state: its populations, or the moments that it keeps in place of these.
    int state_count() const { return backend::numbers_of_cell(spec_); }
    /// The update kernels of the first block; none on a CPU.
    std::vector<backend::KernelFigures> update_kernels() const { return parts_.front().state->update_kernels(); }
    /// The specification of the whole domain as one block.
    const backend::BlockSpec& spec() const { return spec_; }
    const Layout& layout() const { return layout_; }
    /// The connections between blocks.
    const std::vector<HaloExchange::Link>& links();
    /// The times since the start, averaged over this process's blocks. On GPUs only the last step of each call of
    /// step() is timed and stands for all of them; a single block on a GPU is timed where time_single_block() says so.
    const PhaseTimes& phase_times() const { return phase_times_; }
    /// A single block on a GPU is timed from now on, or is no longer: the last step of a call is launched by itself.
    void time_single_block(bool timed) { times_single_block_ = timed; }
    /// Whether the interior of a block is updated during the exchange.
    bool overlaps();
    const backend::DeviceOptions& device() const { return device_; }
    /// The local subdomain, whose fields this process reads and sets.
    const Box& window() const { return window_; }
    int bodies() const { return int(domain_.body_velocity.size()); }

private:
    friend class EngineGroup;        // which updates several engines together
    friend class StatisticsSampler;  // which keeps statistics for each block

    /// A block of this process with its plan and its solid cells.
    struct Part {
        int number;  // in the layout
        Block place;
        BoundaryHaloPlan plan;
        std::vector<std::uint8_t> solid;
        std::vector<double> solid_velocity;
        std::unique_ptr<backend::BlockState> state;  // last, as it refers to the others
    };

    static std::vector<Part> make_parts(const backend::BlockSpec& whole, const Layout& layout, int rank,
                                        const backend::DeviceOptions& device);
    backend::Interior interior_of(const Block& block) const;
    void state_is_set();
    /// Throws unless so many steps can be made now.
    void check_steps(Index steps) const;
    /// Makes so many steps, after `first` that were made. If `more_follow` in the same call nobody waits for them.
    void run_steps(Index first, Index steps, bool more_follow);
    /// Whether the host may request steps and samples while those before go on: between processes it may not, which
    /// signal each other at the end of steps, nor where it steps blocks itself.
    bool goes_on_without_waiting() const;
    bool changes_in_time() const;
    /// Whether values of faces or bodies that flows take change in time.
    bool flow_values_change() const;
    /// Whether temperatures of walls, or velocities that gradients find at them, change in time.
    bool changes_at_walls() const;
    /// Whether the host sets something before each update: what changes at walls of blocks that it updates itself.
    bool sets_values_of_updates() const { return !synchronous_.empty() && changes_at_walls(); }
    void set_values_of_update(Index step);
    /// Sets what changes at walls in the domain and the plans of those blocks for which `chosen(part)` holds.
    template <class Chosen>
    void bring_walls_to(Index step, Chosen&& chosen);
    /// Gives all blocks a force, as BlockState::set_force() takes it.
    void give_force(const double* uniform, const double* field, int series);
    /// Notes by which factor of a step all blocks multiply the force they were given; -1: by none.
    void force_is_scaled_by(int series);
    void check_factors(Index steps) const;
    /// Throws unless there are factors of the coming step.
    void check_factors_of_now() const;
    std::size_t moving_number(int body) const;
    void scaling_is_new();
    void prepare_scaled_values();
    void wall_temperature_was_set();
    /// Sets what blocks need for the step that follows so many; without factors of it, nothing.
    void bring_factors_to(Index step);
    /// Sets all that changes in time to its values in that step, also what is only read then.
    void bring_values_to(Index step);
    /// How many of so many steps can be made before a sample is due.
    Index steps_to_sample(Index steps) const;
    /// Counts steps that were made, and takes the samples that are due after them.
    void count_steps(Index steps);
    /// Asynchronous blocks are given all their work before the host is occupied with the other blocks and the exchange;
    /// the interiors of the others are updated by the host while the exchange goes on.
    void run_update(int steps);
    void update_shells(const std::vector<backend::BlockState*>& states, int steps);
    void update_interiors(const std::vector<backend::BlockState*>& states);
    void record(backend::Timestamp timestamp, const std::vector<backend::BlockState*>& states) const;
    void add_phase_times(double steps);
    std::unique_ptr<HaloExchange> make_exchange(const std::vector<BlockPlacement>& placements) const;
    void prepare();
    std::shared_ptr<SeriesSampler> make_face_force_sampler(int face, const double (&center)[3], Index every,
                                                           Index start);
    void check_face_takes(int face, boundary::Value kind, const std::string& what) const;
    void set_face_value(int face, boundary::Value kind, const std::string& what, std::vector<double> values);
    void mark_solid();
    void rebuild_solid_velocity();
    /// Throws std::invalid_argument unless an array in a GPU's memory has these components and a box of cells, and all
    /// blocks of this process are on GPUs.
    void check_gpu_array(const char* name, const backend::GpuArray& array, int components, const Box& box) const;
    void check_on_gpus(const char* name) const;
    template <class Read>
    void read_from_gpus(const char* name, double* out, int components, Read&& read) const;
    double sum_of_fluid_cells(const backend::GpuArray& array) const;
    /// The mean of an initial density over the fluid cells. Collective.
    double mean_density(const InitialValues& given, const Box& box) const;
    backend::InitialFields fields_at_rest(const Box& box) const;
    void initialize_with_gradients(const Part& part, backend::InitialFields fields, backend::GpuFields arrays);
    static void initialize(const Part& part, const backend::InitialFields& fields, const backend::GpuFields& arrays);

    template <class T, class Read>
    void read_parts(T* out, int components, Read&& read) {
        prepare_fields();
        for (const Part& part : parts_) {
            put_part(out, window_, part.place, components, [&](T* data) { read(*part.state, data); });
        }
    }
    /// Calls read(block, array, cells of the block) for what of a box lies in each block.
    template <class T, class Read>
    void read_box(T* out, const Box& box, int components, Read&& read) {
        prepare_fields();
        for (const Part& part : parts_) {
            Block shared = part.place;  // what of the block lies in the box
            for (int d = 0; d < 3; ++d) {
                const int first = std::max(part.place.offset[d], box.offset[d]);
                const int end = std::min(part.place.offset[d] + part.place.size[d], box.offset[d] + box.size[d]);
                shared.offset[d] = first;
                shared.size[d] = std::max(end - first, 0);
            }
            if (shared.cells() == 0) {
                continue;
            }
            const int(&corner)[3] = part.place.offset;
            const backend::CellBox cells{shared.offset[0] - corner[0],
                                         shared.offset[1] - corner[1],
                                         shared.offset[2] - corner[2],
                                         shared.size[0],
                                         shared.size[1],
                                         shared.size[2]};
            put_part(out, box, shared, components, [&](T* data) { read(*part.state, data, cells); });
        }
    }
    /// Calls give(block, its part of the array of a window). The memory for the parts is allocated first, so that
    /// nothing has changed if that fails.
    template <class T, class Give>
    void give_parts(const T* whole, const Box& window, int components, Give&& give) {
        std::vector<T> scratch;
        if (whole != nullptr) {
            Index largest = 0;
            for (const Part& part : parts_) {
                largest = std::max(largest, part.place.cells() == window.cells() ? 0 : part.place.cells());
            }
            scratch.resize(std::size_t(components * largest));
        }
        for (const Part& part : parts_) {
            give(*part.state, part_of_field(whole, window, part.place, components, scratch));
        }
    }
    /// Must be called before fields are read.
    void prepare_fields();
    void prepare_boundary_numbers();
    void check_eddy_viscosity() const;
    void prepare_velocity();
    void prepare_eddy_viscosity();
    /// Has all blocks supply the incoming populations of the next step, which does so again and finds the same.
    void supply_incoming();
    /// The sum over the parts of all processes of the force and the torque that `of` finds in one.
    template <class Of>
    backend::ForceAndTorque sum_of(Of&& of) const {
        backend::ForceAndTorque sum{};
        for (const Part& part : parts_) {
            sum.join(of(part));
        }
        comm_->sum(sum.force, 3);
        comm_->sum(sum.torque, 3);
        return sum;
    }
    void check_thermal() const;
    /// Throws unless the fluid has a temperature, of whatever model.
    void check_temperature() const;
    /// Runs the exchange if the halos are not those of the next step.
    void update_halos();
    void wait_for_blocks() const;
    /// Must be called before heat through walls is read, which may depend on temperatures of other blocks.
    void prepare_heat();
    template <class T>
    void give_solid_temperature(T* out) const;
    /// Calls set(block), which overwrites the state, and restores the temperature of the block afterwards.
    template <class Set>
    void keep_temperature(backend::BlockState& block, Set&& set) {
        const Address& a = block.address();
        std::vector<double> temperature(domain_.is_hybrid_thermal ? std::size_t(Index(a.nx) * a.ny * a.nz) : 0);
        if (domain_.is_hybrid_thermal) {
            block.thermal()->temperature(temperature.data());
        }
        set(block);
        if (domain_.is_hybrid_thermal) {
            block.thermal()->set_temperature(temperature.data());
        }
    }

    Domain domain_;
    backend::BlockSpec spec_;
    backend::DeviceOptions device_;
    Layout layout_;
    std::shared_ptr<const comm::Communicator> comm_;
    Box window_;
    std::vector<Part> parts_;
    /// The states of all parts, asynchronous ones first; and of the asynchronous ones and the others apart.
    std::vector<backend::BlockState*> states_, asynchronous_, synchronous_;
    std::string channel_;
    bool has_interiors_;
    bool may_be_late_;  // whether interiors may be late, as far as is known of the links
    /// Replaced as a whole, so that messages are destroyed before the buffers that they lie in.
    std::unique_ptr<HaloExchange> exchange_ = std::make_unique<HaloExchange>();
    std::unique_ptr<Executor> executor_;  // declared after the parts and the exchange, whose steps it records
    bool halos_are_current_ = false;      // the imports of the next step are in place
    bool boundary_numbers_are_current_ = false;
    bool velocity_is_current_ = false;  // that which is kept for gradients
    bool is_consistent_ = true;         // all blocks have completed the same step
    bool plan_is_current_ = false;
    bool values_are_current_ = false;
    bool scaled_values_are_listed_ = true;
    TimeFactors factors_;
    std::vector<backend::MovingBodyData> moving_;
    std::vector<int> moving_number_;         // of each body, its place among those that move; -1: it does not
    bool solid_velocity_is_current_ = true;  // of moving bodies; only fields show it
    bool times_single_block_ = false;        // whether a single block on a GPU is timed
    bool records_timestamps_ = false;        // whether each update records its timestamps
    PhaseTimes phase_times_;
    Index untimed_updates_ = 0;  // since phase times were added
    Index steps_ = 0;
    std::vector<std::shared_ptr<Sampler>> samplers_;
    mutable process::Mutex mutex_;
};

}  // namespace lbm::engine
