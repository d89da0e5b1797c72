// The access of a GPU thread to the eddy viscosities of its cells, and to the velocities that it keeps for coming
// steps.
#pragma once

#include "../../../lattice/eddy_viscosity.h"
#include "arguments.h"
#include "pack.h"

namespace lbm::cuda {

/// The cells x .. x + V - 1 of row (y, z); `inside` is false for a thread beyond the last row.
template <class S, class Real, class Stored, int V, class Arguments>
class RowEddyViscosity {
public:
    static constexpr bool is_known = true;

    __device__ RowEddyViscosity(const Arguments& arguments, int x, int y, int z, bool inside)
        : a_(arguments), inside_(inside && x < a_.address.nx) {
        const int first = inside_ ? x : 0;
        viscosities_ = a_.parameters.eddy_viscosity + (Index(z) * a_.address.ny + y) * a_.force_pitch + first;
        kept_ = static_cast<Stored*>(a_.target) + a_.address.row(y, z, 0) + first + a_.parameters.kept_velocity;
    }

    /// Loads the eddy viscosities, next to the loads of the populations.
    __device__ void fetch() { viscosity_ = *reinterpret_cast<const Pack<Real, V>*>(viscosities_); }
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
        viscosity_.template rotate<n>();
        if constexpr (keeps) {
            static_for<S::D>([&]<int d>() { velocity_[d].template rotate<n>(); });
        }
    }

    /// The eddy viscosity of cell l.
    template <int l>
    __device__ Real viscosity() const {
        return viscosity_.template get<l>();
    }
    /// Sets the velocity of cell l that is kept.
    template <int l>
    __device__ void keep(const Real (&velocity)[S::D]) {
        if constexpr (keeps) {
            static_for<S::D>([&]<int d>() { velocity_[d].template set<l>(Store<Stored>::from(velocity[d])); });
        }
    }

private:
    static constexpr bool keeps = decltype(Arguments::parameters)::keeps_velocity;

    const Arguments& a_;
    const bool inside_;
    const Real* viscosities_;
    Stored* kept_;
    Pack<Real, V> viscosity_;
    Pack<Stored, V> velocity_[S::D];
};

/// Replaces RowEddyViscosity where there is none of velocity gradients.
struct NoEddyViscosity {
    static constexpr bool is_known = false;
    template <class... Arguments>
    __device__ explicit NoEddyViscosity(const Arguments&...) {}
    __device__ void fetch() {}
    __device__ void put() {}
    template <int n>
    __device__ void rotate() {}
};

/// A cell with its eddy viscosity, as the argument of update_cell or update_thermal_cell.
template <class Cell, class Viscosities, int l>
struct EddyViscosityLane : Cell {
    Viscosities& viscosities;

    __device__ bool eddy_viscosity(typename Cell::Value& viscosity) const {
        viscosity = viscosities.template viscosity<l>();
        return true;
    }
    template <int D>
    __device__ void keep_velocity(const typename Cell::Value (&velocity)[D]) const {
        viscosities.template keep<l>(velocity);
    }
};

}  // namespace lbm::cuda
