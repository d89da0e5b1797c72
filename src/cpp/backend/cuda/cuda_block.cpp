// A block on a GPU: its lattices, its update with kernels compiled for exactly this block, and its fields.
#include "cuda_block.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "../block_layout.h"
#include "chosen_updates.h"
#include "device_boundary.h"
#include "device_field.h"
#include "device_force.h"
#include "device_heat.h"
#include "device_links.h"
#include "device_moving.h"
#include "device_row_ends.h"
#include "device_samples.h"
#include "device_statistics.h"
#include "device_sums.h"
#include "device_transfers.h"
#include "device_turbulence.h"
#include "device_walls.h"
#include "field_staging.h"
#include "initial_layers.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "launch_batch.h"
#include "recorded_steps.h"
#include "row_parts.h"
#include "shared_block.h"
#include "step_streams.h"
#include "update_arguments.h"
#include "upload.h"

namespace lbm::cuda {
namespace {

using backend::BlockSpec;
using backend::size_of;

class CudaBlock final : public backend::BlockState,
                        public backend::ThermalState,
                        public backend::GpuInputs,
                        public GpuEventSource {
public:
    CudaBlock(const BlockSpec& spec, int ordinal)
        : spec_(spec),
          D_(backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; })),
          device_(device_info(ordinal)),
          address_(backend::block_address(spec, backend::Device::Gpu)),
          streams_(ordinal),
          kernels_(ordinal, device_.architecture()) {
        for (int k = 0; k < spec.state->lattices; ++k) {
            lattices_[k] = DeviceBuffer(ordinal, backend::lattice_bytes(spec, backend::Device::Gpu));
            stream_.clear(lattices_[k].address(), lattices_[k].bytes());
        }
        choose_updates();
    }

    const Address& address() const override { return address_; }
    std::size_t bytes() const override {
        return links_.bytes() + staging_.bytes() + sums_.bytes() + heat_.bytes() + walls_.bytes() + boundary_.bytes() +
               force_.bytes() + turbulence_.bytes() + scaling_.bytes() + row_ends_.bytes() + moving_.bytes() +
               lattices_[0].bytes() + lattices_[1].bytes() + solid_.bytes() + solid_velocity_.bytes();
    }

    std::vector<backend::KernelFigures> update_kernels() const override {
        std::vector<backend::KernelFigures> all;
        for (const Phase phase : backend::phases_of(spec_)) {
            const backend::ScheduledUpdate update = updates_.most(phase);
            const LaunchConfiguration& configuration = updates_.configuration(update);
            const LaunchDimensions launch = update_launch(spec_, configuration, rows());
            const int threads = int(launch.block_x * launch.block_y);
            const Kernel& k = kernels_.get(updates_.name(update));
            all.push_back({phase, configuration.cells_per_thread, threads, k.registers(), k.local_bytes(),
                           k.blocks_at_once(threads) * threads / double(device_.threads_per_multiprocessor)});
        }
        return all;
    }

    void set_plan(const backend::LinkPlan& plan) override {
        ++revision_;
        plan_ = &plan;
        links_.set_plan(plan);
        heat_.set_plan(plan, interior_);
        walls_.set(plan);
        row_ends_.set_plan(plan);
        boundary_.set_plan(plan, row_ends_.row_ends());
        scaling_.set_plan(plan);
        turbulence_.set_plan(plan);
        sums_.forget_links();
        choose_updates();
        expect_kernels();
    }

    void plan_values_changed() override {
        ++revision_;
        links_.set_values(*plan_);
        heat_.set_values(*plan_);
        walls_.set(*plan_);
        boundary_.set_values(*plan_);
        turbulence_.set_values(*plan_);
        sums_.forget_links();
    }

    void heat_samples_changed() override { heat_.forget_samples(); }

    void set_solid(const std::uint8_t* solid, const double* velocity) override {
        ++revision_;
        upload(solid_, stream_, solid, solid == nullptr ? 0 : std::size_t(cells()));
        upload(solid_velocity_, stream_, velocity, velocity == nullptr ? 0 : std::size_t(cells() * D_));
    }

    void set_force(const double* uniform, const double* field, int series) override {
        change_force(uniform, {field}, series);
    }
    void set_force(const backend::GpuField& field) override { change_force(nullptr, {nullptr, field}, -1); }
    void force(double* out) const override { force_.read(state(), out); }

    void set_heat_source(double uniform, const double* field) override { change_heat_source(uniform, {field}); }
    void set_heat_source(const backend::GpuField& field) override { change_heat_source(0, {nullptr, field}); }
    void heat_source(double* out) const override { heat_.read_source(state(), out); }
    bool is_asynchronous() const override { return true; }
    void on_device(const std::function<void()>& work) const override {
        const DeviceScope scope(device_.ordinal);
        work();
    }

    Phase phase() const override { return phase_; }
    void* lattice(int which) const override { return lattices_[which % spec_.state->lattices].as<void>(); }

    std::unique_ptr<backend::Transfers> make_transfers(const std::vector<backend::Transfer>& list) override {
        return make_transfers_on(streams_.border(), list);
    }
    std::unique_ptr<backend::Transfers> make_late_transfers(const std::vector<backend::Transfer>& list) override {
        return make_transfers_on(streams_.late(), list);
    }

    void record_event(int slot) override { streams_.record_event(slot); }
    const StreamEvent& event_in(int slot) const override { return *streams_.events()[std::size_t(slot)]; }
    void wait(int slot) const override { event_in(slot).wait(); }
    void wait_for(const backend::EventSource& other, int slot) override { make_wait(streams_.border(), other, slot); }
    void begin_late(int slot) override { streams_.begin_late(slot); }
    void wait_late(const backend::EventSource& other, int slot) override { make_wait(streams_.late(), other, slot); }
    void end_late() override { streams_.end_late(); }
    std::string share() override {
        std::vector<DevicePointer> lattices;
        for (const DeviceBuffer& lattice : lattices_) {
            if (lattice.bytes() > 0) {
                lattices.push_back(lattice.address());
            }
        }
        try {
            streams_.make_events(true);
            return share_block(device_.ordinal, lattices, streams_.events());
        } catch (const CudaError&) {  // the system does not support interprocess handles
            unshare();
            return {};
        }
    }
    void unshare() override { streams_.make_events(false); }  // interprocess events cannot be captured in a graph

    void set_interior(const backend::Interior& interior) override {
        ++revision_;
        interior_ = interior;
        const backend::RowBox nearby = interior.with_adjacent_rows(address_.ny, address_.nz);
        shell_ = backend::Shell(address_.ny, address_.nz, nearby);
        adjacent_ = backend::Shell(nearby, interior.rows);
        streams_.divide(!interior.empty(), interior.defers_ends);
    }

    void apply_boundaries() override {
        streams_.join();
        scaling_.set_numbers({links_.wall_temperatures(), heat_.links(), turbulence_.links(), walls_.columns()});
        const ScalingArguments scaling = scaling_.arguments();
        const bool programmatic_launch = may_launch_early();
        links_.apply(state(), scaling, scaling_.scales_values(), row_ends_.current_end_sums(), programmatic_launch);
        boundary_.complete(state(), lattices_[next()].as<void>(), row_ends_, scaling, programmatic_launch);
        walls_.fill(state(), programmatic_launch);
        turbulence_.renew(programmatic_launch);
    }
    void change_incoming() override {
        links_.apply_sheets(state(), scaling_.arguments(), scaling_.scales_values(), may_launch_early());
        moving_.change_incoming(state(), may_launch_early());
        boundary_.finish(state(), scaling_.arguments(), may_launch_early());
        heat_.advance_next_to_bodies(state(), may_launch_early());
    }
    void start_boundary_numbers() override { boundary_.start(state()); }
    void boundary_numbers(double* out) const override { boundary_.get(state(), out); }
    void set_boundary_numbers(const double* values) override { boundary_.put(state(), values); }

    void update_shell(int /*steps: one*/) override {
        streams_.fork();
        streams_.allow_ahead();
        step_ = {next_phase(phase_), lattices_[now_].as<void>(), lattices_[next()].as<void>(), scaling_.turn()};
        turbulence_.begin_update();
        for (int k = 0; k < shell_.count; ++k) {
            update(streams_.border(), shell_.boxes[k]);
        }
        if (interior_.is_trimmed(address_.nx)) {
            update(streams_.border(), interior_.rows, RowPart::Ends);
        }
        streams_.after_late(streams_.border());
        for (int k = 0; k < adjacent_.count; ++k) {
            update(streams_.border(), adjacent_.boxes[k]);
        }
        phase_ = step_.phase;
        row_ends_.was_updated();
        scaling_.was_updated(1);
        now_ = next();
        heat_.put_next_to_bodies(streams_.border(), state(), false, !streams_.divided());
    }

    void update_interior() override {
        if (streams_.divided()) {
            streams_.after_late(stream_);
            update(stream_, interior_.rows, inner_part());
            heat_.put_next_to_bodies(stream_, state(), true, false);
        }
    }

    void record(backend::Timestamp timestamp) override { streams_.record(timestamp); }
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const override {
        return streams_.seconds_between(from, to);
    }

    int updates_of_cycle() const override {
        return std::lcm(std::lcm(spec_.state->phases, spec_.state->lattices), turbulence_.schedule().steps_of_cycle());
    }
    int place_in_cycle() const override {
        return 8 * turbulence_.schedule().place_in_cycle() + 4 * scaling_.turn() + 2 * phase_index(phase_) + now_;
    }
    Index updates_in_cycle() const override {
        return row_ends_.is_steady() ? turbulence_.schedule().steps_in_cycle() : 0;
    }
    void count_replayed(Index updates) override {
        turbulence_.count_replayed(updates);
        scaling_.was_updated(updates);
    }
    Index revision() const override { return revision_; }
    std::unique_ptr<backend::Recorder> make_recorder(const std::vector<BlockState*>& mates) override {
        auto others = streams_of(mates);
        return others ? std::make_unique<StepRecorder>(streams_, std::move(*others)) : nullptr;
    }
    std::unique_ptr<backend::StepBatch> make_batch(const std::vector<BlockState*>& mates) override {
        auto others = streams_of(mates);
        return others ? std::make_unique<LaunchBatch>(device_.ordinal, device_.architecture(), streams_,
                                                      std::move(*others))
                      : nullptr;
    }

    void initialize(const backend::InitialFields& fields) override { initialize(fields, {}); }
    void initialize(const backend::InitialFields& fields, const backend::GpuFields& arrays) override {
        restart_phase();
        initialize_layers(spec_, address_, stream_, kernels_, fields, arrays, state());
    }
    backend::GpuInputs* gpu_inputs() override { return this; }

    using Box = backend::CellBox;
    void density(float* out, const Box& box) const override { staging_.read_box(state(), "density", 1, box, out); }
    void density(double* out, const Box& box) const override { staging_.read_box(state(), "density", 1, box, out); }
    void velocity(float* out, const Box& box) const override { staging_.read_box(state(), "velocity", D_, box, out); }
    void velocity(double* out, const Box& box) const override { staging_.read_box(state(), "velocity", D_, box, out); }
    void populations(float* out) const override { read_populations("population", "float", out); }
    void populations(double* out) const override { read_populations("population", "double", out); }
    void set_populations(const double* values) override {
        restart_phase();
        staging_.write_components(state(), "set_population", address_.Q, values);
    }

    std::shared_ptr<backend::DeviceArray> device_field(backend::FieldName name, double reference) const override {
        return make_device_field(spec_, address_, stream_, kernels_, state(), name, reference);
    }

    void get_state(void* out) const override {
        backend::with_stored(spec_.storage, [&](auto stored) {
            read_populations("get_stored", "", static_cast<decltype(stored)*>(out));
        });
    }
    void set_state(const void* values) override {
        restart_phase();
        backend::with_stored(spec_.storage, [&](auto stored) {
            staging_.write_components(state(), "set_stored", address_.Q, static_cast<const decltype(stored)*>(values));
        });
    }
    backend::ThermalState* thermal() override { return backend::has_temperature(spec_) ? this : nullptr; }
    void temperature(float* out) const override { heat_.read(state(), out); }
    void temperature(double* out) const override { heat_.read(state(), out); }
    void set_temperature(const double* values) override { heat_.set(state(), values); }
    double heat(const std::vector<backend::HeatSample>& samples, double* each) const override {
        return heat_.sampled(state(), samples, each);
    }
    void column_heat(Index first, Index count, backend::ColumnHeat* out) const override {
        walls_.heat(state(), first, count, out);
    }
    double temperature_change() override { return heat_.change(state()); }
    backend::ScaledState* scaled() override { return &scaling_; }
    backend::MovingState* moving() override { return &moving_; }
    backend::TurbulenceState* turbulence() override {
        return spec_.has_eddy_viscosity || backend::keeps_velocity(spec_) ? &turbulence_ : nullptr;
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
        return {sums[0], {sums[1], sums[2], sums[3]}, sums[4], has_temperature(spec_) ? heat_.total(state()) : 0};
    }

    void velocity_change(double& change2, double& norm2) override {
        sums_.velocity_change(state(), D_, change2, norm2);
    }
    backend::Extremes extremes() const override { return sums_.extremes(state()); }
    std::unique_ptr<backend::CellStatistics> make_cell_statistics() override {
        return std::make_unique<DeviceStatistics>(spec_, address_, stream_, kernels_, [this] { return state(); });
    }

private:
    /// The streams of other blocks; nothing if one of them is not on a GPU.
    static std::optional<std::vector<StepStreams*>> streams_of(const std::vector<BlockState*>& blocks) {
        std::vector<StepStreams*> all;
        for (BlockState* block : blocks) {
            auto* on_gpu = dynamic_cast<CudaBlock*>(block);
            if (on_gpu == nullptr) {
                return std::nullopt;
            }
            all.push_back(&on_gpu->streams_);
        }
        return all;
    }

    template <class Out>
    void read_populations(const char* kernel, const char* type, Out* out) const {
        staging_.read_components(state(), kernel, type, address_.Q, out);
    }
    void change_force(const double* uniform, const FieldSource& field, int series) {
        ++revision_;
        const auto changed = [this] {
            choose_updates();
            if (plan_ != nullptr) {
                expect_kernels();
            }
        };
        force_.set(
            uniform, field, series, [this] { return state(); }, changed);
    }
    void change_heat_source(double uniform, const FieldSource& field) {
        ++revision_;
        heat_.set_source(uniform, field, backend::field_pitch(address_.nx), [this] { return state(); });
    }
    void choose_updates() { updates_.choose(force_.kind(), row_ends_.end_sums(), row_ends_.row_ends(), device_.name); }
    void restart_phase() {
        phase_ = spec_.state->first_phase;
        now_ = 0;
        row_ends_.state_was_set();
    }
    RowPart inner_part() const { return interior_.is_trimmed(address_.nx) ? RowPart::Inner : RowPart::Whole; }
    /// Starts to compile the kernels of the next steps, in the order in which they will be needed.
    void expect_kernels() {
        links_.expect_kernels(phase_, scaling_.has_values());
        scaling_.expect_kernels();
        heat_.expect_kernels();
        walls_.expect_kernels();
        boundary_.expect_kernels();
        moving_.expect_kernels();
        turbulence_.expect_kernels();
        for (const backend::ScheduledUpdate& update :
             backend::kinds_of_updates(phase_, turbulence_.schedule(), spec_.refresh_every)) {
            kernels_.expect(updates_.name(update));
            if (interior_.is_trimmed(address_.nx)) {
                kernels_.expect(updates_.part_name(update));
            }
        }
    }
    /// Whether kernels of boundaries may begin while the one before goes on.
    bool may_launch_early() const { return !streams_.divided() && !scaling_.sets_numbers(); }
    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index cells() const { return rows() * address_.nx; }
    int next() const { return (now_ + 1) % spec_.state->lattices; }
    SampledBlock sampled() {
        return {spec_, stream_, kernels_, [this] { return state(); }, revision_, streams_};
    }

    StateArguments state() const {
        StateArguments a{};
        a.data = lattices_[now_].as<void>();
        a.address = address_;
        a.phase = phase_;
        a.compressibility = spec_.compressibility;
        force_.put(a);
        a.solid = solid_.as<unsigned char>();
        a.solid_velocity = solid_velocity_.as<double>();
        a.hybrid_thermal = backend::is_hybrid(spec_);
        a.heat = spec_.heat;
        a.heat.source = heat_.uniform_source();
        a.heat_field = heat_.source_field();
        return a;
    }

    std::unique_ptr<backend::Transfers> make_transfers_on(const WorkStream& stream,
                                                          const std::vector<backend::Transfer>& list) {
        ++revision_;
        const KernelName name{"transfer.h", "lbm::cuda::transfer<" + type_name(spec_.storage) + ">"};
        kernels_.expect(name);
        return std::make_unique<DeviceTransfers>(
            list, DeviceTransfers::Owner{stream, size_of(spec_.storage), kernels_, name, backend::phases_of(spec_),
                                         phase_, now_});
    }

    void update(const WorkStream& stream, const backend::RowBox& rows, RowPart part = RowPart::Whole) {
        backend::with_real(spec_.precision, [&](auto real) { launch_update<decltype(real)>(stream, rows, part); });
    }

    template <class Real>
    void launch_update(const WorkStream& stream, const backend::RowBox& rows, RowPart part) {
        with_update_arguments<Real>(spec_, address_, step_.phase, [&](auto& a) {
            if constexpr (requires { a.force_field; }) {
                force_.put(a, step_.turn);
                a.end_sums = {static_cast<Real*>(row_ends_.numbers())};
                a.heat.source = Real(heat_.uniform_source());
                a.heat_field = static_cast<const Real*>(heat_.source_field());
            }
            if constexpr (requires { a.parameters.kept_velocity; }) {
                turbulence_.set(a.parameters);
            }
            set_rows(a, spec_, rows, device_.l2_bytes);
            a.source = step_.source;
            a.target = step_.target;
            const backend::ScheduledUpdate kind = turbulence_.update(step_.phase);
            const LaunchConfiguration& configuration = updates_.configuration(kind);
            if constexpr (!requires { a.force_field; }) {
                if (part != RowPart::Whole) {
                    launch_part(kernels_.get(updates_.part_name(kind)), stream, configuration, part, interior_,
                                streams_.divided(), a);
                    return;
                }
            }
            LaunchDimensions dimensions = update_launch(spec_, configuration, rows.count());
            dimensions.programmatic_launch = !streams_.divided();
            kernels_.get(updates_.name(kind)).launch(stream, dimensions, a);
        });
    }

    BlockSpec spec_;
    int D_;
    DeviceInfo device_;
    Address address_;
    ChosenUpdates updates_{spec_};
    StepStreams streams_;
    const WorkStream& stream_ = streams_.main();
    Index revision_ = 0;  // see BlockState::revision()
    mutable KernelSet kernels_;
    DeviceBuffer lattices_[2];
    int now_ = 0;
    Phase phase_ = spec_.state->first_phase;
    /// The current step, from update_shell() on.
    struct Step {
        Phase phase;
        const void* source;
        void* target;
        int turn;  // of what is scaled
    } step_{};
    backend::Interior interior_{};
    backend::Shell shell_{address_.ny, address_.nz, interior_.rows}, adjacent_{};  // beside a late interior
    const backend::LinkPlan* plan_ = nullptr;
    DeviceLinks links_{spec_, stream_, kernels_};
    DeviceBuffer solid_, solid_velocity_;
    DeviceRowEnds row_ends_{spec_, address_, stream_};
    mutable DeviceSums sums_{spec_, stream_, kernels_};
    mutable FieldStaging staging_{spec_, address_, stream_, kernels_};
    mutable DeviceHeat heat_{spec_, address_, stream_, kernels_, sums_, staging_};
    DeviceWalls walls_{spec_, stream_, kernels_};
    DeviceBoundary boundary_{spec_, stream_, kernels_};
    DeviceScaling scaling_{spec_, stream_, kernels_, revision_};
    DeviceMoving moving_{spec_, streams_, kernels_, scaling_, revision_, [this] { return sampled(); }};
    DeviceForce force_{spec_, address_, stream_, staging_, scaling_};
    DeviceTurbulence turbulence_{spec_, address_, stream_, kernels_, staging_, [this] { return state(); }};
};

}  // namespace

std::unique_ptr<backend::BlockState> make_block(const BlockSpec& spec, int ordinal) {
    return std::make_unique<CudaBlock>(spec, ordinal);
}

}  // namespace lbm::cuda
