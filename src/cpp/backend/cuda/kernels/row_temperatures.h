// The access of a GPU thread to the temperatures of its cells and of their neighbours.
//
// Neighbouring rows are read as vectors, through the caches, and the neighbours along x one by one: passing them from
// thread to thread takes more instructions, as the ends of a warp are read in any case. In two dimensions, where there
// are few rows, threads of one cell are faster with it all the same. A tile in shared memory would leave fewer thread
// blocks to hide the memory latency. The terms that the collision needs are computed before it, from registers.
#pragma once

#include "../../../lattice/temperature.h"
#include "arguments.h"
#include "pack.h"

namespace lbm::cuda {

/// The temperatures of the cells x .. x + V - 1 of row (y, z); `inside` is false for a thread beyond the last row.
template <class S, class Real, class Stored, int V, class Arguments>
class RowTemperatures {
public:
    __device__ RowTemperatures(const Arguments& arguments, int x, int y, int z, bool inside)
        : a_(arguments), row_(Index(z) * a_.address.ny + y), x_(x), inside_(inside && x < a_.address.nx) {
        const Index own = a_.address.row(y, z, 0) + (inside_ ? x : 0);
        before_ = static_cast<const Stored*>(a_.source) + own + a_.temperature_before;
        after_ = static_cast<Stored*>(a_.target) + own + a_.temperature_after;
    }

    /// Loads all temperatures that gather() needs. It is called next to the loads of the populations, so that the
    /// memory latency is waited for only once. All threads of a warp must call it.
    __device__ void fetch() {
        const Index rows = a_.address.row_stride;
        const Index layers = rows * (a_.address.ny + 2 * a_.address.halo_y);
        [[maybe_unused]] const bool first = (threadIdx.x & 31U) == 0;
        [[maybe_unused]] const bool last = (threadIdx.x & 31U) == 31 || x_ + V >= a_.address.nx;
        static_for<9>([&]<int r>() {
            if constexpr (is_read<r>(0)) {
                const Stored* there = before_ + (r % 3 - 1) * rows + (r / 3 - 1) * layers;
                rows_[r] = *reinterpret_cast<const Pack<Stored, V>*>(there);
                if constexpr (is_read<r>(1) && !shuffles) {
                    low_[r] = there[-1];
                    high_[r] = there[V];
                } else if constexpr (is_read<r>(1)) {
                    low_[r] = __shfl_up_sync(whole_warp, rows_[r].template get<V - 1>(), 1);
                    high_[r] = __shfl_down_sync(whole_warp, rows_[r].template get<0>(), 1);
                    if (first) {
                        low_[r] = there[-1];
                    }
                    if (last) {
                        high_[r] = there[V];
                    }
                }
            }
        });
    }
    /// Computes diffusion and gradients from the temperatures that fetch() has loaded.
    __device__ void gather() {
        static_for<V>([&]<int l>() {
            local_[l] = local_temperature<S>(
                value<4, l>(), [&]<int i>() { return value<row_of(i), l + S::c[i][0]>(); }, a_.heat);
        });
    }
    __device__ void put() {
        Pack<Stored, V> after;
        static_for<V>([&]<int l>() { after.template set<l>(Store<Stored>::from(local_[l].here)); });
        if (inside_) {
            *reinterpret_cast<Pack<Stored, V>*>(after_) = after;
        }
    }
    /// Rotates the cells by n: cell n becomes the first.
    template <int n>
    __device__ void rotate() {
        LocalTemperature<S, Real> first[n];
        static_for<n>([&]<int l>() { first[l] = local_[l]; });
        static_for<V - n>([&]<int l>() { local_[l] = local_[l + n]; });
        static_for<n>([&]<int l>() { local_[V - n + l] = first[l]; });
        rotated_ += n;
    }

    /// The temperature, diffusion and gradient of cell l.
    template <int l>
    __device__ const LocalTemperature<S, Real>& local() const {
        return local_[l];
    }
    template <int l>
    __device__ Real source() const {
        return a_.heat_field == nullptr || !inside_ ? a_.heat.source
                                                    : a_.heat_field[row_ * a_.force_pitch + x_ + rotated_ + l];
    }
    /// Sets the temperature of cell l after the step.
    template <int l>
    __device__ void set(Real temperature) {
        local_[l].here = temperature;
    }

private:
    static constexpr bool shuffles = S::D == 2 && V == 1;

    /// The number of the row to which velocity i points: rows are numbered along y, then z; 4 is the cells' own row.
    static constexpr int row_of(int i) { return (S::c[i][2] + 1) * 3 + S::c[i][1] + 1; }
    /// Whether some velocity points to row r, and has a component along x if `along` is 1.
    template <int r>
    static constexpr bool is_read(int along) {
        bool read = r == 4 && along == 0;
        for (int i = 0; i < S::Q; ++i) {
            read = read || (row_of(i) == r && (along == 0 || S::c[i][0] != 0));
        }
        return read;
    }
    template <int r, int l>
    __device__ Real value() const {
        if constexpr (l < 0) {
            return from_storage<Real>(low_[r]);
        } else if constexpr (l >= V) {
            return from_storage<Real>(high_[r]);
        } else {
            return from_storage<Real>(rows_[r].template get<l>());
        }
    }

    const Arguments& a_;
    const Index row_;
    const int x_;
    const bool inside_;
    const Stored* before_;
    Stored* after_;
    Pack<Stored, V> rows_[9];
    Stored low_[9], high_[9];  // temperatures before and after the thread's cells
    LocalTemperature<S, Real> local_[V];
    int rotated_ = 0;  // by how many cells
};

/// Replaces RowTemperatures in the isothermal model.
struct NoTemperatures {
    template <class... Arguments>
    __device__ explicit NoTemperatures(const Arguments&...) {}
    __device__ void fetch() {}
    __device__ void gather() {}
    __device__ void put() {}
    template <int n>
    __device__ void rotate() {}
};

/// A cell with its temperature, as the argument of update_thermal_cell.
template <class Lane, class Temperatures, class S, int l>
struct ThermalLane {
    using Value = typename Lane::Value;
    static constexpr Value unit = Lane::unit;
    Lane lane;
    Temperatures& temperatures;

    __device__ Value compressibility() const { return lane.compressibility(); }
    __device__ void load(Value (&h)[S::Q]) const { lane.load(h); }
    __device__ void store(const Value (&h)[S::Q]) const { lane.store(h); }
    __device__ void force(Value (&force)[S::D]) const { lane.force(force); }
    __device__ LocalTemperature<S, Value> local_temperature(const HeatParameters<Value>&) const {
        return temperatures.template local<l>();
    }
    __device__ Value heat_source(const HeatParameters<Value>&) const { return temperatures.template source<l>(); }
    __device__ void store_temperature(Value temperature) const { temperatures.template set<l>(temperature); }
};

}  // namespace lbm::cuda
