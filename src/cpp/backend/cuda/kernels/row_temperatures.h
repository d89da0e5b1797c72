// How a GPU thread reaches the temperatures of its cells and of those around them.
//
// Neighbours are read one by one, through the first-level cache: rows of temperatures are a twentieth of what a step
// moves, and a tile of them in shared memory would cost the thread blocks that hide the memory's latency.
#pragma once

#include "../../../lattice/temperature.h"
#include "arguments.h"
#include "pack.h"

namespace lbm::cuda {

/// Of the cells x .. x + V - 1 of row (y, z); with `inside` false the row is one beyond the last.
template <class S, class Real, class Stored, int V, class Arguments>
class RowTemperatures {
public:
    __device__ RowTemperatures(const Arguments& arguments, int x, int y, int z, bool inside)
        : a_(arguments), row_(Index(z) * a_.address.ny + y), x_(x), inside_(inside && x < a_.address.nx) {
        const Index own = a_.address.row(y, z, 0) + (inside_ ? x : 0);
        before_ = static_cast<const Stored*>(a_.source) + own + a_.temperature_before;
        after_ = static_cast<Stored*>(a_.target) + own + a_.temperature_after;
    }

    /// With the populations, so that the memory's latency is waited for once.
    __device__ void fetch() { t_ = *reinterpret_cast<const Pack<Stored, V>*>(before_); }
    __device__ void put() {
        if (inside_) {
            *reinterpret_cast<Pack<Stored, V>*>(after_) = t_;
        }
    }
    /// Makes the next n cells the first ones.
    template <int n>
    __device__ void rotate() {
        t_.template rotate<n>();
        first_ += n;
    }

    /// Of cell l from the first one.
    template <int l>
    __device__ LocalTemperature<S, Real> local(const HeatParameters<Real>& heat) const {
        const Index rows = a_.address.row_stride;
        const Index layers = rows * (a_.address.ny + 2 * a_.address.halo_y);
        const Stored* here = before_ + first_ + l;
        return local_temperature<S>(
            from_storage<Real>(t_.template get<l>()),
            [&]<int i>() { return from_storage<Real>(here[S::c[i][0] + S::c[i][1] * rows + S::c[i][2] * layers]); },
            heat);
    }
    template <int l>
    __device__ Real source(const HeatParameters<Real>& heat) const {
        return a_.heat_field == nullptr || !inside_ ? heat.source
                                                    : a_.heat_field[row_ * a_.force_pitch + x_ + first_ + l];
    }
    template <int l>
    __device__ void set(Real temperature) {
        t_.template set<l>(Store<Stored>::from(temperature));
    }

private:
    const Arguments& a_;
    const Index row_;
    const int x_;
    const bool inside_;
    const Stored* before_;
    Stored* after_;
    Pack<Stored, V> t_;
    int first_ = 0;  // by how many cells they are rotated
};

/// Where the fluid has no temperature.
struct NoTemperatures {
    template <class... Arguments>
    __device__ explicit NoTemperatures(const Arguments&...) {}
    __device__ void fetch() {}
    __device__ void put() {}
    template <int n>
    __device__ void rotate() {}
};

/// A cell with its temperature, as update_heated_cell takes it.
template <class Lane, class Temperatures, class S, int l>
struct HeatedLane {
    using Value = typename Lane::Value;
    static constexpr Value unit = Lane::unit;
    Lane lane;
    Temperatures& temperatures;

    __device__ void load(Value (&h)[S::Q]) const { lane.load(h); }
    __device__ void store(const Value (&h)[S::Q]) const { lane.store(h); }
    __device__ void force(Value (&force)[S::D]) const { lane.force(force); }
    __device__ LocalTemperature<S, Value> local_temperature(const HeatParameters<Value>& heat) const {
        return temperatures.template local<l>(heat);
    }
    __device__ Value heat_source(const HeatParameters<Value>& heat) const {
        return temperatures.template source<l>(heat);
    }
    __device__ void store_temperature(Value temperature) const { temperatures.template set<l>(temperature); }
};

}  // namespace lbm::cuda
