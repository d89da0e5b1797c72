// The access of a GPU thread to the eddy viscosities and strain rates of its cells, which it reads or computes from
// velocity gradients, and to the velocities that it keeps for coming steps.
#pragma once

#include "../../../lattice/eddy_viscosity.h"
#include "arguments.h"
#include "pack.h"
#include "row_velocities.h"

namespace lbm::cuda {

/// The cells x .. x + V - 1 of row (y, z); `inside` is false for a thread beyond the last row. The other template
/// parameters are as in RowCells.
template <class S, class Real, class Stored, int V, int self_periodic, bool whole_packs, class Arguments>
class RowEddyViscosity {
public:
    static constexpr bool is_known = true;

    __device__ RowEddyViscosity(const Arguments& arguments, int x, int y, int z, bool inside)
        : a_(arguments), x_(x), y_(y), z_(z), inside_(inside && x < a_.address.nx) {
        const int first = inside_ ? x : 0;
        terms_ = a_.parameters.gradient_terms + (Index(z) * a_.address.ny + y) * (count * a_.force_pitch) + first;
        kept_ = static_cast<Stored*>(a_.target) + a_.address.row(y, z, 0) + first + a_.parameters.kept_velocity;
    }

    /// Loads the eddy viscosities and strain rates, or computes them; all threads of a warp must call it. It comes
    /// before the loads of the populations: beside these, the velocities would take more registers than there are.
    __device__ void fetch() {
        if constexpr (!renews) {
            static_for<count>([&]<int k>() { term_[k] = stored(k); });
            return;
        }
        const unsigned next_to_walls = bits_next_to_walls();
        const Address& address = a_.address;
        RowVelocities<S, Real, Stored, V, self_periodic, whole_packs> velocities(
            address, static_cast<const Stored*>(a_.source) + address.row(y_, z_, 0) + a_.parameters.velocity_before,
            a_.parameters.velocity_stride, x_, y_, z_, inside_);
        velocities.fetch();
        static_for<V>([&]<int l>() {
            Real terms[count];
            Parameters::Terms::compute(velocities.template gradient<l>(), a_.parameters.turbulence_factor, terms);
            static_for<count>([&]<int k>() { term_[k].template set<l>(terms[k]); });
        });
        if (next_to_walls != 0) {
            static_for<count>([&]<int k>() {
                const Pack<Real, V> others = stored(k);
                static_for<V>([&]<int l>() {
                    if ((next_to_walls >> l & 1) != 0) {
                        term_[k].template set<l>(others.template get<l>());
                    }
                });
            });
        }
        if (!keeps && inside_) {
            static_for<count>([&]<int k>() { stored(k) = term_[k]; });
        }
    }
    __device__ void put() {
        if constexpr (keeps) {
            if (inside_) {
                static_for<S::D>([&]<int d>() {
                    *reinterpret_cast<Pack<Stored, V>*>(kept_ + d * a_.parameters.velocity_stride) = velocity_[d];
                });
            }
        }
    }
    /// Rotates the cells by n: cell n becomes the first.
    template <int n>
    __device__ void rotate() {
        static_for<count>([&]<int k>() { term_[k].template rotate<n>(); });
        if constexpr (keeps) {
            static_for<S::D>([&]<int d>() { velocity_[d].template rotate<n>(); });
        }
    }

    /// Sets the eddy viscosity of cell l, or returns false if there is none.
    template <int l>
    __device__ bool viscosity(Real& viscosity) const {
        if constexpr (has_viscosity) {
            viscosity = term_[0].template get<l>();
        }
        return has_viscosity;
    }
    /// The same of the elements of its strain rate.
    template <int l>
    __device__ bool strain(Real (&strain)[symmetric_count<S::D>]) const {
        if constexpr (has_strain) {
            static_for<symmetric_count<S::D>>(
                [&]<int k>() { strain[k] = term_[k + (has_viscosity ? 1 : 0)].template get<l>(); });
        }
        return has_strain;
    }
    /// Sets the velocity of cell l that is kept.
    template <int l>
    __device__ void keep(const Real (&velocity)[S::D]) {
        if constexpr (keeps) {
            static_for<S::D>([&]<int d>() { velocity_[d].template set<l>(Store<Stored>::from(velocity[d])); });
        }
    }

private:
    using Parameters = decltype(Arguments::parameters);
    static constexpr bool keeps = Parameters::keeps_velocity, renews = Parameters::renews_terms;
    static constexpr int count = Parameters::Terms::template count<S::D>;
    static constexpr bool has_viscosity = Parameters::Terms::has_viscosity;
    static constexpr bool has_strain = count > (has_viscosity ? 1 : 0);

    __device__ Pack<Real, V>& stored(int k) const {
        return *reinterpret_cast<Pack<Real, V>*>(terms_ + k * a_.force_pitch);
    }
    /// Bit l says whether another kernel has computed the terms of cell l, which has walls next to it.
    __device__ unsigned bits_next_to_walls() const {
        const unsigned char* bits = a_.parameters.next_to_walls;
        if (bits == nullptr || !inside_) {
            return 0;
        }
        const Index row = Index(z_) * a_.address.ny + y_;
        return unsigned(bits[row * a_.parameters.next_to_walls_pitch + x_ / 8]) >> (x_ % 8) & ((1U << V) - 1U);
    }

    const Arguments& a_;
    const int x_, y_, z_;
    const bool inside_;
    Real* terms_;
    Stored* kept_;
    Pack<Real, V> term_[count];
    Pack<Stored, V> velocity_[S::D];
};

/// Replaces RowEddyViscosity where nothing is taken of velocity gradients.
struct NoEddyViscosity {
    static constexpr bool is_known = false;
    template <class... Arguments>
    __device__ explicit NoEddyViscosity(const Arguments&...) {}
    __device__ void fetch() {}
    __device__ void put() {}
    template <int n>
    __device__ void rotate() {}
};

/// A cell with its eddy viscosity and strain rate, as the argument of update_cell or update_thermal_cell.
template <class Cell, class Viscosities, int l>
struct EddyViscosityLane : Cell {
    Viscosities& viscosities;

    __device__ bool eddy_viscosity(typename Cell::Value& viscosity) const {
        return viscosities.template viscosity<l>(viscosity);
    }
    template <int count>
    __device__ bool strain(typename Cell::Value (&strain)[count]) const {
        return viscosities.template strain<l>(strain);
    }
    template <int D>
    __device__ void keep_velocity(const typename Cell::Value (&velocity)[D]) const {
        viscosities.template keep<l>(velocity);
    }
};

}  // namespace lbm::cuda
