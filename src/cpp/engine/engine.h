// A simulation: the layout's blocks, their halo plans, and their steps.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../backend/devices.h"
#include "../comm/communicator.h"
#include "../process/fork.h"
#include "boundary_halo_plan.h"
#include "domain.h"
#include "executor.h"
#include "field_parts.h"
#include "halo_exchange.h"
#include "layout.h"
#include "phase_times.h"
#include "setup.h"

namespace lbm::engine {

/// The most steps that are counted; a double holds each number up to it.
constexpr Index max_steps = Index(1) << 53;

class Engine {
public:
    /// Allocates; the state is at rest with density 1. Throws std::invalid_argument for a setup that cannot be.
    explicit Engine(const Setup& setup);

    /// Bytes of lattice that an engine of this setup would allocate on a rank, by device; `setup` needs no
    /// communicator.
    static std::map<std::string, std::size_t> memory_needed(const Setup& setup, int rank = 0);

    /// Makes the cells of mask solid; velocity is empty (at rest), D values, or D a cell. Returns the body's index.
    /// With a temperature it is empty for an adiabatic body, one value, or one a cell.
    int add_body(const std::vector<bool>& mask, std::vector<double> velocity, std::vector<double> temperature = {});
    /// A body that has a velocity may be given another.
    void set_body_velocity(int body, std::vector<double> velocity);
    void set_face_velocity(int face, std::vector<double> velocity);
    /// The number that the condition of a face takes, such as a density, by whose name errors tell of it.
    void set_face_number(int face, std::vector<double> number, const std::string& name = "number");
    /// Empty (none), D values, or D a cell.
    void set_force(const std::vector<double>& force);
    /// One value, or one a face cell; of an isothermal face.
    void set_face_temperature(int face, std::vector<double> temperature);
    /// Of a body that was added with one.
    void set_body_temperature(int body, std::vector<double> temperature);
    /// Empty (none), one value, or one a cell.
    void set_heat_source(const std::vector<double>& source);

    /// Also makes the mean of the density over the fluid the reference density.
    void initialize(const double* density, const double* velocity, bool nonequilibrium,
                    const double* temperature = nullptr);
    /// Up to max_steps in all. Throws std::runtime_error after an error in a step, until a state is set.
    void step(Index steps);

    /// The density that moving walls push the fluid with and outflows relax to; 1 until the state is initialized.
    double reference_density() const { return domain_.reference_density; }
    void set_reference_density(double density);

    Index steps() const { return steps_; }
    void set_steps(Index steps);

    /// Fields of the window, in float or double; populations are Q components. Cells of it that belong to other
    /// processes are left as they are.
    template <class T>
    void density(T* out) {
        read_parts(out, 1, [](const auto& block, T* part) { block.density(part); });
    }
    template <class T>
    void velocity(T* out) {
        read_parts(out, domain_.D, [](const auto& block, T* part) { block.velocity(part); });
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
    /// Heat into the fluid in a step through a cell of an isothermal face, of the whole domain.
    std::vector<double> heat_flux(int face);
    /// Their mean over the fluid cells.
    double mean_heat_flux(int face);
    /// Heat into the fluid in a step off a body.
    struct BodyHeat {
        std::vector<backend::Cell> cells;  // fluid cells beside it, in this process
        std::vector<double> flux, area;    // of each
    };
    BodyHeat body_heat_flux(int body);
    struct BodyHeatRate {
        double rate, area;
    };
    BodyHeatRate body_heat_rate(int body);
    /// Largest over the fluid cells since the last call.
    double temperature_change();

    /// How many numbers each cell before a face keeps from step to step, as its condition says.
    int boundary_number_count(int face) const;
    /// Those of all cells of the face, number by number; 0 for solid cells. They begin anew when a state is set.
    std::vector<double> boundary_numbers(int face);
    /// After the state, which they are of.
    void set_boundary_numbers(int face, const std::vector<double>& values);

    void set_populations(const double* values);
    /// The stored numbers of the populations themselves.
    void get_state(void* out);
    void set_state(const void* values);
    /// Throws std::invalid_argument unless one block on a GPU is all.
    /// A temperature is the stored one plus `reference`.
    std::shared_ptr<backend::DeviceArray> device_field(backend::FieldName name, double reference = 0);
    /// The cell of the lowest number that holds no sane state.
    std::optional<backend::Cell> find_diverged();

    /// Whoever calls a member holds this, but for those that only read what the constructor has set. Throws
    /// process::ForkError in a child that cannot use the engine, as it is on a GPU or one of several ranks.
    process::Mutex& mutex() const;
    /// Whether it can be destroyed: a child leaves what it has not used itself as it is.
    bool is_of_this_process() const { return mutex_.is_of_this_process(); }

    backend::ForceAndTorque body_force(int body, const double (&center)[3]);
    backend::Totals totals();
    double velocity_change();

    std::size_t bytes() const;
    const Domain& domain() const { return domain_; }
    int population_count() const;
    /// The kernels of the next steps of the first block; none on a CPU.
    std::vector<backend::KernelFigures> update_kernels() const { return parts_.front().state->update_kernels(); }
    /// Of the whole domain.
    const backend::BlockSpec& spec() const { return spec_; }
    const Layout& layout() const { return layout_; }
    /// Between blocks, by their numbers in the layout.
    const std::vector<HaloExchange::Link>& links();
    /// Since the start, the mean of this process's blocks. On GPUs the last step of each call of step() stands for all
    /// of them; of one block on a GPU nothing is known.
    const PhaseTimes& phase_times() const { return phase_times_; }
    /// Whether a block is updated while the exchange goes on.
    bool overlaps() const;
    const backend::DeviceOptions& device() const { return device_; }
    /// The box of the domain whose fields this process gives and takes.
    const Box& window() const { return window_; }
    int bodies() const { return int(domain_.body_velocity.size()); }

private:
    /// A block of this process and what belongs to it.
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
    backend::RowBox interior_of(const Part& part) const;
    void state_is_set();
    void run_steps(Index steps);
    void run_update(int steps);
    void record(backend::Timestamp moment, const std::vector<backend::BlockState*>& states) const;
    void add_phase_times(double steps);
    std::unique_ptr<HaloExchange> make_exchange(const std::vector<BlockPlacement>& placements) const;
    void prepare();
    void set_face_value(int face, boundary::Value kind, const std::string& what, std::vector<double> values);
    void mark_solid();
    void rebuild_solid_velocity();

    template <class T, class Read>
    void read_parts(T* out, int components, Read&& read) {
        prepare_fields();
        for (const Part& part : parts_) {
            put_part(out, window_, part.place, components, [&](T* data) { read(*part.state, data); });
        }
    }
    /// Calls give(block, its part of the array of a window); nothing is changed if the memory for the parts is not to
    /// be had.
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
    /// Before fields are read.
    void prepare_fields();
    void prepare_boundary_numbers();
    void check_thermal() const;
    /// Whether the fluid has a temperature, of whatever model.
    void check_temperature() const;
    void bring_halos();
    void wait_for_blocks() const;
    /// Before heat through walls is read, which may be of temperatures beyond a block.
    void prepare_heat();
    template <class T>
    void give_solid_temperature(T* out) const;
    /// Calls set(block) for a block whose temperature must outlive it.
    template <class Set>
    void keep_temperature(backend::BlockState& block, Set&& set) {
        const Address& a = block.address();
        std::vector<double> temperature(domain_.heated ? std::size_t(Index(a.nx) * a.ny * a.nz) : 0);
        if (domain_.heated) {
            block.thermal()->temperature(temperature.data());
        }
        set(block);
        if (domain_.heated) {
            block.thermal()->set_temperature(temperature.data());
        }
    }

    Domain domain_;
    backend::BlockSpec spec_;
    backend::DeviceOptions device_;
    Layout layout_;
    std::shared_ptr<const comm::Communicator> comm_;
    Box whole_, window_;
    std::vector<Part> parts_;
    /// Of the parts: all, those that work by themselves first; and either kind.
    std::vector<backend::BlockState*> states_, by_themselves_, by_host_;
    std::string channel_;
    bool has_interiors_;
    /// Whole ones take each other's place: messages go before the buffers that they lie in.
    std::unique_ptr<HaloExchange> exchange_ = std::make_unique<HaloExchange>();
    std::unique_ptr<Executor> executor_;  // after the parts and the exchange, whose steps it has recorded
    bool halos_are_current_ = false;      // the next step finds what it imports
    bool boundary_numbers_are_current_ = false;
    bool is_whole_ = true;  // all blocks are after the same step
    bool plan_is_current_ = false;
    bool values_are_current_ = false;
    bool solid_velocity_is_current_ = true;  // of bodies that move; only fields show it
    bool notes_ = false;                     // of the moments of each step
    PhaseTimes phase_times_;
    Index steps_ = 0;
    mutable process::Mutex mutex_;
};

}  // namespace lbm::engine
