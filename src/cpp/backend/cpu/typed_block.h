// A block on the CPU for one stencil, arithmetic type and storage type: its lattices, its update, and its fields.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "../block_layout.h"
#include "../initial_state.h"
#include "../multispeed_cells.h"
#include "../wall_links.h"
#include "box_fields.h"
#include "buffer.h"
#include "clear_lattice.h"
#include "cpu_block.h"
#include "host_boundary.h"
#include "host_force.h"
#include "host_heat.h"
#include "host_moving.h"
#include "host_samples.h"
#include "host_scaling.h"
#include "host_statistics.h"
#include "host_transfers.h"
#include "host_turbulence.h"
#include "kernels.h"
#include "row_flow.h"
#include "row_ranges.h"
#include "row_reductions.h"
#include "threads.h"
#include "velocity_change.h"

namespace lbm::cpu {

template <class S, class Real, class Stored>
class TypedBlock final : public backend::BlockState, public backend::ThermalState {
public:
    TypedBlock(const backend::BlockSpec& spec, const CpuOptions& options)
        : spec_(spec),
          threads_(options.threads),
          kernel_(find_kernel(options.isa, spec)),
          heat_(spec, options.threads),
          turbulence_(spec_, options,
                      {[this] { return view(); }, [this](int y, int z, Real* u) { put_velocity(y, z, u); },
                       [this](int x, int y, int z, double (&force)[3]) { force_at(x, y, z, force); },
                       [this](int x, int y, int z) { return heat_.at(view(), x, y, z); }}) {
        arguments_.address = backend::block_address(spec, backend::Device::Cpu);
        arguments_.parameters = spec_.parameters.data();
        arguments_.heat = spec.heat;
        arguments_.compressibility = spec_.compressibility;
        for (int k = 0; k < spec.state->lattices; ++k) {
            lattices_[k] = Buffer(backend::lattice_bytes(spec, backend::Device::Cpu));
            clear_lattice(address(), lattices_[k].template as<Stored>(), threads_);
        }
        arguments_.bypasses_caches =
            lattices_[0].bytes() + lattices_[1].bytes() > std::size_t(threads_) * cache_of_thread;
        restart_phase();
        set_interior({});
    }

    const Address& address() const override { return arguments_.address; }

    std::size_t bytes() const override {
        return lattices_[0].bytes() + lattices_[1].bytes() + force_.bytes() + last_velocity_.bytes() + heat_.bytes() +
               turbulence_.bytes() + scaling_.bytes() + moving_.bytes();
    }

    void set_plan(const backend::LinkPlan& plan) override {
        plan_ = &plan;
        heat_.set_plan(plan);
        turbulence_.set_plan(plan);
        scaling_.set_plan(plan);
    }
    void plan_values_changed() override {}

    void set_solid(const std::uint8_t* solid, const double* velocity) override {
        solid_ = solid;
        solid_velocity_ = velocity;
        turbulence_.set_solid(solid);
    }

    void set_force(const double* uniform, const double* field, int series) override {
        scaling_.set_force_series(series);
        force_.set(address(), uniform, field, scaling_.scales_force(), threads_);
    }

    void set_heat_source(double uniform, const double* field) override {
        heat_.set_source(address(), uniform, field);
        arguments_.heat = heat_.parameters();
        arguments_.heat_field = heat_.source_field();
    }

    Phase phase() const override { return phase_; }
    void* lattice(int which) const override { return lattices_[which % spec_.state->lattices].template as<void>(); }

    std::unique_ptr<backend::Transfers> make_transfers(const std::vector<backend::Transfer>& list) override {
        return std::make_unique<HostTransfers<Stored>>(list, backend::phases_of(spec_), phase_, now_, threads_);
    }

    void apply_boundaries() override {
        const auto& copies = plan_->copies[phase_];
        Stored* data = current();
        const auto runs = Index(copies.size());
        const auto cells = Index(plan_->wall_cells.size());
        const auto all = runs + cells + Index(plan_->wall_temperatures.size());
        // All lists in one parallel region; waking a team costs more than a few hundred runs or cells.
        parallel_shares(all < 512 ? 1 : threads_, all, [&](Index first, Index last) {
            for (Index k = first; k < std::min(last, runs); ++k) {
                copy_run(copies[k], data, data);
            }
            for (Index k = std::max(first, runs + cells); k < last; ++k) {
                heat_.fill(view(), plan_->wall_temperatures[k - runs - cells]);
            }
            for (Index k = std::max(first, runs); k < std::min(last, runs + cells); ++k) {
                serve(plan_->wall_cells[k - runs]);
            }
        });
        boundary().serve_cut_links();  // which read copied populations
        boundary().complete(next_numbers(), forces());
        if constexpr (Stencil<S>::multispeed) {
            const auto& columns = plan_->wall_columns;
            const auto parameters = backend::parameters_of<MultispeedParameters<Real>>(spec_);
            parallel_shares(columns.size() < 64 ? 1 : threads_, Index(columns.size()), [&](Index first, Index last) {
                for (Index k = first; k < last; ++k) {
                    backend::fill_wall_column(view(), columns[std::size_t(k)], parameters);
                }
            });
            for (const backend::WallCorner& corner : plan_->wall_corners) {
                backend::fill_wall_corner(view(), corner, columns.data(), parameters);
            }
        }
        turbulence_.renew();
    }
    void change_incoming() override {
        boundary().serve_sheets();
        moving_.change_incoming();
        boundary().finish();
        if constexpr (!Stencil<S>::multispeed) {
            heat_.advance_next_to_bodies(view(),
                                         [this](int x, int y, int z, double* f) { given_force_at(x, y, z, f); });
        }
    }

    void start_boundary_numbers() override { boundary().start(forces()); }
    void boundary_numbers(double* out) const override { boundary().get(out); }
    void set_boundary_numbers(const double* values) override { boundary().put(values); }

    void set_interior(const backend::Interior& interior) override {
        shell_ = RowRanges::around(address().ny, address().nz, interior.rows);
        inner_rows_ = RowRanges::of(address().ny, interior.rows);
        interior_ = interior;
        heat_.set_interior(interior);
    }

    void update_shell(int /*steps: one*/) override {
        arguments_.phase = next_phase(phase_);
        force_.put(address(), scaling_.force_factor(), arguments_);
        arguments_.source = current();
        now_ = next();
        arguments_.target = current();
        turbulence_.begin_update(arguments_, arguments_.phase);
        update(shell_, 0, address().nx);
        if (interior_.is_trimmed(address().nx)) {
            update(inner_rows_, 0, interior_.first_x);
            update(inner_rows_, interior_.end_x, address().nx);
        }
        phase_ = arguments_.phase;
        scaling_.was_updated();
        heat_.put_next_to_bodies(view(), false);
    }

    void update_interior() override {
        update(inner_rows_, interior_.first_x, interior_.end_x);
        heat_.put_next_to_bodies(view(), true);
    }

    void record(backend::Timestamp timestamp) override { timestamps_[int(timestamp)] = Clock::now(); }
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const override {
        return std::chrono::duration<double>(timestamps_[int(to)] - timestamps_[int(from)]).count();
    }

    void initialize(const backend::InitialFields& fields) override {
        restart_phase();
        const backend::InitialState<S> initial{fields, spec_.omega, spec_.compressibility};
        over_rows([&](int y, int z) {
            for (int x = 0; x < address().nx; ++x) {
                if (backend::is_hybrid(spec_)) {
                    heat_.set(view(), x, y, z, initial.temperature(x, y, z));
                }
                double force[3] = {};
                force_at(x, y, z, force);
                double h[S::Q];
                initial.populations(x, y, z, force, h);
                const auto cell = view().cell(x, y, z);
                for (int i = 0; i < S::Q; ++i) {
                    cell.set_post_collision(i, Real(h[i]));
                }
            }
        });
    }

    void density(float* out, const backend::CellBox& box) const override { write_density(out, box); }
    void density(double* out, const backend::CellBox& box) const override { write_density(out, box); }
    void velocity(float* out, const backend::CellBox& box) const override { write_velocity(out, box); }
    void velocity(double* out, const backend::CellBox& box) const override { write_velocity(out, box); }
    void populations(float* out) const override { write_populations(out); }
    void populations(double* out) const override { write_populations(out); }
    void set_populations(const double* values) override {
        restart_phase();
        for_populations([&](Index at, int i, Stored& stored) {
            stored = Store<Stored>::from(Real(values[at] - Stencil<S>::w(i)));
        });
    }

    void get_state(void* out) const override {
        for_populations([&](Index at, int i, Stored& stored) {
            static_cast<Stored*>(out)[at] = is_solid(at, i) ? Store<Stored>::from(Real(0)) : stored;
        });
    }

    void set_state(const void* values) override {
        restart_phase();
        for_populations([&](Index at, int, Stored& stored) { stored = static_cast<const Stored*>(values)[at]; });
    }

    backend::ThermalState* thermal() override { return backend::has_temperature(spec_) ? this : nullptr; }
    void temperature(float* out) const override { heat_.read(view(), solid_, out); }
    void temperature(double* out) const override { heat_.read(view(), solid_, out); }
    void set_temperature(const double* values) override { heat_.write(view(), values); }
    double heat(const std::vector<backend::HeatSample>& samples, double* each) const override {
        return heat_.sampled(view(), samples, each);
    }
    void column_heat(Index first, Index count, backend::ColumnHeat* out) const override {
        heat_.of_columns(view(), plan_->wall_columns.data() + first, count, out);
    }
    double temperature_change() override { return heat_.change(view(), solid_); }
    backend::ScaledState* scaled() override { return &scaling_; }
    backend::MovingState* moving() override { return &moving_; }
    backend::TurbulenceState* turbulence() override {
        return spec_.has_eddy_viscosity || backend::keeps_velocity(spec_) ? &turbulence_ : nullptr;
    }

    backend::ForceAndTorque body_force(const std::vector<backend::BodyLink>& links,
                                       const double center[3]) const override {
        // The sum is in the order of the links, so that it does not depend on the number of threads.
        const double about[3] = {center[0], center[1], center[2]};
        backend::ForceAndTorque sum{};
        for (const backend::BodyLink& link : links) {
            backend::add_body_force(view(), link, about, sum);
        }
        return sum;
    }

    std::unique_ptr<backend::StateSamples> make_point_samples(const std::vector<backend::Cell>& cells,
                                                              const backend::PointFields& fields) override {
        return make_host_point_samples<S::D, Real>(
            cells, fields,
            {[this](int x, int y, int z, Real& deviation, Real(&u)[3]) { flow_at(x, y, z, deviation, u); },
             [this](int x, int y, int z) { return is_solid(row(y, z) * address().nx + x, 0); },
             [this](int x, int y, int z) { return heat_.at(view(), x, y, z); }},
            threads_);
    }
    std::unique_ptr<backend::StateSamples> make_force_samples(const backend::BodyLinksNow& links,
                                                              const double (&center)[3]) override {
        return make_host_force_samples([this](auto& all, auto& at) { return body_force(all, at); }, links, center);
    }

    backend::Totals totals() const override {
        return totals_of<Real, S::D>(
            rows(), spec_.compressibility, numbered_rows(), fluid_rows(), [this](int x, int y, int z, Real deviation) {
                const double weight = Stencil<S>::multispeed ? 1 + double(deviation) : 1;  // internal energy of a gas
                return backend::has_temperature(spec_) ? weight * double(heat_.at(view(), x, y, z)) : 0.0;
            });
    }

    void velocity_change(double& change2, double& norm2) override {
        last_velocity_.measure(rows(), address().nx, numbered_rows(), fluid_rows(), change2, norm2);
    }

    backend::Extremes extremes() const override {
        const auto temperature = [this](int x, int y, int z) {
            return backend::is_hybrid(spec_) ? double(heat_.at(view(), x, y, z)) : backend::Extremes::no_temperature();
        };
        return extremes_of<Real, S::D>(rows(), address().nx, numbered_rows(), fluid_rows(), temperature,
                                       [this](int x, int y, int z) { return temperature_is_valid(x, y, z); });
    }
    std::unique_ptr<backend::CellStatistics> make_cell_statistics() override {
        return make_host_statistics<S::D, Real>(
            address(), threads_, [this] { return solid_; }, [this](int y, int z, auto& u) { for_fluid_row(y, z, u); },
            [this](int x, int y, int z) { return heat_.at(view(), x, y, z); });
    }

private:
    using Clock = std::chrono::steady_clock;
    using View = backend::LatticeView<S, Real, Stored>;

    Stored* current() const { return lattices_[now_].template as<Stored>(); }
    int next() const { return (now_ + 1) % spec_.state->lattices; }
    View view() const { return View{current(), arguments_.address, phase_, Real(spec_.compressibility)}; }
    Index rows() const { return Index(address().ny) * address().nz; }
    Index row(int y, int z) const { return Index(z) * address().ny + y; }

    /// Not inlined: compiling the formulas of all conditions once is enough.
    [[gnu::noinline]] void serve(const backend::WallCell& cell) const {
        double force[3] = {};
        if (cell.needs_moments) {
            force_at(cell.x, cell.y, cell.z, force);
        }
        const backend::LinkOffsets* places = plan_->wall_offsets[phase_].data();
        if (!scaling_.serves(*plan_)) {
            backend::serve_wall_links(view(), cell, plan_->wall_links.data(), places, force, {},
                                      backend::SteadyValues{});
        } else {
            backend::serve_wall_links(view(), cell, plan_->wall_links.data(), places, force, {},
                                      scaling_.template values<S>(*plan_));
        }
    }

    HostBoundary<S, Real, Stored> boundary() const { return {view(), *plan_, scaling_, threads_}; }
    /// The numbers of boundary cells after the next step.
    backend::BoundaryNumbers<Real, Stored> next_numbers() const {
        return {lattices_[next()].template as<Stored>(), address(), next_phase(phase_)};
    }
    auto forces() const {
        return [this](int x, int y, int z, double(&force)[3]) { force_at(x, y, z, force); };
    }

    /// Updates the cells from first_x to before end_x of some rows.
    void update(const RowRanges& ranges, int first_x, int end_x) {
        if (ranges.rows() > 0 && first_x < end_x) {
            UpdateArguments arguments = arguments_;
            arguments.first_x = first_x;
            arguments.end_x = end_x;
            parallel_shares(threads_, ranges.rows(), [&](Index first, Index last) {
                ranges.visit(first, last, [&](Index from, Index to) { kernel_(arguments, from, to); });
            });
        }
    }

    template <class Body>
    void over_rows(Body&& body) const {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            for (Index r = first; r < last; ++r) {
                body(int(r % address().ny), int(r / address().ny));
            }
        });
    }

    /// What functions take that go through the rows of the block, and through the fluid cells of a row.
    auto numbered_rows() const {
        return [this](auto&& body) { over_rows([&](int y, int z) { body(y, z, row(y, z)); }); };
    }
    auto fluid_rows() const {
        return [this](int y, int z, auto&& visit) { for_fluid_row(y, z, visit); };
    }

    void restart_phase() { phase_ = spec_.state->first_phase; }
    /// The user's force on a cell, without buoyancy.
    void given_force_at(int x, int y, int z, double* force) const {
        force_.at(address(), scaling_.force_factor(), x, y, z, force);
    }
    /// The force on a cell with buoyancy; for the multispeed thermal model the gravity.
    void force_at(int x, int y, int z, double (&force)[3]) const {
        if constexpr (Stencil<S>::multispeed) {
            std::copy(spec_.gravity, spec_.gravity + 3, force);
            return;
        }
        given_force_at(x, y, z, force);
        if (backend::is_hybrid(spec_)) {
            add_buoyancy<S>(force, double(heat_.at(view(), x, y, z)), spec_.heat);
        }
    }

    /// The density's deviation from 1 and the velocity of a cell.
    void flow_at(int x, int y, int z, Real& deviation, Real (&u)[3]) const {
        double force[3] = {};
        force_at(x, y, z, force);
        if constexpr (Stencil<S>::multispeed) {
            const Gas<Real> gas = backend::gas_between_steps(view().cell(x, y, z), force);
            deviation = gas.deviation;
            u[0] = gas.u[0];
            u[1] = gas.u[1];
        } else {
            backend::moments_after_collision(view().cell(x, y, z), force, deviation, u);
        }
    }

    bool temperature_is_valid(int x, int y, int z) const {
        if constexpr (Stencil<S>::multispeed) {
            return backend::temperature_is_valid(heat_.at(view(), x, y, z));
        } else {
            return !backend::is_hybrid(spec_) || std::isfinite(heat_.at(view(), x, y, z));
        }
    }

    /// Calls visit(x, rho - 1, u) for the fluid cells of a row.
    template <class Visit>
    void for_fluid_row(int y, int z, Visit&& visit) const {
        const int nx = address().nx;
        if constexpr (Stencil<S>::multispeed) {
            for (int x = 0; x < nx; ++x) {
                double gravity[3] = {};
                force_at(x, y, z, gravity);
                const Gas<Real> gas = backend::gas_between_steps(view().cell(x, y, z), gravity);
                visit(x, gas.deviation, gas.u);
            }
        } else {
            std::vector<Real> moments(std::size_t(nx) * (1 + S::D)), forces;
            const bool is_same = force_.is_uniform() && !backend::is_hybrid(spec_);
            const RowForce<Real> force = force_on_row<S::D>(
                nx, is_same, [&](int x, double(&on_cell)[3]) { force_at(x, y, z, on_cell); }, forces);
            const View lattice = view();
            RowFlow<S, Real, Stored>(lattice, y, z, force).put(moments);
            for (int x = 0; x < nx; ++x) {
                if (solid_ != nullptr && solid_[row(y, z) * nx + x] != 0) {
                    continue;
                }
                Real u[3] = {};
                for (int d = 0; d < S::D; ++d) {
                    u[d] = moments[std::size_t(1 + d) * nx + x];
                }
                visit(x, moments[std::size_t(x)], u);
            }
        }
    }

    /// The velocities of a row, component by component; 0 in solid cells.
    void put_velocity(int y, int z, Real* velocity) const {
        for_fluid_row(y, z, [&](int x, Real, const Real* u) {
            for (int d = 0; d < S::D; ++d) {
                velocity[d * address().nx + x] = u[d];
            }
        });
    }

    template <class Out>
    void write_density(Out* out, const backend::CellBox& box) const {
        write_density_of<Real>(box, threads_, out, [this](int y, int z, auto&& visit) { for_fluid_row(y, z, visit); });
    }

    template <class Out>
    void write_velocity(Out* out, const backend::CellBox& box) const {
        write_velocity_of<Real, S::D>(box, address(), solid_velocity_, threads_, out,
                                      [this](int y, int z, auto&& visit) { for_fluid_row(y, z, visit); });
    }

    template <class Out>
    void write_populations(Out* out) const {
        for_populations([&](Index at, int i, Stored& stored) {
            out[at] = Out(Real(Stencil<S>::w(i)) + (is_solid(at, i) ? Real(0) : from_storage<Real>(stored)));
        });
    }

    /// Whether a position in a dense array, of velocity i, belongs to a solid cell. Stored populations of solid cells
    /// are garbage, and are returned as those of the fluid at rest.
    bool is_solid(Index at, int i) const { return solid_ != nullptr && solid_[at - i * rows() * address().nx] != 0; }

    /// Calls visit(position in a dense array, velocity, reference to the stored deviation) for all populations.
    template <class Visit>
    void for_populations(Visit&& visit) const {
        const int nx = address().nx;
        over_rows([&](int y, int z) {
            for (int i = 0; i < S::Q; ++i) {
                const Index start = (i * rows() + row(y, z)) * nx;
                view().for_row(y, z, i, [&](int x, Stored& stored) { visit(start + x, i, stored); });
            }
        });
    }

    backend::BlockSpec spec_;
    int threads_;
    UpdateKernel kernel_;
    HostScaling scaling_;
    UpdateArguments arguments_{};
    Buffer lattices_[2];
    int now_ = 0;
    Phase phase_;
    RowRanges shell_, inner_rows_;
    backend::Interior interior_{};
    Clock::time_point timestamps_[backend::timestamps_of_step];
    const backend::LinkPlan* plan_ = nullptr;
    const std::uint8_t* solid_ = nullptr;
    const double* solid_velocity_ = nullptr;
    HostForce<S, Real> force_;
    VelocityChange<Real, S::D> last_velocity_;
    HostHeat<S, Real, Stored> heat_;
    HostTurbulence<S, Real, Stored> turbulence_;
    HostMoving<S, Real, Stored> moving_{
        {[this] { return view(); }, [this](int x, int y, int z) { return is_solid(row(y, z) * address().nx + x, 0); }},
        scaling_,
        threads_};
};

}  // namespace lbm::cpu
