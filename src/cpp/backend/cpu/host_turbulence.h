// The eddy viscosity of a block on the CPU, and what else it takes of velocity gradients: all operations other than the
// update kernel.
#pragma once

#include <algorithm>
#include <functional>

#include "../../lattice/temperature.h"
#include "../block_layout.h"
#include "../eddy_viscosity_cells.h"
#include "../renewal_schedule.h"
#include "buffer.h"
#include "cpu_block.h"
#include "kernels.h"
#include "threads.h"

namespace lbm::cpu {

template <class S, class Real, class Stored>
class HostTurbulence final : public backend::TurbulenceState {
public:
    using View = backend::LatticeView<S, Real, Stored>;

    /// What it asks of the block: the lattice, velocities of a row (component by component, 0 in solid cells), and the
    /// force and the temperature of a cell.
    struct Block {
        std::function<View()> view;
        std::function<void(int y, int z, Real* velocity)> velocity;
        std::function<void(int x, int y, int z, double (&force)[3])> force;
        std::function<Real(int x, int y, int z)> temperature;
    };

    HostTurbulence(const backend::BlockSpec& spec, const CpuOptions& options, Block block)
        : spec_(spec), threads_(options.threads), block_(std::move(block)) {
        if (backend::keeps_velocity(spec)) {
            kernel_ = find_eddy_viscosity_kernel(options.isa, spec);
            rows_ = backend::velocity_rows(spec, backend::Device::Cpu);
            stride_ = backend::gradient_terms(spec) * pitch();
            terms_ = Buffer(sizeof(Real) * std::size_t(rows() * stride_));
        }
    }

    std::size_t bytes() const { return terms_.bytes(); }
    void set_plan(const backend::LinkPlan& plan) { plan_ = &plan; }
    void set_solid(const std::uint8_t* solid) { solid_ = solid; }

    /// Renews what is taken of velocity gradients if it is time, before an update and after boundaries and halos have
    /// been applied.
    void renew() {
        if (kernel_ == nullptr || !schedule_.renews()) {
            return;
        }
        const View view = block_.view();
        const EddyViscosityArguments arguments{
            view.data, view.address, view.phase, rows_, spec_.turbulence_factor, terms_.as<void>(), pitch()};
        parallel_shares(threads_, rows(), [&](Index first, Index last) { kernel_(arguments, first, last); });
        backend::with_gradient_terms(spec_.turbulence, spec_.takes_strain,
                                     [&](auto terms) { renew_next_to_walls<decltype(terms)>(view); });
    }
    /// Sets what an update of `phase` reads and keeps, and counts it.
    void begin_update(UpdateArguments& arguments, Phase phase) {
        if (kernel_ == nullptr) {
            return;
        }
        schedule_.begin_step();
        arguments.eddy_viscosity = has_viscosity() ? terms_.as<Real>() : nullptr;
        arguments.strain = spec_.takes_strain ? terms_.as<Real>() + (has_viscosity() ? pitch() : 0) : nullptr;
        arguments.gradient_stride = stride_;
        arguments.force_pitch = pitch();
        arguments.kept_velocity = schedule_.keeps_velocity() ? rows_.from_cell(phase, 0) : 0;
        arguments.velocity_stride = rows_.stride;
    }

    void set_steps(Index steps) override { schedule_.set_steps(steps); }

    void start_velocity() override {
        if (kernel_ == nullptr) {
            return;
        }
        const View view = block_.view();
        const int nx = spec_.size[0];
        over_rows([&](int y, int z, Index) {
            std::vector<Real> velocity(std::size_t(S::D) * nx);
            block_.velocity(y, z, velocity.data());
            for (int d = 0; d < S::D; ++d) {
                for (int x = 0; x < nx; ++x) {
                    stored(view, d, x, y, z) = Store<Stored>::from(velocity[std::size_t(d) * nx + x]);
                }
            }
        });
        schedule_.set_due(true);
    }

    void kept(double* out) const override {
        if (!schedule_.is_at_renewal()) {
            read_viscosity(out);
            return;
        }
        const View view = block_.view();
        over_rows([&](int y, int z, Index r) {
            for (int d = 0; d < S::D; ++d) {
                for (int x = 0; x < spec_.size[0]; ++x) {
                    out[d * cells() + r * spec_.size[0] + x] =
                        is_solid(x, r) ? 0 : double(from_storage<Real>(stored(view, d, x, y, z)));
                }
            }
        });
    }

    void set_kept(const double* values) override {
        const View view = block_.view();
        over_rows([&](int y, int z, Index r) {
            for (int d = 0; d < (schedule_.is_at_renewal() ? S::D : 1); ++d) {
                for (int x = 0; x < spec_.size[0]; ++x) {
                    const Real value = Real(values[d * cells() + r * spec_.size[0] + x]);
                    if (schedule_.is_at_renewal()) {
                        stored(view, d, x, y, z) = Store<Stored>::from(value);
                    } else {
                        viscosity(r)[x] = value;
                    }
                }
            }
        });
        schedule_.set_due(false);
    }

    void eddy_viscosity(float* out) const override { read(out); }
    void eddy_viscosity(double* out) const override { read(out); }

private:
    Index rows() const { return Index(spec_.size[1]) * spec_.size[2]; }
    Index cells() const { return rows() * spec_.size[0]; }
    Index pitch() const { return backend::field_pitch(spec_.size[0]); }
    bool has_viscosity() const { return spec_.turbulence != backend::no_turbulence; }
    Real* viscosity(Index row) const { return terms_.as<Real>() + row * stride_; }
    bool is_solid(int x, Index row) const { return solid_ != nullptr && solid_[row * spec_.size[0] + x] != 0; }
    Stored& stored(const View& view, int d, int x, int y, int z) const {
        return view.data[rows_.offset(view.address, view.phase, d, x, y, z)];
    }

    /// Calls visit(y, z, number of the row) for all rows.
    template <class Visit>
    void over_rows(Visit&& visit) const {
        parallel_shares(threads_, rows(), [&](Index first, Index last) {
            for (Index r = first; r < last; ++r) {
                visit(int(r % spec_.size[1]), int(r / spec_.size[1]), r);
            }
        });
    }

    template <class Terms>
    void renew_next_to_walls(const View& view) {
        if constexpr (!Stencil<S>::multispeed) {
            const auto& listed = plan_->velocity_cells;
            parallel_shares(listed.size() < 512 ? 1 : threads_, Index(listed.size()), [&](Index first, Index last) {
                for (Index k = first; k < last; ++k) {
                    const backend::VelocityCell& cell = listed[std::size_t(k)];
                    Real terms[Terms::template count<S::D>];
                    backend::gradient_terms_of_cell<Terms, S>(view, rows_, cell, plan_->velocity_links.data(),
                                                              Real(spec_.turbulence_factor), terms);
                    Real* out = terms_.as<Real>() + (Index(cell.z) * spec_.size[1] + cell.y) * stride_ + cell.x;
                    for (const Real term : terms) {
                        *out = term;
                        out += pitch();
                    }
                }
            });
        }
    }

    template <class Out>
    void read(Out* out) const {
        if (has_viscosity()) {
            read_viscosity(out);
        } else if constexpr (!Stencil<S>::multispeed) {
            read_smagorinsky(out);
        }
    }
    template <class Out>
    void read_viscosity(Out* out) const {
        over_rows([&](int, int, Index r) {
            for (int x = 0; x < spec_.size[0]; ++x) {
                out[r * spec_.size[0] + x] = is_solid(x, r) ? Out(0) : Out(viscosity(r)[x]);
            }
        });
    }
    template <class Out>
    void read_smagorinsky(Out* out) const {
        const View view = block_.view();
        const auto heat = converted<Real>(spec_.heat);
        const Real omega = Real(spec_.omega), factor = Real(spec_.parameters[1]);
        over_rows([&](int y, int z, Index r) {
            for (int x = 0; x < spec_.size[0]; ++x) {
                double force[3] = {};
                block_.force(x, y, z, force);
                const auto cell = view.cell(x, y, z);
                Real viscosity = 0;
                if (backend::is_hybrid(spec_)) {
                    const EnergyCoupling<S, Real> coupling{block_.temperature(x, y, z), heat};
                    viscosity = backend::smagorinsky_eddy_viscosity(cell, force, coupling, omega, factor);
                } else {
                    viscosity = backend::smagorinsky_eddy_viscosity(cell, force, NoCoupling{}, omega, factor);
                }
                out[r * spec_.size[0] + x] = is_solid(x, r) ? Out(0) : Out(viscosity);
            }
        });
    }

    const backend::BlockSpec& spec_;
    int threads_;
    Block block_;
    EddyViscosityKernel kernel_ = nullptr;  // null if nothing is taken of velocity gradients
    VelocityRows rows_{};
    Buffer terms_;      // for each (y, z) a row of the eddy viscosity, then rows of the strain rate
    Index stride_ = 0;  // of them, from a (y, z) to the next
    const backend::LinkPlan* plan_ = nullptr;
    const std::uint8_t* solid_ = nullptr;
    backend::RenewalSchedule schedule_{spec_.refresh_every};
};

}  // namespace lbm::cpu
