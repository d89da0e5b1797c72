// The access of a GPU thread to the velocities that the last step has kept, of its cells and of their neighbours along
// the axes, for their gradients.
#pragma once

#include "../../../lattice/turbulence/gradient.h"
#include "pack.h"

namespace lbm::cuda {

/// The velocities of V cells of a row. Rows behind and ahead are read as vectors, through the caches; the neighbours
/// along x come by a warp shuffle, or from memory at the ends of a warp or row. Template parameters are as in RowCells.
template <class S, class Real, class Stored, int V, int self_periodic, bool whole_packs>
class RowVelocities {
public:
    /// Takes the cells x .. x + V - 1 of row (y, z); `row` is the first component of its cell 0, and `stride` is from a
    /// component to the next. All threads of a warp must be in one row; one beyond its end is not `inside`.
    __device__ RowVelocities(const Address& address, const Stored* row, Index stride, int x, int y, int z, bool inside)
        : nx_(address.nx), first_(inside ? x : 0), row_(row), stride_(stride) {
        const Index rows = address.row_stride, layers = rows * (address.ny + 2 * address.halo_y);
        behind_[0] = (self_periodic & 2) != 0 && y == 0 ? rows * (address.ny - 1) : -rows;
        ahead_[0] = (self_periodic & 2) != 0 && y == address.ny - 1 ? -rows * (address.ny - 1) : rows;
        behind_[1] = (self_periodic & 4) != 0 && z == 0 ? layers * (address.nz - 1) : -layers;
        ahead_[1] = (self_periodic & 4) != 0 && z == address.nz - 1 ? -layers * (address.nz - 1) : layers;
    }

    /// Loads all velocities; every thread of a warp must call it. No load depends on another, so that the memory
    /// latency is waited for only once.
    __device__ void fetch() {
        static_for<S::D>([&]<int d>() {
            const Stored* there = row_ + d * stride_ + first_;
            rows_[d][0] = pack(there);
            static_for<S::D - 1>([&]<int k>() {
                rows_[d][2 * k + 1] = pack(there + behind_[k]);
                rows_[d][2 * k + 2] = pack(there + ahead_[k]);
            });
        });
        const bool ends_row = first_ + V >= nx_;
        const bool starts_warp = (threadIdx.x & 31U) == 0, ends_warp = (threadIdx.x & 31U) == 31 || ends_row;
        Stored low[S::D]{}, high[S::D]{};
        if (starts_warp) {
            static_for<S::D>([&]<int d>() { low[d] = row_[d * stride_ + (closes && first_ == 0 ? nx_ : first_) - 1]; });
        }
        if (ends_warp) {
            static_for<S::D>([&]<int d>() { high[d] = row_[d * stride_ + (closes && ends_row ? 0 : first_ + V)]; });
        }
        static_for<S::D>([&]<int d>() {
            const Real before = __shfl_up_sync(whole_warp, number<V - 1>(rows_[d][0]), 1);
            const Real after = __shfl_down_sync(whole_warp, number<0>(rows_[d][0]), 1);
            low_[d] = starts_warp ? from_storage<Real>(low[d]) : before;
            high_[d] = ends_warp ? from_storage<Real>(high[d]) : after;
        });
    }

    /// The gradient in cell l.
    template <int l>
    __device__ VelocityGradient<Real, S::D> gradient() const {
        VelocityGradient<Real, S::D> gradient;
        static_for<S::D>([&]<int d>() {
            gradient.of[d][0] = central_difference(along<d, l + 1>(), along<d, l - 1>());
            static_for<S::D - 1>([&]<int k>() {
                gradient.of[d][k + 1] =
                    central_difference(number<l>(rows_[d][2 * k + 2]), number<l>(rows_[d][2 * k + 1]));
            });
        });
        return gradient;
    }

private:
    using Vector = Pack<Stored, V>;
    static constexpr bool closes = (self_periodic & 1) != 0;  // the cell behind the last one is the first

    __device__ static Vector pack(const Stored* there) { return *reinterpret_cast<const Vector*>(there); }
    template <int l>
    __device__ static Real number(const Vector& pack) {
        return from_storage<Real>(pack.template get<l>());
    }
    /// Component d of cell l of the thread's, of the one before these or of the one behind them.
    template <int d, int l>
    __device__ Real along() const {
        if constexpr (l < 0) {
            return low_[d];
        } else if constexpr (l >= V) {
            return high_[d];
        } else if constexpr (closes && !whole_packs) {  // the pack of the last cell goes on in the padding of its row
            return first_ + l == nx_ ? high_[d] : number<l>(rows_[d][0]);
        } else {
            return number<l>(rows_[d][0]);
        }
    }

    const int nx_, first_;
    const Stored* row_;
    const Index stride_;
    Index behind_[2], ahead_[2];       // to the next rows along y and z
    Vector rows_[S::D][2 * S::D - 1];  // the own one, then those behind and ahead along y and z
    Real low_[S::D], high_[S::D];      // velocities before and behind the thread's cells
};

}  // namespace lbm::cuda
