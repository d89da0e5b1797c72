// Implements the test-only blocks that advance two steps per launch; fields are read by passing the state to an
// ordinary block.
#include "two_step_block.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/cpu/cpu_block.h"
#include "../../src/cpp/backend/cpu/host_transfers.h"
#include "../../src/cpp/backend/cpu/row_ranges.h"
#include "../../src/cpp/lattice/cell_update.h"
#include "../../src/cpp/lattice/links.h"

namespace tests {
namespace {

using lbm::Address;
using lbm::Index;
using lbm::Phase;
using lbm::backend::BlockSpec;

/// What lattice/cell_update.h works on: the places of one cell by functions.
template <class S, class Load, class Store>
struct FreeCell {
    using Value = double;
    static constexpr double unit = lbm::storage_unit<double>;

    Load from;
    Store to;
    const double* given_force;  // null for none

    void load(double (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            h[i] = from(i);
        }
    }
    double compressibility() const { return 1; }
    bool force(double (&force)[S::D]) const {
        for (int d = 0; d < S::D; ++d) {
            force[d] = given_force != nullptr ? given_force[d] : 0;
        }
        return given_force != nullptr;
    }
    void store(const double (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            to(i, h[i]);
        }
    }
};

/// What is recorded on this thread; null where work is done at once.
thread_local std::vector<std::function<void()>>* recording = nullptr;

template <class Work>
void ask(Work&& work) {
    if (recording != nullptr) {
        recording->push_back(work);
    } else {
        work();
    }
}

class WorkRecorder final : public lbm::backend::Recorder {
public:
    void record(const std::function<void()>& work) override {
        recording = &recorded_;
        work();
        recording = nullptr;
    }
    void replay(Index times) override {
        for (Index k = 0; k < times; ++k) {
            for (const auto& work : recorded_) {
                work();
            }
        }
    }

private:
    std::vector<std::function<void()>> recorded_;
};

class AskedTransfers final : public lbm::backend::Transfers {
public:
    explicit AskedTransfers(std::unique_ptr<lbm::backend::Transfers> transfers) : transfers_(std::move(transfers)) {}

    void run() const override {
        ask([this] { transfers_->run(); });
    }
    std::size_t bytes() const override { return transfers_->bytes(); }

private:
    std::unique_ptr<lbm::backend::Transfers> transfers_;
};

template <class S>
class TwoStepBlock final : public lbm::backend::BlockState {
public:
    TwoStepBlock(const BlockSpec& spec, const lbm::cpu::CpuOptions& options)
        : phases_(phases_of(spec)),
          phase_(phases_.front()),
          address_(block_address(spec, lbm::backend::Device::Cpu)),
          parameters_(lbm::backend::parameters_of<Parameters>(spec)) {
        BlockSpec ordinary = spec;
        ordinary.state = &lbm::backend::state_kind<lbm::TwoLattice>;
        reader_ = lbm::cpu::make_block(ordinary, options);
        for (auto& lattice : lattices_) {
            lattice.assign(lattice_bytes(spec, lbm::backend::Device::Cpu) / sizeof(double), 0);
        }
        set_interior({});
    }

    const Address& address() const override { return address_; }
    std::size_t bytes() const override { return 2 * lattices_[0].size() * sizeof(double) + reader_->bytes(); }

    void set_plan(const lbm::backend::LinkPlan& plan) override {
        ++revision_;
        plan_ = &plan;
    }
    void plan_values_changed() override {}
    void set_solid(const std::uint8_t*, const double*) override { throw std::logic_error("no bodies"); }
    void set_force(const double* uniform, const double* field, int series) override {
        if (field != nullptr || series >= 0) {
            throw std::logic_error("no fields of force, and none that changes in time");
        }
        ++revision_;
        forced_ = uniform != nullptr;
        std::copy_n(forced_ ? uniform : no_force_, S::D, force_);
        reader_->set_force(uniform, field, series);
    }

    Phase phase() const override { return phase_; }
    void* lattice(int which) const override { return lattices_[which].data(); }
    std::unique_ptr<lbm::backend::Transfers> make_transfers(const std::vector<lbm::backend::Transfer>& list) override {
        ++revision_;
        return std::make_unique<AskedTransfers>(
            std::make_unique<lbm::cpu::HostTransfers<double>>(list, phases_, phase_, now_, 1));
    }
    void set_interior(const lbm::backend::Interior& interior) override {
        ++revision_;
        shell_ = lbm::cpu::RowRanges::around(address_.ny, address_.nz, interior.rows);
        interior_ = lbm::cpu::RowRanges::of(address_.ny, interior.rows);
    }

    void apply_boundaries() override {
        ask([this] {
            for (const lbm::backend::CopyRun& run : plan_->copies[phase_]) {
                lbm::cpu::copy_run(run, current(), current());
            }
        });
    }
    void start_boundary_numbers() override {}  // periodic faces have none
    void boundary_numbers(double*) const override {}
    void set_boundary_numbers(const double*) override {}
    void update_shell(int steps) override {
        ++two_step_updates;
        ask([this, steps] {
            steps_ = steps;
            source_ = current();
            now_ = 1 - now_;
            update(shell_);
        });
    }
    void update_interior() override {
        ask([this] { update(interior_); });
    }

    int updates_of_cycle() const override { return 2; }
    int place_in_cycle() const override { return now_; }
    Index revision() const override { return revision_; }
    std::unique_ptr<lbm::backend::Recorder> make_recorder(const std::vector<BlockState*>&) override {
        return std::make_unique<WorkRecorder>();
    }

    void record(lbm::backend::Timestamp moment) override { moments_[int(moment)] = Clock::now(); }
    double seconds_between(lbm::backend::Timestamp from, lbm::backend::Timestamp to) const override {
        return std::chrono::duration<double>(moments_[int(to)] - moments_[int(from)]).count();
    }

    void initialize(const lbm::backend::InitialFields& fields) override {
        reader_->initialize(fields);
        take();
    }
    void set_populations(const double* values) override {
        reader_->set_populations(values);
        take();
    }
    void get_state(void* out) const override {
        auto* numbers = static_cast<double*>(out);
        for_numbers([&](Index place) { *numbers++ = current()[place]; });
    }
    void set_state(const void* values) override {
        const auto* numbers = static_cast<const double*>(values);
        for_numbers([&](Index place) { current()[place] = *numbers++; });
    }

    void density(float* out, const lbm::backend::CellBox& box) const override { reader().density(out, box); }
    void density(double* out, const lbm::backend::CellBox& box) const override { reader().density(out, box); }
    void velocity(float* out, const lbm::backend::CellBox& box) const override { reader().velocity(out, box); }
    void velocity(double* out, const lbm::backend::CellBox& box) const override { reader().velocity(out, box); }
    void populations(float* out) const override { reader().populations(out); }
    void populations(double* out) const override { reader().populations(out); }
    lbm::backend::ForceAndTorque body_force(const std::vector<lbm::backend::BodyLink>& links,
                                            const double center[3]) const override {
        return reader().body_force(links, center);
    }
    std::unique_ptr<lbm::backend::StateSamples> make_point_samples(const std::vector<lbm::backend::Cell>&,
                                                                   const lbm::backend::PointFields&) override {
        throw std::logic_error("no samples of points of a block that advances two steps");
    }
    std::unique_ptr<lbm::backend::StateSamples> make_force_samples(const lbm::backend::BodyLinksNow&,
                                                                   const double (&)[3]) override {
        throw std::logic_error("no samples of forces of a block that advances two steps");
    }
    lbm::backend::Totals totals() const override { return reader().totals(); }
    void velocity_change(double& change2, double& norm2) override { reader().velocity_change(change2, norm2); }
    lbm::backend::Extremes extremes() const override { return reader().extremes(); }

private:
    using Clock = std::chrono::steady_clock;
    using Parameters = lbm::BGK::Parameters<double>;

    /// All populations of the cells of one row and of one before and behind it, after a step.
    using Row = std::vector<double>;

    double* current() const { return static_cast<double*>(lattice(now_)); }
    Index place(int x, int y, int z, int i) const {
        return lbm::LongRangeOffsets<S>(address_, x, y, z).post_collision(i);
    }

    /// The ordinary block, with the state of now.
    lbm::backend::BlockState& reader() const {
        std::vector<double> state(std::size_t(Index(address_.nx) * address_.ny * address_.nz * S::Q));
        get_state(state.data());
        reader_->set_state(state.data());
        return *reader_;
    }
    /// Its state.
    void take() {
        std::vector<double> state(std::size_t(Index(address_.nx) * address_.ny * address_.nz * S::Q));
        reader_->get_state(state.data());
        set_state(state.data());
    }
    /// visit(place) in the order of a state.
    template <class Visit>
    void for_numbers(Visit&& visit) const {
        for (int i = 0; i < S::Q; ++i) {
            for (int z = 0; z < address_.nz; ++z) {
                for (int y = 0; y < address_.ny; ++y) {
                    for (int x = 0; x < address_.nx; ++x) {
                        visit(place(x, y, z, i));
                    }
                }
            }
        }
    }

    template <class Load, class Store>
    void update_cell(const Load& load, const Store& store) const {
        const FreeCell<S, Load, Store> cell{load, store, forced_ ? force_ : nullptr};
        lbm::update_cell<S, lbm::BGK>(cell, parameters_);
    }

    void update(const lbm::cpu::RowRanges& rows) {
        rows.visit(0, rows.rows(), [&](Index first, Index last) {
            for (Index row = first; row < last; ++row) {
                const int y = int(row % address_.ny), z = int(row / address_.ny);
                steps_ == 1 ? one_step(y, z) : both_steps(y, z);
            }
        });
    }

    /// The first step of a cell of the block or beside it.
    template <class Store>
    void first_step(int x, int y, int z, const Store& store) const {
        update_cell([&](int i) { return source_[place(x - S::c[i][0], y - S::c[i][1], z - S::c[i][2], i)]; }, store);
    }

    void one_step(int y, int z) const {
        for (int x = 0; x < address_.nx; ++x) {
            first_step(x, y, z, [&](int i, double h) { current()[place(x, y, z, i)] = h; });
        }
    }

    void both_steps(int y, int z) const {
        constexpr int deep = S::D == 3 ? 1 : 0;
        Row around[3][3];  // by layer and row, from -1
        for (int dz = -deep; dz <= deep; ++dz) {
            for (int dy = -1; dy <= 1; ++dy) {
                Row& row = around[dz + 1][dy + 1];
                row.resize(std::size_t(address_.nx + 2) * S::Q);
                for (int x = -1; x <= address_.nx; ++x) {
                    first_step(x, y + dy, z + dz,
                               [&](int i, double h) { row[std::size_t(x + 1) * S::Q + std::size_t(i)] = h; });
                }
            }
        }
        for (int x = 0; x < address_.nx; ++x) {
            update_cell(
                [&](int i) {
                    const int* c = S::c[i];
                    return around[1 - c[2]][1 - c[1]][std::size_t(x + 1 - c[0]) * S::Q + std::size_t(i)];
                },
                [&](int i, double h) { current()[place(x, y, z, i)] = h; });
        }
    }

    static constexpr double no_force_[3] = {};
    std::vector<Phase> phases_;
    Phase phase_;
    Address address_;
    Parameters parameters_;
    std::unique_ptr<lbm::backend::BlockState> reader_;
    mutable std::vector<double> lattices_[2];
    int now_ = 0, steps_ = 1;
    Index revision_ = 0;
    const double* source_ = nullptr;
    const lbm::backend::LinkPlan* plan_ = nullptr;
    lbm::cpu::RowRanges shell_, interior_;
    bool forced_ = false;
    double force_[3] = {};
    Clock::time_point moments_[lbm::backend::timestamps_of_step];
};

std::unique_ptr<lbm::backend::BlockState> make_two_step_block(const BlockSpec& spec,
                                                              const lbm::backend::DeviceOptions& options) {
    using lbm::backend::NumberKind;
    if (options.name != "cpu" || spec.precision != NumberKind::Float64 || spec.storage != NumberKind::Float64 ||
        spec.collision != lbm::backend::collision_kind<lbm::BGK> || spec.has_eddy_viscosity) {
        throw std::logic_error("blocks of two steps have BGK in float64 on the CPU");
    }
    return lbm::backend::with_stencil(spec.stencil, [&](auto s) -> std::unique_ptr<lbm::backend::BlockState> {
        using S = decltype(s);
        if constexpr (lbm::Isothermal::has_stencil<S>) {
            return std::make_unique<TwoStepBlock<S>>(spec, lbm::cpu::CpuOptions{options.threads, options.isa});
        } else {
            throw std::logic_error("blocks of two steps are isothermal");
        }
    });
}

}  // namespace

const lbm::backend::StateKind two_steps{"two-step", Phase::TwoLattice, 1, 2, 2, make_two_step_block};
std::atomic<int> two_step_updates = 0;

}  // namespace tests
