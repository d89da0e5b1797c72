// A block on a GPU whose state is moments: its lattices, its update, and its fields.
#include "moment_block.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <stdexcept>

#include "../../lattice/moment_state.h"
#include "../block_layout.h"
#include "../moment_kind.h"
#include "device_field.h"
#include "device_moment_force.h"
#include "device_moment_walls.h"
#include "device_samples.h"
#include "device_statistics.h"
#include "device_sums.h"
#include "device_transfers.h"
#include "field_staging.h"
#include "initial_layers.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "launch_batch.h"
#include "moment_launches.h"
#include "moment_units.h"
#include "recorded_steps.h"
#include "shared_block.h"
#include "side_streams.h"
#include "slab_streams.h"
#include "split_runs.h"
#include "step_streams.h"
#include "upload.h"
#include "wall_streams.h"

namespace lbm::cuda {
namespace {

using backend::BlockSpec;

class MomentBlock final : public backend::BlockState, public GpuEventSource {
public:
    MomentBlock(const BlockSpec& spec, int ordinal)
        : spec_(spec),
          D_(backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; })),
          device_(device_info(ordinal)),
          address_(backend::block_address(spec, backend::Device::Gpu)),
          streams_(ordinal),
          at_walls_{WallStreams(ordinal), WallStreams(ordinal)},
          sides_(ordinal),
          kernels_(ordinal, device_.architecture()) {
        choose_tilings();  // before anything is allocated
        const std::size_t bytes = backend::lattice_bytes(spec, backend::Device::Gpu);
        if (spec.state->lattices_overlap) {
            const std::size_t shift = backend::lattice_shift(spec, backend::Device::Gpu);
            memory_[0] = DeviceBuffer(ordinal, bytes + shift);
            lattices_[0] = memory_[0].address() + shift;
            lattices_[1] = memory_[0].address();
            slab_streams_ = std::make_unique<SlabStreams>(ordinal, stream_);
        } else {
            for (int k = 0; k < 2; ++k) {
                memory_[k] = DeviceBuffer(ordinal, bytes);
                lattices_[k] = memory_[k].address();
            }
        }
        for (const DeviceBuffer& memory : memory_) {
            if (memory.bytes() > 0) {
                stream_.clear(memory.address(), memory.bytes());
            }
        }
        set_interior({});
    }

    const Address& address() const override { return address_; }
    std::size_t bytes() const override {
        std::size_t sum = staging_.bytes() + sums_.bytes() + walls_.bytes() + runs_.bytes() + singles_.bytes() +
                          memory_[0].bytes() + memory_[1].bytes() + solid_.bytes() + solid_velocity_.bytes() +
                          force_.bytes();
        for (const std::vector<MomentUnits>* boxes : {&shell_, &inner_}) {
            for (const MomentUnits& units : *boxes) {
                sum += units.bytes();
            }
        }
        return sum;
    }
    std::vector<backend::KernelFigures> update_kernels() const override {
        std::vector<backend::KernelFigures> found;
        for (int k = MomentUnits::kind_count - 1; k >= 0; --k) {
            const MomentUnitKind& unit = MomentUnits::kinds[k];
            if (!is_in_use(k)) {
                continue;
            }
            const MomentKernel kind = kernel(most_steps(), unit);
            const MomentTiling& tiling = tilings_.of(unit);
            const int threads = int(moment_threads(spec_, kind).threads);
            const Kernel& compiled = kernels_.get(moment_kernel(spec_, kind));
            found.push_back({phase_, kind.cells_per_thread, threads, compiled.registers(), compiled.local_bytes(),
                             double(tiling.units_at_once * threads) /
                                 double(tiling.units_a_block * device_.threads_per_multiprocessor),
                             unit.words()});
        }
        return found;
    }

    void set_plan(const backend::LinkPlan& plan) override {
        ++revision_;
        plan_ = &plan;
        scaling_.set_plan(plan);
        walls_.set_plan(plan);
        std::vector<backend::CopyRun> runs;
        std::vector<SingleCopy> singles;
        split_runs(
            plan.copies[phase_], [&](const backend::CopyRun& run) { runs.push_back(run); },
            [&](const SingleCopy& copy) { singles.push_back(copy); });
        upload(runs_, stream_, runs);
        upload(singles_, stream_, singles);
        sums_.forget_links();
        divide();
        expect_kernels();
    }
    void plan_values_changed() override {
        ++revision_;
        walls_.set_values(*plan_);
        sums_.forget_links();
    }
    void set_solid(const std::uint8_t* solid, const double* velocity) override {
        ++revision_;
        upload(solid_, stream_, solid, solid == nullptr ? 0 : std::size_t(cells()));
        upload(solid_velocity_, stream_, velocity, velocity == nullptr ? 0 : std::size_t(cells() * D_));
    }
    void set_force(const double* uniform, const double* field, int series) override {
        ++revision_;
        force_.set(uniform, field, series);
        if (plan_ != nullptr && force_.kind() != divided_for_) {  // for which threads keep other numbers
            divide();
            expect_kernels();
        }
    }
    backend::ScaledState* scaled() override { return &scaling_; }
    bool is_asynchronous() const override { return true; }
    void on_device(const std::function<void()>& work) const override {
        const DeviceScope scope(device_.ordinal);
        work();
    }

    Phase phase() const override { return phase_; }
    void* lattice(int which) const override { return std::bit_cast<void*>(lattices_[which % 2]); }
    std::unique_ptr<backend::Transfers> make_transfers(const std::vector<backend::Transfer>& list) override {
        ++revision_;
        const KernelName name{"transfer.h", "lbm::cuda::transfer<" + type_name(spec_.storage) + ">"};
        kernels_.expect(name);
        return std::make_unique<DeviceTransfers>(
            list, DeviceTransfers::Owner{streams_.border(), backend::size_of(spec_.storage), kernels_, name,
                                         backend::phases_of(spec_), phase_, now_, streams_.divided()});
    }

    void record_event(int slot) override { streams_.record_event(slot); }
    const StreamEvent& event_in(int slot) const override { return *streams_.events()[std::size_t(slot)]; }
    void wait(int slot) const override { event_in(slot).wait(); }
    void wait_for(const backend::EventSource& other, int slot) override { make_wait(streams_.border(), other, slot); }
    std::string share() override {
        try {
            streams_.make_events(true);
            return share_block(device_.ordinal, {lattices_[0], lattices_[1]}, streams_.events());
        } catch (const CudaError&) {  // the system does not support interprocess handles
            unshare();
            return {};
        }
    }
    void unshare() override { streams_.make_events(false); }

    void set_interior(const backend::Interior& interior) override {
        ++revision_;
        interior_ = interior;
        streams_.divide(!interior.empty(), false);
        divide();
    }

    void apply_boundaries() override {
        streams_.join();
        const auto runs = Index(runs_.bytes() / sizeof(backend::CopyRun));
        const auto singles = Index(singles_.bytes() / sizeof(SingleCopy));
        if (runs + singles > 0) {
            kernels_.get(copies()).launch(stream_, flat(32 * runs + singles), state(), runs_.as<backend::CopyRun>(),
                                          runs, singles_.as<SingleCopy>(), singles);
        }
    }
    void start_boundary_numbers() override {}  // no condition that keeps any
    void boundary_numbers(double*) const override {}
    void set_boundary_numbers(const double*) override {}

    void update_shell(int steps) override {
        if (scaling_.scales_walls()) {
            streams_.join();
            walls_.set_factors(scaling_);
        }
        streams_.fork();
        step_ = {steps, lattice(now_), lattice(1 - now_)};
        if (slab_streams_ != nullptr) {
            slab_streams_->run(int(shell_.size()), now_ == 0, [this](int slab, const WorkStream& stream, int which) {
                update(stream, at_walls_[which], shell_[std::size_t(slab)]);
            });
        } else {
            const WorkStream& border = streams_.border();
            sides_.begin(border, [this](std::size_t k, const WorkStream& stream, WallStreams& at_walls) {
                update(stream, at_walls, shell_[k]);
            });
            for (std::size_t k = sides_.count(); k < shell_.size(); ++k) {
                update(border, at_walls_[0], shell_[k]);
            }
            sides_.end(border);
        }
        now_ = 1 - now_;
    }
    void update_interior() override {
        for (const MomentUnits& units : inner_) {
            update(stream_, at_walls_[0], units);
        }
        scaling_.was_updated(step_.steps);
    }

    void record(backend::Timestamp timestamp) override { streams_.record(timestamp); }
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const override {
        return streams_.seconds_between(from, to);
    }
    int updates_of_cycle() const override { return 2; }
    int place_in_cycle() const override { return now_; }
    /// Where something changes in time each launch has other arguments.
    Index updates_in_cycle() const override { return scaling_.any() ? 0 : std::numeric_limits<Index>::max(); }
    Index revision() const override { return revision_; }
    std::unique_ptr<backend::Recorder> make_recorder(const std::vector<BlockState*>& mates) override {
        std::vector<StepStreams*> others;
        for (BlockState* block : mates) {
            auto* on_gpu = dynamic_cast<MomentBlock*>(block);
            if (on_gpu == nullptr) {
                return nullptr;
            }
            others.push_back(&on_gpu->streams_);
        }
        return std::make_unique<StepRecorder>(streams_, std::move(others));
    }

    void initialize(const backend::InitialFields& fields) override {
        now_ = 0;
        initialize_layers(spec_, address_, stream_, kernels_, fields, {}, state());
    }

    using Box = backend::CellBox;
    void density(float* out, const Box& box) const override { staging_.read_box(state(), "density", 1, box, out); }
    void density(double* out, const Box& box) const override { staging_.read_box(state(), "density", 1, box, out); }
    void velocity(float* out, const Box& box) const override { staging_.read_box(state(), "velocity", D_, box, out); }
    void velocity(double* out, const Box& box) const override { staging_.read_box(state(), "velocity", D_, box, out); }
    void populations(float* out) const override { read_populations("float", out); }
    void populations(double* out) const override { read_populations("double", out); }
    /// The host projects them, in double precision, some rows at a time.
    void set_populations(const double* values) override {
        now_ = 0;
        backend::with_stencil(spec_.stencil, [&](auto s) {
            using S = decltype(s);
            if constexpr (!Stencil<S>::multispeed) {
                std::vector<double> numbers(std::size_t(cells() * moment_count<S>));
                for (Index cell = 0; cell < cells(); ++cell) {
                    double h[S::Q];
                    for (int i = 0; i < S::Q; ++i) {
                        h[i] = values[i * cells() + cell] - Stencil<S>::w(i);
                    }
                    StoredMoments<S, double> m = projected<S>(h);
                    m.for_each([&]<int k>(double number) { numbers[std::size_t(k * cells() + cell)] = number; });
                }
                staging_.write_components(state(), "set_moment", moment_count<S>, numbers.data());
            }
        });
    }
    std::shared_ptr<backend::DeviceArray> device_field(backend::FieldName name, double reference) const override {
        return make_device_field(spec_, address_, stream_, kernels_, state(), name, reference);
    }
    void get_state(void* out) const override {
        backend::with_stored(spec_.storage, [&](auto stored) {
            staging_.read_components(state(), "get_stored", "", address_.Q, static_cast<decltype(stored)*>(out));
        });
    }
    void set_state(const void* values) override {
        now_ = 0;
        backend::with_stored(spec_.storage, [&](auto stored) {
            staging_.write_components(state(), "set_stored", address_.Q, static_cast<const decltype(stored)*>(values));
        });
    }

    backend::ForceAndTorque body_force(const std::vector<backend::BodyLink>& links,
                                       const double center[3]) const override {
        return sums_.body_force(state(), links, center);
    }
    std::unique_ptr<backend::StateSamples> make_point_samples(const std::vector<backend::Cell>& cells,
                                                              const backend::PointFields& fields) override {
        return std::make_unique<DevicePointSamples>(sampled(), cells, fields, D_);
    }
    std::unique_ptr<backend::StateSamples> make_force_samples(const backend::BodyLinksNow& links,
                                                              const double (&center)[3]) override {
        return std::make_unique<DeviceForceSamples>(sampled(), links, center);
    }
    backend::Totals totals() const override {
        const auto sums = sums_.add<5>("totals", cells(), state(), RowRange{0, rows()});
        return {sums[0], {sums[1], sums[2], sums[3]}, sums[4], 0};
    }
    void velocity_change(double& change2, double& norm2) override {
        sums_.velocity_change(state(), D_, change2, norm2);
    }
    backend::Extremes extremes() const override { return sums_.extremes(state()); }
    std::unique_ptr<backend::CellStatistics> make_cell_statistics() override {
        return std::make_unique<DeviceStatistics>(spec_, address_, stream_, kernels_, [this] { return state(); });
    }

private:
    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index cells() const { return rows() * address_.nx; }
    int most_steps() const { return spec_.state->steps_per_launch; }
    KernelName copies() const { return state_kernel(spec_, "moment_readers.h", "copy_numbers"); }

    template <class Out>
    void read_populations(const char* type, Out* out) const {
        const int Q = backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::Q; });
        staging_.read_components(state(), "population", type, Q, out);
    }

    MomentKernel kernel(int steps, const MomentUnitKind& unit) const {
        const MomentTiling& own = tilings_.of(unit);
        const Forcing force = force_.kind();
        const bool images = walls_.map().has_images(), scaled = scaling_.scales_walls();
        const InShared kept{own.kept.populations, own.kept.sums * steps / most_steps()};
        return {steps, own.cells_per_thread,      own.rows, force, unit.walls, images, scaled, unit.cuts,
                kept,  unit.face == MomentFace::X};
    }
    /// Whether some units are of number k of MomentUnits::kinds.
    bool is_in_use(int k) const {
        const auto has_any = [&](const MomentUnits& units) { return units.of(k).count > 0; };
        return std::any_of(shell_.begin(), shell_.end(), has_any) || std::any_of(inner_.begin(), inner_.end(), has_any);
    }
    void expect_kernels() {
        for (int k = 0; k < MomentUnits::kind_count; ++k) {
            if (is_in_use(k)) {
                kernels_.expect(moment_kernel(spec_, kernel(most_steps(), MomentUnits::kinds[k])));
            }
        }
        if (runs_.bytes() + singles_.bytes() > 0) {
            kernels_.expect(copies());
        }
    }

    void choose_tilings() {
        tilings_ = moment_tilings(spec_, device_, {force_.kind(), walls_.map().has_cuts(), scaling_.has_values()});
        if (tilings_.clean.rows == 0 || (walls_.map().is_any() && tilings_.walled.rows == 0)) {
            throw std::invalid_argument("state: 'moments' needs more shared memory than a kernel has on the " +
                                        device_.name + "; give state='populations'");
        }
    }
    /// Divides shell and interior into units, first those of the sides.
    void divide() {
        choose_tilings();
        sides_.set_count(0, false);
        for (WallStreams& streams : at_walls_) {
            streams.prepare(walls_.map().is_any());
        }
        shell_.clear();
        inner_.clear();
        if (spec_.state->lattices_overlap) {
            const backend::Slabs slabs = backend::slabs_of(spec_, backend::Device::Gpu);
            for (int k = 0; k < slabs.count; ++k) {
                const backend::RowBox rows = slabs.rows(k, D_, address_.ny, address_.nz);
                shell_.push_back(units_of(rows, slabs.at_once));
            }
            divided_for_ = force_.kind();
            return;
        }
        const MomentTiling& lowest = walls_.map().is_any() ? tilings_.walled : tilings_.clean;
        const backend::RowBox inner = inner_rows(interior_.rows, lowest, address_, D_);
        backend::Shell shell(address_.ny, address_.nz, inner);
        const auto is_side = [&](const backend::RowBox& box) { return D_ == 3 && box.ny < address_.ny; };
        const auto end = std::stable_partition(shell.boxes, shell.boxes + shell.count, is_side) - shell.boxes;
        for (int k = 0; k < end; ++k) {
            add(shell_, shell.boxes[k]);
        }
        sides_.set_count(shell_.size(), walls_.map().is_any());
        for (auto k = end; k < shell.count; ++k) {
            add(shell_, shell.boxes[k]);
        }
        add(inner_, inner);
        divided_for_ = force_.kind();
    }
    /// The units of one of so many boxes that share the GPU evenly.
    MomentUnits units_of(const backend::RowBox& box, int at_once) const {
        return MomentUnits(
            MomentUnits::divided(box, tilings_, address_, D_, most_steps(), device_, walls_.map(), at_once), stream_);
    }
    /// Adds the units of a box, which is divided as if it had the GPU alone; of one with gaps those of each row or
    /// layer by itself.
    void add(std::vector<MomentUnits>& to, const backend::RowBox& box) {
        const int own_y = box.step_y == 1 ? box.ny : 1, own_z = box.step_z == 1 ? box.nz : 1;
        for (int z = 0; z < box.nz; z += own_z) {
            for (int y = 0; y < box.ny; y += own_y) {
                const backend::RowBox part{box.y + y * box.step_y, box.z + z * box.step_z, own_y, own_z};
                to.push_back(units_of(part, 1));
            }
        }
    }

    void update(const WorkStream& stream, WallStreams& at_walls, const MomentUnits& units) {
        at_walls.sweep(stream, units, [&](const WorkStream& own, int unit) { launch(own, units, unit); });
    }
    /// The units of one of MomentUnits::kinds.
    void launch(const WorkStream& stream, const MomentUnits& units, int unit) {
        backend::with_real(spec_.precision, [&](auto real) {
            backend::with_moment_collision(spec_.collision, [&](auto collision) {
                launch<decltype(real), decltype(collision)>(stream, units, unit);
            });
        });
    }
    template <class Real, class Collision>
    void launch(const WorkStream& stream, const MomentUnits& units, int unit) {
        using Parameters = typename Collision::template Parameters<Real>;
        const auto& [list, count] = units.of(unit);
        const double steady[3] = {scaling_.uniform(0, 1), scaling_.uniform(1, 1), scaling_.uniform(2, 1)};
        const MomentUpdate<Real, Parameters> arguments{static_cast<const Real*>(step_.source),
                                                       static_cast<Real*>(step_.target),
                                                       address_,
                                                       list.as<MomentUnit>(),
                                                       count,
                                                       backend::parameters_of<Parameters>(spec_),
                                                       Real(spec_.compressibility),
                                                       walls_.arguments(steady, scaling_),
                                                       {Real(steady[0]), Real(steady[1]), Real(steady[2])},
                                                       force_.now<Real>()};
        const MomentKernel kind = kernel(step_.steps, MomentUnits::kinds[unit]);
        const MomentThreads threads = moment_threads(spec_, kind);
        const Kernel& compiled = kernels_.get(moment_kernel(spec_, kind));
        compiled.allow_shared_memory(threads.bytes);
        LaunchDimensions dimensions;
        dimensions.blocks = unsigned((count + tilings_.clean.units_a_block - 1) / tilings_.clean.units_a_block);
        dimensions.block_x = threads.threads;
        dimensions.shared_bytes = threads.bytes;
        compiled.launch(stream, dimensions, arguments);
    }

    StateArguments state() const {
        StateArguments a{};
        a.data = lattice(now_);
        a.address = address_;
        a.phase = phase_;
        a.compressibility = spec_.compressibility;
        a.moment_force = force_.now<double>();
        a.solid = solid_.as<unsigned char>();
        a.solid_velocity = solid_velocity_.as<double>();
        return a;
    }
    SampledBlock sampled() {
        return {spec_, stream_, kernels_, [this] { return state(); }, revision_, streams_};
    }

    BlockSpec spec_;
    int D_;
    DeviceInfo device_;
    Address address_;
    StepStreams streams_;
    const WorkStream& stream_ = streams_.main();
    WallStreams at_walls_[2];  // the second one for slabs
    SideStreams sides_;        // of the first boxes of the shell
    Index revision_ = 0;       // see BlockState::revision()
    mutable KernelSet kernels_;
    DeviceBuffer memory_[2];  // the second one is empty where the lattices overlap
    DevicePointer lattices_[2]{};
    std::unique_ptr<SlabStreams> slab_streams_;  // null unless they overlap
    int now_ = 0;
    Phase phase_ = spec_.state->first_phase;
    /// The current update, from update_shell() on.
    struct Step {
        int steps;
        const void* source;
        void* target;
    } step_{};
    backend::Interior interior_{};
    const backend::LinkPlan* plan_ = nullptr;
    DeviceMomentWalls walls_{address_, D_, stream_};
    MomentTilings tilings_{};
    Forcing divided_for_ = Forcing::None;  // of the tiles that there are units of
    std::vector<MomentUnits> shell_, inner_;
    DeviceBuffer runs_, singles_, solid_, solid_velocity_;
    backend::MomentScaling scaling_;
    DeviceMomentForce force_{spec_, address_, D_, stream_, scaling_};
    mutable DeviceSums sums_{spec_, stream_, kernels_};
    mutable FieldStaging staging_{spec_, address_, stream_, kernels_};
};

}  // namespace

std::unique_ptr<backend::BlockState> make_moment_block(const BlockSpec& spec, int ordinal) {
    return std::make_unique<MomentBlock>(spec, ordinal);
}

}  // namespace lbm::cuda
