// The temperature of a block on the CPU: all operations other than the update kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../block_state.h"
#include "../multispeed_cells.h"
#include "../wall_heat.h"
#include "field_rows.h"
#include "threads.h"

namespace lbm::cpu {

template <class S, class Real, class Stored>
class HostHeat {
public:
    using View = backend::LatticeView<S, Real, Stored>;

    HostHeat(const backend::BlockSpec& spec, int threads)
        : heat_(spec.heat), gravity_{spec.gravity[0], spec.gravity[1], spec.gravity[2]}, threads_(threads) {
        if constexpr (Stencil<S>::multispeed) {
            tau_q_minus_half_ = backend::parameters_of<MultispeedParameters<double>>(spec).tau_q_minus_1 + 0.5;
        }
    }

    std::size_t bytes() const {
        return source_.bytes() + (last_.capacity() + new_temperatures_.capacity()) * sizeof(Real);
    }

    Real at(const View& view, int x, int y, int z) const {
        if constexpr (Stencil<S>::multispeed) {
            return backend::temperature_of<S>(backend::gas_between_steps(view.cell(x, y, z), gravity_));
        } else {
            return temperatures(view).at(place(view, x, y, z));
        }
    }
    static void set(const View& view, int x, int y, int z, double value) {
        temperatures(view).slot[place(view, x, y, z)] = Store<Stored>::from(Real(value));
    }
    static void fill(const View& view, const backend::WallTemperature& wall) {
        backend::fill_wall_temperature(temperatures(view), wall);
    }

    const Real* source_field() const { return source_.data(); }
    void set_source(const Address& address, double uniform, const double* field) {
        heat_.source = uniform;
        source_.set(address, 1, field, threads_);
    }
    const HeatParameters<double>& parameters() const { return heat_; }

    void set_plan(const backend::LinkPlan& plan) {
        plan_ = &plan;
        new_temperatures_.resize(plan.thermal_cells.size());
    }
    void set_interior(const backend::Interior& interior) { interior_ = interior; }

    /// Computes the temperatures of cells next to bodies after the next step, before the update and after boundaries
    /// and halos have been applied. `force(x, y, z, F)` sets F to the force without buoyancy.
    template <class Force>
    void advance_next_to_bodies(const View& view, Force&& force) {
        const auto count = Index(new_temperatures_.size());
        const auto heat = converted<Real>(heat_);
        parallel_shares(count < 512 ? 1 : threads_, count, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                const backend::ThermalCell& cell = plan_->thermal_cells[std::size_t(k)];
                double given[3] = {};
                force(cell.x, cell.y, cell.z, given);
                const Real f[3] = {Real(given[0]), Real(given[1]), Real(given[2])};
                const Real source =
                    source_.data() == nullptr ? heat.source : source_.at(view.address, 1, 0, cell.x, cell.y, cell.z);
                new_temperatures_[std::size_t(k)] = backend::advanced_next_to_body(
                    view, cell, plan_->thermal_links.data(), plan_->thermal_terms.data(), f, source, heat);
            }
        });
    }
    /// Stores these temperatures after their update: those of the interior, or those of the shell.
    void put_next_to_bodies(const View& view, bool of_interior) const {
        for (std::size_t k = 0; k < new_temperatures_.size(); ++k) {
            const backend::ThermalCell& cell = plan_->thermal_cells[k];
            if (interior_.holds(cell.x, cell.y, cell.z) == of_interior) {
                set(view, cell.x, cell.y, cell.z, double(new_temperatures_[k]));
            }
        }
    }

    template <class Out>
    void read(const View& view, const std::uint8_t* solid, Out* out) const {
        over_cells(view, [&](int x, int y, int z, Index cell) {
            out[cell] = solid != nullptr && solid[cell] != 0 ? Out(0) : Out(at(view, x, y, z));
        });
    }
    /// Sets the temperature of all cells; null for 0.
    void write(const View& view, const double* values) const {
        over_cells(
            view, [&](int x, int y, int z, Index cell) { set(view, x, y, z, values == nullptr ? 0.0 : values[cell]); });
    }

    static double sampled(const View& view, const std::vector<backend::HeatSample>& samples, double* each) {
        double sum = 0;
        for (std::size_t k = 0; k < samples.size(); ++k) {
            const double heat = backend::sampled_heat(temperatures(view), samples[k]);
            sum += heat;
            if (each != nullptr) {
                each[k] = heat;
            }
        }
        return sum;
    }

    /// The heat of wall columns, which blocks of the multispeed thermal model alone have.
    void of_columns(const View& view, const backend::WallColumn* columns, Index count, backend::ColumnHeat* out) const {
        parallel_shares(count < 512 ? 1 : threads_, count, [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                if constexpr (Stencil<S>::multispeed) {
                    out[k] = backend::column_heat(view, columns[k], gravity_, tau_q_minus_half_);
                }
            }
        });
    }

    double change(const View& view, const std::uint8_t* solid) {
        const bool first_call = last_.empty();
        last_.resize(std::size_t(Index(view.address.nx) * rows(view)));
        std::vector<double> largest(std::size_t(rows(view)));
        over_cells(view, [&](int x, int y, int z, Index cell) {
            if (solid == nullptr || solid[cell] == 0) {
                const Real now = at(view, x, y, z);
                double& of_row = largest[std::size_t(cell / view.address.nx)];
                of_row = std::max(of_row, std::abs(double(now) - double(last_[std::size_t(cell)])));
                last_[std::size_t(cell)] = now;
            }
        });
        return first_call ? std::numeric_limits<double>::infinity() : *std::max_element(largest.begin(), largest.end());
    }

private:
    static Index rows(const View& view) { return Index(view.address.ny) * view.address.nz; }
    static backend::TemperatureView<Real, Stored> temperatures(const View& view) {
        return {view.data, view.address, view.phase};
    }
    static Index place(const View& view, int x, int y, int z) {
        return temperature_offset(view.address, Phase::TwoLattice, x, y, z);
    }

    /// Calls visit(x, y, z, index of the cell) for all cells.
    template <class Visit>
    void over_cells(const View& view, Visit&& visit) const {
        const Address& a = view.address;
        parallel_shares(threads_, rows(view), [&](Index first, Index last) {
            for (Index r = first; r < last; ++r) {
                for (int x = 0; x < a.nx; ++x) {
                    visit(x, int(r % a.ny), int(r / a.ny), r * a.nx + x);
                }
            }
        });
    }

    HeatParameters<double> heat_;
    double gravity_[3];
    double tau_q_minus_half_ = 0;
    int threads_;
    const backend::LinkPlan* plan_ = nullptr;
    backend::Interior interior_{};
    FieldRows<Real> source_;
    std::vector<Real> last_;
    std::vector<Real> new_temperatures_;  // temperatures of the plan's thermal cells after the step
};

}  // namespace lbm::cpu
