// How a GPU thread reaches its cells: V neighbours of one row, loaded and stored as vectors.
//
// Where a population moves along x, every thread needs one value of the next thread. It comes by a warp shuffle; only
// the outermost lanes of a warp reach into memory for it, or into the side columns where the row ends. Lanes beyond
// the end of a row compute padding, which nothing reads.
#pragma once

#include "../../../lattice/storage.h"
#include "arguments.h"

namespace lbm::cuda {

template <class Stored, int V>
struct alignas(sizeof(Stored) * V) Pack {
    Stored lane[V];
};

constexpr unsigned whole_warp = 0xFFFFFFFFU;

__device__ inline double from_lane_before(double x) { return __shfl_up_sync(whole_warp, x, 1); }
__device__ inline float from_lane_before(float x) { return __shfl_up_sync(whole_warp, x, 1); }
__device__ inline Half from_lane_before(Half x) { return {UInt16(__shfl_up_sync(whole_warp, unsigned(x.bits), 1))}; }
__device__ inline double from_lane_after(double x) { return __shfl_down_sync(whole_warp, x, 1); }
__device__ inline float from_lane_after(float x) { return __shfl_down_sync(whole_warp, x, 1); }
__device__ inline Half from_lane_after(Half x) { return {UInt16(__shfl_down_sync(whole_warp, unsigned(x.bits), 1))}; }

template <class S, class Real, class Stored, int V, Phase phase, Forcing forcing, class Arguments>
class RowCells {
public:
    /// The cells x .. x + V - 1 of row (y, z); all threads of a warp are in one row, in the order of x.
    __device__ RowCells(const Arguments& arguments, int x, int y, int z)
        : a_(arguments), x_(x), y_(y), z_(z), row_(a_.address.row(y, z, 0)), inside_(x < a_.address.nx) {}

    /// Brings what arrives in all V cells. All loads come first and none depends on another: the memory's latency is
    /// waited for once.
    __device__ void fetch() {
        static_for<S::Q>([&]<int i>() { load_own<i>(); });
        static_for<S::Q>([&]<int i>() { load_edge<i>(); });
        static_for<S::Q>([&]<int i>() { shift<i>(); });
    }

    /// Leaves what departs from all V cells.
    __device__ void put() {
        static_for<S::Q>([&]<int i>() { put_population<i>(); });
    }

    /// One of the V cells, as update_cell takes it.
    template <int l>
    struct Lane {
        using Value = Real;
        RowCells& cells;

        __device__ void load(Real (&h)[S::Q]) const {
            static_for<S::Q>([&]<int i>() { h[i] = from_storage<Real>(cells.h_[i].lane[l]); });
        }
        __device__ bool force(Real (&force)[S::D]) const {
            static_for<S::D>([&]<int d>() { force[d] = cells.template force_on<l>(d); });
            return forcing != Forcing::None;
        }
        __device__ void store(const Real (&h)[S::Q]) const {
            static_for<S::Q>([&]<int i>() { cells.h_[i].lane[l] = Store<Stored>::from(h[i]); });
        }
    };

private:
    using Vector = Pack<Stored, V>;

    __device__ const Stored* source() const { return static_cast<const Stored*>(a_.source); }
    __device__ Stored* target() const { return static_cast<Stored*>(a_.target); }

    /// Element x = 0 of the row that place names for velocity i.
    template <int i>
    __device__ Index row(Place place) const {
        const Index rows = Index(S::c[i][2]) * (a_.address.ny + 2 * a_.address.halo_y) + S::c[i][1];
        return row_ + place.slot * a_.address.population_stride + place.along * rows * a_.address.row_stride;
    }

    /// Populations move along x before this step, so that a thread's cells want those of its neighbours.
    template <int i>
    static constexpr bool shifted = S::c[i][0] != 0 && arriving<S>(phase, i).along != 0;

    template <int i>
    __device__ void load_own() {
        constexpr Place place = arriving<S>(phase, i);
        const Stored* from = source() + row<i>(place);
        if constexpr (V == 1 && shifted<i>) {
            // Beside the end of a row this reads padding or the halo, which load_edge replaces.
            h_[i].lane[0] = from[inside_ ? x_ - S::c[i][0] : 0];
        } else {
            h_[i] = *reinterpret_cast<const Vector*>(from + (inside_ ? x_ : 0));
        }
    }

    /// What the outermost lane wants from beyond the warp or the row.
    template <int i>
    __device__ void load_edge() {
        constexpr int cx = S::c[i][0];
        if constexpr (cx != 0) {
            constexpr int k = Stencil<S>::crossing_rank(i);
            const Stored* from = source() + row<i>(arriving<S>(phase, i));
            if (cx > 0 && x_ == 0) {
                edge_[k][0] = source()[a_.address.side_in(0, k, y_, z_)];
            } else if (cx > 0 && V > 1 && shifted<i> && first_lane() && inside_) {
                edge_[k][0] = from[x_ - 1];
            }
            if (cx < 0 && row_ends_here()) {
                edge_[k][1] = source()[a_.address.side_in(1, k, y_, z_)];
            } else if (cx < 0 && V > 1 && shifted<i> && last_lane() && inside_) {
                edge_[k][1] = from[x_ + V];
            }
        }
    }

    template <int i>
    __device__ void shift() {
        constexpr int cx = S::c[i][0];
        if constexpr (cx > 0) {
            constexpr int k = Stencil<S>::crossing_rank(i);
            if constexpr (V > 1 && shifted<i>) {
                const Stored before = from_lane_before(h_[i].lane[V - 1]);
                static_for<V - 1>([&]<int l>() { h_[i].lane[V - 1 - l] = h_[i].lane[V - 2 - l]; });
                h_[i].lane[0] = first_lane() ? edge_[k][0] : before;
            } else {
                h_[i].lane[0] = x_ == 0 ? edge_[k][0] : h_[i].lane[0];
            }
        } else if constexpr (cx < 0) {
            constexpr int k = Stencil<S>::crossing_rank(i);
            if constexpr (V > 1 && shifted<i>) {
                const Stored after = from_lane_after(h_[i].lane[0]);
                static_for<V - 1>([&]<int l>() { h_[i].lane[l] = h_[i].lane[l + 1]; });
                h_[i].lane[V - 1] = last_lane() ? edge_[k][1] : after;
            }
            static_for<V>([&]<int l>() {
                h_[i].lane[l] = x_ + l == a_.address.nx - 1 ? edge_[k][1] : h_[i].lane[l];
            });
        }
    }

    __device__ bool row_ends_here() const { return x_ < a_.address.nx && x_ + V >= a_.address.nx; }

    template <int i>
    __device__ void put_population() {
        constexpr Place place = departing<S>(phase, i);
        constexpr int cx = S::c[i][0];
        Stored* to = target() + row<i>(place);
        if constexpr (cx != 0) {
            constexpr int k = Stencil<S>::crossing_rank(i);
            if (cx < 0 && x_ == 0) {
                target()[a_.address.side_out(0, k, y_, z_)] = h_[i].lane[0];
            }
            if (cx > 0) {
                static_for<V>([&]<int l>() {
                    if (x_ + l == a_.address.nx - 1) {
                        target()[a_.address.side_out(1, k, y_, z_)] = h_[i].lane[l];
                    }
                });
            }
        }
        if constexpr (cx == 0 || place.along == 0) {
            if (inside_) {
                *reinterpret_cast<Vector*>(to + x_) = h_[i];
            }
        } else if constexpr (V == 1) {
            if (inside_ && (cx < 0 ? x_ > 0 : x_ + 1 < a_.address.nx)) {
                to[x_ + cx] = h_[i].lane[0];
            }
        } else {
            put_shifted<i>(to);
        }
    }

    /// To the neighbours along x: each thread writes its own places, the outermost lanes one beyond the warp's.
    template <int i>
    __device__ void put_shifted(Stored* to) {
        Vector own;
        if constexpr (S::c[i][0] > 0) {
            own.lane[0] = from_lane_before(h_[i].lane[V - 1]);
            static_for<V - 1>([&]<int l>() { own.lane[l + 1] = h_[i].lane[l]; });
            if (inside_ && first_lane()) {
                static_for<V - 1>([&]<int l>() { to[x_ + l + 1] = own.lane[l + 1]; });
            } else if (inside_) {
                *reinterpret_cast<Vector*>(to + x_) = own;
            }
            if (last_lane() && x_ + V < a_.address.nx) {
                to[x_ + V] = h_[i].lane[V - 1];
            }
        } else {
            own.lane[V - 1] = from_lane_after(h_[i].lane[0]);
            static_for<V - 1>([&]<int l>() { own.lane[l] = h_[i].lane[l + 1]; });
            if (inside_ && last_lane()) {
                static_for<V - 1>([&]<int l>() { to[x_ + l] = own.lane[l]; });
            } else if (inside_) {
                *reinterpret_cast<Vector*>(to + x_) = own;
            }
            if (first_lane() && inside_ && x_ > 0) {
                to[x_ - 1] = h_[i].lane[0];
            }
        }
    }

    template <int l>
    __device__ Real force_on(int d) const {
        if constexpr (forcing == Forcing::None) {
            return Real(0);
        } else if constexpr (forcing == Forcing::Uniform) {
            return a_.force[d];
        } else {
            const Index r = (Index(z_) * a_.address.ny + y_) * S::D + d;
            return inside_ ? a_.force_field[r * a_.force_pitch + x_ + l] : Real(0);
        }
    }

    __device__ static bool first_lane() { return (threadIdx.x & 31U) == 0; }
    __device__ static bool last_lane() { return (threadIdx.x & 31U) == 31U; }

    const Arguments& a_;
    const int x_, y_, z_;
    const Index row_;
    const bool inside_;
    Vector h_[S::Q];
    Stored edge_[Stencil<S>::crossing][2];
};

}  // namespace lbm::cuda
