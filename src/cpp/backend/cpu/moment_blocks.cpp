// The blocks on the CPU whose state is moments, for one stencil; this file is compiled once for each.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "../../lattice/moment_state.h"
#include "../block_layout.h"
#include "../initial_state.h"
#include "../moment_kind.h"
#include "box_fields.h"
#include "buffer.h"
#include "host_moment_force.h"
#include "host_moment_walls.h"
#include "host_samples.h"
#include "host_statistics.h"
#include "host_transfers.h"
#include "moment_block.h"
#include "moment_tiles.h"
#include "row_reductions.h"
#include "velocity_change.h"

namespace lbm::cpu {

template <class S, class Real>
class MomentBlock final : public backend::BlockState {
public:
    MomentBlock(const backend::BlockSpec& spec, const CpuOptions& options)
        : spec_(spec),
          threads_(options.threads),
          kernel_(find_moment_kernel(options.isa, spec)),
          address_(backend::block_address(spec, backend::Device::Cpu)),
          most_(tile_size(address_, spec.state->steps_per_launch)),
          phases_(backend::phases_of(spec)),
          phase_(phases_.front()) {
        const std::size_t bytes = backend::lattice_bytes(spec, backend::Device::Cpu);
        if (spec.state->lattices_overlap) {
            const std::size_t shift = backend::lattice_shift(spec, backend::Device::Cpu);
            memory_[0] = Buffer(bytes + shift);
            lattices_[0] = memory_[0].as<std::byte>() + shift;
            lattices_[1] = memory_[0].as<std::byte>();
        } else {
            for (int k = 0; k < 2; ++k) {
                memory_[k] = Buffer(bytes);
                lattices_[k] = memory_[k].as<std::byte>();
            }
        }
        touch_lattices();
        scratch_ = Buffer(scratch_bytes());
        set_interior({});
    }

    const Address& address() const override { return address_; }
    std::size_t bytes() const override {
        return memory_[0].bytes() + memory_[1].bytes() + scratch_.bytes() + walls_.bytes() + last_velocity_.bytes() +
               force_.bytes();
    }

    void set_plan(const backend::LinkPlan& plan) override {
        plan_ = &plan;
        scaling_.set_plan(plan);
        walls_.set(plan, address_, S::D, most_.cells < address_.nx);
        if (scratch_.bytes() != scratch_bytes()) {
            scratch_ = Buffer(scratch_bytes());
        }
    }
    void plan_values_changed() override { walls_.refresh(*plan_); }
    void set_solid(const std::uint8_t* solid, const double* velocity) override {
        solid_ = solid;
        solid_velocity_ = velocity;
    }
    void set_force(const double* uniform, const double* field, int series) override {
        force_.set(uniform, field, series, threads_);
    }

    backend::ScaledState* scaled() override { return &scaling_; }

    Phase phase() const override { return phase_; }
    void* lattice(int which) const override { return lattices_[which % 2]; }
    std::unique_ptr<backend::Transfers> make_transfers(const std::vector<backend::Transfer>& list) override {
        return std::make_unique<HostTransfers<Real>>(list, phases_, phase_, now_, threads_);
    }

    void apply_boundaries() override {
        const auto& copies = plan_->copies[phase_];
        Real* data = current();
        parallel_shares(copies.size() < 512 ? 1 : threads_, Index(copies.size()), [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                copy_run(copies[std::size_t(k)], data, data);
            }
        });
    }
    void start_boundary_numbers() override {}  // no condition that keeps any
    void boundary_numbers(double*) const override {}
    void set_boundary_numbers(const double*) override {}

    void set_interior(const backend::Interior& interior) override {
        inner_.clear();
        if (spec_.state->lattices_overlap) {
            divide_into_slabs();
            return;
        }
        shell_.assign(1, {});
        add_tiles_around(shell_.front(), interior.rows, address_, S::D, threads_, most_);
        add_tiles(inner_, interior.rows, address_.nx, S::D, threads_, most_);
    }
    void update_shell(int steps) override {
        const bool ascends = now_ == 0;
        steps_ = steps;
        source_ = current();
        now_ = 1 - now_;
        for (std::size_t k = 0; k < shell_.size(); ++k) {
            update(shell_[ascends ? k : shell_.size() - 1 - k]);
        }
    }
    void update_interior() override {
        update(inner_);
        scaling_.was_updated(steps_);
    }

    void record(backend::Timestamp timestamp) override { timestamps_[int(timestamp)] = Clock::now(); }
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const override {
        return std::chrono::duration<double>(timestamps_[int(to)] - timestamps_[int(from)]).count();
    }

    void initialize(const backend::InitialFields& fields) override {
        const backend::InitialState<S> initial{fields, spec_.omega, spec_.compressibility};
        over_rows([&](int y, int z) {
            for (int x = 0; x < address_.nx; ++x) {
                double force[3] = {}, h[S::Q];
                force_at(x, y, z, force);
                initial.populations(x, y, z, force, h);
                put(x, y, z, projected<S>(h));
            }
        });
    }
    void set_populations(const double* values) override {
        over_rows([&](int y, int z) {
            for (int x = 0; x < address_.nx; ++x) {
                double h[S::Q];
                for (int i = 0; i < S::Q; ++i) {
                    h[i] = values[(i * rows() + row(y, z)) * address_.nx + x] - Stencil<S>::w(i);
                }
                put(x, y, z, projected<S>(h));
            }
        });
    }

    void density(float* out, const backend::CellBox& box) const override { write_density(out, box); }
    void density(double* out, const backend::CellBox& box) const override { write_density(out, box); }
    void velocity(float* out, const backend::CellBox& box) const override { write_velocity(out, box); }
    void velocity(double* out, const backend::CellBox& box) const override { write_velocity(out, box); }
    void populations(float* out) const override { write_populations(out); }
    void populations(double* out) const override { write_populations(out); }

    void get_state(void* out) const override {
        for_numbers([&](Index at, Index cell, Real& number) {
            static_cast<Real*>(out)[at] = is_solid(cell) ? Real(0) : number;
        });
    }
    void set_state(const void* values) override {
        for_numbers([&](Index at, Index, Real& number) { number = static_cast<const Real*>(values)[at]; });
    }

    backend::ForceAndTorque body_force(const std::vector<backend::BodyLink>& links,
                                       const double center[3]) const override {
        const double about[3] = {center[0], center[1], center[2]};
        backend::ForceAndTorque sum{};
        for (const backend::BodyLink& link : links) {
            backend::add_force_of_cell<S, Real>(Rebuilt{*this, rebuilt(link.x, link.y, link.z)}, link, about, sum);
        }
        return sum;
    }
    std::unique_ptr<backend::StateSamples> make_point_samples(const std::vector<backend::Cell>& cells,
                                                              const backend::PointFields& fields) override {
        return make_host_point_samples<S::D, Real>(
            cells, fields,
            {[this](int x, int y, int z, Real& deviation, Real(&u)[3]) { flow_at(x, y, z, deviation, u); },
             [this](int x, int y, int z) { return is_solid(row(y, z) * address_.nx + x); },
             [](int, int, int) { return Real(0); }},
            threads_);
    }
    std::unique_ptr<backend::StateSamples> make_force_samples(const backend::BodyLinksNow& links,
                                                              const double (&center)[3]) override {
        return make_host_force_samples([this](auto& all, auto& at) { return body_force(all, at); }, links, center);
    }
    backend::Totals totals() const override {
        return totals_of<Real, S::D>(rows(), spec_.compressibility, numbered_rows(), fluid_rows(),
                                     [](int, int, int, Real) { return 0.0; });
    }
    void velocity_change(double& change2, double& norm2) override {
        last_velocity_.measure(rows(), address_.nx, numbered_rows(), fluid_rows(), change2, norm2);
    }
    backend::Extremes extremes() const override {
        return extremes_of<Real, S::D>(
            rows(), address_.nx, numbered_rows(), fluid_rows(),
            [](int, int, int) { return backend::Extremes::no_temperature(); }, [](int, int, int) { return true; });
    }
    std::unique_ptr<backend::CellStatistics> make_cell_statistics() override {
        return make_host_statistics<S::D, Real>(
            address_, threads_, [this] { return solid_; },
            [this](int y, int z, auto& visit) { for_fluid_row(y, z, visit); }, [](int, int, int) { return Real(0); });
    }

private:
    using Clock = std::chrono::steady_clock;

    struct Populations {
        Real of[S::Q];
    };
    /// A cell with its post-collision populations, as they follow from its moments.
    struct Rebuilt {
        const MomentBlock& block;
        Populations h;

        Real post_collision(int i) const { return h.of[i]; }
        /// What streams in against the population of a link.
        Real streamed(const backend::BodyLink& link) const {
            int at[3];
            link.streamed_cell(block.address_, at);
            return block.rebuilt(at[0], at[1], at[2]).of[link.streamed_i];
        }
    };

    Real* current() const { return reinterpret_cast<Real*>(lattices_[now_]); }
    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index row(int y, int z) const { return Index(z) * address_.ny + y; }
    Index scratch_numbers() const {
        const int steps = spec_.state->steps_per_launch;
        return MomentScratch(S::D, S::Q, most_.cells, steps, most_.rows, walls_.has_cuts()).total(steps);
    }
    static TileSize tile_size(const Address& a, int steps) {
        const std::size_t cache = second_level_cache();
        if constexpr (S::D == 3) {
            return {a.nx, most_tile_rows(S::Q, a.nx, a.ny, steps, sizeof(Real), cache)};
        } else {
            return {most_tile_cells(S::Q, a.nx, a.self_periodic[0], steps, sizeof(Real), cache), a.ny};
        }
    }
    std::size_t scratch_bytes() const { return std::size_t(threads_ * scratch_numbers()) * sizeof(Real); }

    template <class Body>
    void over_rows(Body&& body) const {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            for (Index r = first; r < last; ++r) {
                body(int(r % address_.ny), int(r / address_.ny));
            }
        });
    }
    auto numbered_rows() const {
        return [this](auto&& body) { over_rows([&](int y, int z) { body(y, z, row(y, z)); }); };
    }
    auto fluid_rows() const {
        return [this](int y, int z, auto&& visit) { for_fluid_row(y, z, visit); };
    }

    /// Sets the rows of the lattices to the fluid at rest, as fresh memory is, so that each page is first touched by
    /// the thread that will update it.
    void touch_lattices() const {
        for (std::byte* const lattice : lattices_) {
            over_rows([&](int y, int z) {
                std::memset(reinterpret_cast<Real*>(lattice) + address_.row(y, z, 0), 0,
                            std::size_t(address_.row_stride) * sizeof(Real));
            });
        }
    }

    /// The whole block is shell, in slabs that are updated one after the other.
    void divide_into_slabs() {
        const backend::Slabs slabs = backend::slabs_of(spec_, backend::Device::Cpu);
        shell_.assign(std::size_t(slabs.count), {});
        for (int k = 0; k < slabs.count; ++k) {
            add_tiles_of_slab(shell_[std::size_t(k)], slabs.rows(k, S::D, address_.ny, address_.nz), address_.nx, S::D,
                              threads_, most_);
        }
    }

    /// Updates the cells of some tiles, of which each thread has an equal share.
    void update(const std::vector<Tile>& tiles) {
        if (tiles.empty()) {
            return;
        }
        parallel_shares(threads_, threads_, [&](Index member, Index) {
            const auto count = Index(tiles.size());
            MomentArguments arguments{
                source_,
                current(),
                address_,
                spec_.parameters.data(),
                spec_.compressibility,
                force_.now(),
                steps_,
                0,
                0,
                0,
                0,
                0,
                0,
                scratch_.template as<Real>() + member * scratch_numbers(),
                walls_.get(),
                scaling_.scales_walls() ? scaling_.table().data() + scaling_.next_factors() : nullptr,
                scaling_.series()};
            for (Index k = count * member / threads_; k < count * (member + 1) / threads_; ++k) {
                const Tile& tile = tiles[std::size_t(k)];
                arguments.first_x = tile.first_x;
                arguments.end_x = tile.end_x;
                arguments.first_y = tile.first_y;
                arguments.end_y = tile.end_y;
                arguments.first_z = tile.first_z;
                arguments.end_z = tile.end_z;
                kernel_(arguments);
            }
        });
    }

    void force_at(int x, int y, int z, double (&force)[3]) const { force_.at(1, x, y, z, force); }

    /// Whether a cell of the block, by its place among them, is solid.
    bool is_solid(Index cell) const { return solid_ != nullptr && solid_[cell] != 0; }

    Populations rebuilt(int x, int y, int z) const {
        double made_with[3] = {};
        force_.at(0, x, y, z, made_with);
        CellForce<S, Real> force{{}, scaling_.has_force()};
        std::transform(made_with, made_with + S::D, force.of, [](double f) { return Real(f); });
        Populations h;
        backend::with_moment_collision(spec_.collision, [&](auto collision) {
            populations_of<S, decltype(collision)>(moments(x, y, z), force, Real(spec_.compressibility), h.of);
        });
        return h;
    }
    StoredMoments<S, Real> moments(int x, int y, int z) const {
        StoredMoments<S, Real> m;
        const Real* row = current() + address_.row(y, z, 0);
        m.for_each([&]<int k>(Real& number) { number = row[moment_place(k, x, address_.population_stride)]; });
        return m;
    }
    void put(int x, int y, int z, StoredMoments<S, double> m) {
        Real* row = current() + address_.row(y, z, 0);
        m.for_each([&]<int k>(double number) { row[moment_place(k, x, address_.population_stride)] = Real(number); });
    }
    void flow_at(int x, int y, int z, Real& deviation, Real (&u)[3]) const {
        const StoredMoments<S, Real> m = moments(x, y, z);
        double force[3] = {};
        force_at(x, y, z, force);
        Real momentum[3] = {};
        std::copy(m.momentum, m.momentum + S::D, momentum);
        deviation = m.density_deviation;
        backend::velocity_of(inertia_of_deviation(deviation, Real(spec_.compressibility)), momentum, force, u);
    }
    /// Calls visit(x, rho - 1, u) for the fluid cells of a row.
    template <class Visit>
    void for_fluid_row(int y, int z, Visit&& visit) const {
        for (int x = 0; x < address_.nx; ++x) {
            if (!is_solid(row(y, z) * address_.nx + x)) {
                Real deviation = 0, u[3] = {};
                flow_at(x, y, z, deviation, u);
                visit(x, deviation, u);
            }
        }
    }
    /// Calls visit(position in a dense array, cell, reference to the number) for the numbers of all cells.
    template <class Visit>
    void for_numbers(Visit&& visit) const {
        over_rows([&](int y, int z) {
            for (int k = 0; k < moment_count<S>; ++k) {
                Real* numbers = current() + address_.row(y, z, 0);
                const Index start = (k * rows() + row(y, z)) * address_.nx;
                for (int x = 0; x < address_.nx; ++x) {
                    visit(start + x, row(y, z) * address_.nx + x,
                          numbers[moment_place(k, x, address_.population_stride)]);
                }
            }
        });
    }

    template <class Out>
    void write_density(Out* out, const backend::CellBox& box) const {
        write_density_of<Real>(box, threads_, out, fluid_rows());
    }
    template <class Out>
    void write_velocity(Out* out, const backend::CellBox& box) const {
        write_velocity_of<Real, S::D>(box, address_, solid_velocity_, threads_, out, fluid_rows());
    }
    template <class Out>
    void write_populations(Out* out) const {
        over_rows([&](int y, int z) {
            for (int x = 0; x < address_.nx; ++x) {
                const Index cell = row(y, z) * address_.nx + x;
                const Populations h = is_solid(cell) ? Populations{} : rebuilt(x, y, z);
                for (int i = 0; i < S::Q; ++i) {
                    out[i * rows() * address_.nx + cell] = Out(Real(Stencil<S>::w(i)) + h.of[i]);
                }
            }
        });
    }

    backend::BlockSpec spec_;
    int threads_;
    MomentKernel kernel_;
    Address address_;
    TileSize most_;  // of a tile
    std::vector<Phase> phases_;
    Phase phase_;
    Buffer memory_[2], scratch_;  // the second one is empty where the lattices overlap
    std::byte* lattices_[2];
    int now_ = 0, steps_ = 1;
    const Real* source_ = nullptr;
    std::vector<std::vector<Tile>> shell_;  // parts that are updated one after the other
    std::vector<Tile> inner_;
    Clock::time_point timestamps_[backend::timestamps_of_step];
    const backend::LinkPlan* plan_ = nullptr;
    HostMomentWalls walls_;
    const std::uint8_t* solid_ = nullptr;
    const double* solid_velocity_ = nullptr;
    backend::MomentScaling scaling_;
    HostMomentForce<S, Real> force_{address_, scaling_};
    VelocityChange<Real, S::D> last_velocity_;
};

template <class S>
std::unique_ptr<backend::BlockState> make_moment_block_for(const backend::BlockSpec& spec, const CpuOptions& options) {
    if constexpr (Stencil<S>::multispeed) {
        throw std::logic_error("a multispeed stencil does not keep moments");
    } else {
        return backend::with_real(spec.precision, [&](auto real) -> std::unique_ptr<backend::BlockState> {
            return std::make_unique<MomentBlock<S, decltype(real)>>(spec, options);
        });
    }
}

template <class S>
std::unique_ptr<backend::BlockState> make_moment_block_of(const backend::BlockSpec& spec, const CpuOptions& options);

template <>
std::unique_ptr<backend::BlockState> make_moment_block_of<LBM_STENCIL>(const backend::BlockSpec& spec,
                                                                       const CpuOptions& options) {
    return make_moment_block_for<LBM_STENCIL>(spec, options);
}

}  // namespace lbm::cpu
