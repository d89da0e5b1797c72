// The eddy viscosity of a block on a GPU, and what else it takes of velocity gradients: all operations other than the
// update kernel.
#pragma once

#include <functional>

#include "../block_layout.h"
#include "../renewal_schedule.h"
#include "field_staging.h"
#include "kernel_names.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceTurbulence final : public backend::TurbulenceState {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it; `state` returns its arguments.
    DeviceTurbulence(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream,
                     KernelSet& kernels, FieldStaging& staging, std::function<StateArguments()> state)
        : spec_(spec),
          address_(address),
          stream_(stream),
          kernels_(kernels),
          staging_(staging),
          state_(std::move(state)),
          velocity_(backend::velocity_rows(spec, backend::Device::Gpu)) {
        if (is_kept()) {
            const Index numbers = rows() * stride();
            terms_ = DeviceBuffer(stream.ordinal(), std::size_t(numbers) * backend::size_of(spec.precision));
            stream.clear(terms_.address(), terms_.bytes());
        }
    }

    std::size_t bytes() const { return terms_.bytes() + cells_.bytes() + links_.bytes() + bits_.bytes(); }

    void set_plan(const backend::LinkPlan& plan) {
        count_ = Index(plan.velocity_cells.size());
        upload(cells_, stream_, plan.velocity_cells);
        std::vector<unsigned char> bits(std::size_t(count_ > 0 ? rows() * bits_pitch() : 0));
        for (const backend::VelocityCell& cell : plan.velocity_cells) {
            const Index row = Index(cell.z) * address_.ny + cell.y;
            bits[std::size_t(row * bits_pitch() + cell.x / 8)] |= static_cast<unsigned char>(1U << (cell.x % 8));
        }
        upload(bits_, stream_, bits);
        set_values(plan);
    }
    /// Uploads what depends on the values of faces and bodies.
    void set_values(const backend::LinkPlan& plan) { upload(links_, stream_, plan.velocity_links); }
    /// The links to walls, whose velocities a kernel may set.
    backend::VelocityLink* links() const { return links_.as<backend::VelocityLink>(); }
    void expect_kernels() const {
        if (is_kept() && count_ > 0) {
            kernels_.expect(renewal_next_to_walls());
        }
        if (is_kept() && schedule_.renews() && !schedule_.is_at_renewal()) {
            kernels_.expect(renewal());
        }
    }

    /// Renews what is taken of velocity gradients if it is time, before an update and after boundaries and halos have
    /// been applied: of cells next to walls, as an update of this step's number does so for the others, else of all.
    void renew(bool programmatic_launch) const {
        if (is_kept() && schedule_.renews()) {
            renew(!schedule_.is_at_renewal(), programmatic_launch);
        }
    }
    /// Counts an update that begins.
    void begin_update() {
        renews_ = schedule_.is_at_renewal();
        schedule_.begin_step();
    }
    /// Which updates renew the eddy viscosity; without one of velocity gradients, all of them.
    const backend::RenewalSchedule& schedule() const { return schedule_; }
    /// Counts updates that were replayed, or takes back recorded ones (BlockState::count_replayed).
    void count_replayed(Index updates) { schedule_.count(updates); }
    /// The update of `phase` that has begun.
    backend::ScheduledUpdate update(Phase phase) const { return {phase, renews_, schedule_.keeps_velocity()}; }
    /// Sets the arrays among the arguments of an update.
    template <class Parameters>
    void set(Parameters& parameters) const {
        parameters.gradient_terms = static_cast<decltype(parameters.gradient_terms)>(terms_.as<void>());
        parameters.next_to_walls = bits_.as<unsigned char>();
        parameters.next_to_walls_pitch = bits_pitch();
    }

    void set_steps(Index steps) override { schedule_.set_steps(steps); }
    void start_velocity() override {
        if (is_kept()) {
            kernels_.get(state_kernel(spec_, header, "start_velocity"))
                .launch(stream_, flat(rows() * address_.nx), state_(), RowRange{0, rows()}, velocity_);
            stream_.synchronize();
            schedule_.set_due(true);
        }
    }
    void kept(double* out) const override {
        if (schedule_.is_at_renewal()) {
            staging_.read_fields(state_(), "kept_velocity", dimensions(), out, header, velocity_);
        } else {
            eddy_viscosity(out);
        }
    }
    void set_kept(const double* values) override {
        if (schedule_.is_at_renewal()) {
            staging_.write_components(state_(), "set_kept_velocity", dimensions(), values, header, velocity_);
        } else {
            staging_.write_components(state_(), "set_eddy_viscosity", 1, values, header, terms_.as<void>(), stride());
        }
        schedule_.set_due(false);
    }
    void eddy_viscosity(float* out) const override { read(out); }
    void eddy_viscosity(double* out) const override { read(out); }

private:
    static constexpr const char* header = "eddy_viscosity.h";

    bool is_kept() const { return backend::keeps_velocity(spec_); }
    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index pitch() const { return backend::field_pitch(address_.nx); }
    /// From the numbers of a (y, z) to the next.
    Index stride() const { return backend::gradient_terms(spec_) * pitch(); }
    int dimensions() const {
        return backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::D; });
    }
    Index bits_pitch() const { return (address_.nx + 7) / 8; }

    KernelName renewal() const { return state_kernel(spec_, header, "renew_all", gradient_terms_name(spec_)); }
    KernelName renewal_next_to_walls() const {
        return state_kernel(spec_, header, "renew_next_to_walls", gradient_terms_name(spec_));
    }
    void renew(bool all, bool programmatic_launch) const {
        const EddyViscosityArguments arguments{state_(),
                                               velocity_,
                                               spec_.turbulence_factor,
                                               terms_.as<void>(),
                                               pitch(),
                                               cells_.as<backend::VelocityCell>(),
                                               count_,
                                               links_.as<backend::VelocityLink>()};
        if (all) {
            launch(renewal(), rows() * address_.nx, programmatic_launch, arguments);
        }
        if (count_ > 0) {
            launch(renewal_next_to_walls(), count_, programmatic_launch, arguments);
        }
    }
    void launch(const KernelName& name, Index threads, bool programmatic_launch,
                const EddyViscosityArguments& arguments) const {
        LaunchDimensions dimensions = flat(threads);
        dimensions.programmatic_launch = programmatic_launch;
        kernels_.get(name).launch(stream_, dimensions, arguments);
    }

    template <class Out>
    void read(Out* out) const {
        if (spec_.turbulence != backend::no_turbulence) {
            if (schedule_.is_at_renewal()) {  // the next update would renew it
                renew(true, false);
            }
            staging_.read_fields(state_(), "eddy_viscosity", 1, out, header, terms_.as<const void>(), stride());
        } else {
            staging_.read_fields(state_(), "smagorinsky_viscosity", 1, out, header, spec_.omega, spec_.parameters[1]);
        }
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    FieldStaging& staging_;
    std::function<StateArguments()> state_;
    VelocityRows velocity_;
    DeviceBuffer terms_, cells_, links_;
    DeviceBuffer bits_;  // for each row one for each cell: whether it is one of cells_
    Index count_ = 0;
    bool renews_ = false;  // whether the update that has begun renews what is taken of velocity gradients
    backend::RenewalSchedule schedule_{spec_.refresh_every};
};

}  // namespace lbm::cuda
