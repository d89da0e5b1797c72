// The access of a CPU kernel to the cells of a row, as SIMD packs of neighbouring cells. For kernels of one stencil and
// one instruction set.
//
// Streaming is data here: tables of offsets say where incoming populations are read and outgoing ones written. So one
// kernel serves both streaming patterns, and both give the same bits.
#pragma once

#include "../../lattice/cell_update.h"
#include "../../lattice/parameters.h"
#include "kernels.h"
#include "lines_ahead.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;
constexpr int Q = S::Q;

/// Pointers to the incoming and outgoing populations of a row.
template <class Real, class Storage>
struct Row {
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));

    LBM_HD explicit Row(const UpdateArguments& arguments)
        : a(arguments),
          source(static_cast<const Storage*>(a.source)),
          target(static_cast<Storage*>(a.target)),
          compressibility(Real(a.compressibility)),
          ahead(a, W) {
        for (int i = 0; i < Q; ++i) {
            incoming_offset[i] = offset(incoming_slot<S>(a.phase, i), i);
            outgoing_offset[i] = offset(outgoing_slot<S>(a.phase, i), i);
        }
    }

    LBM_HD void enter(int y_, int z_) {
        y = y_;
        z = z_;
        const Index row = a.address.row(y, z, 0);
        to_row_ahead = row_after(a.address, y, z, a.phase == Phase::AAOdd ? 2 : 1) - row;
        for (int i = 0; i < Q; ++i) {
            incoming[i] = source + row + incoming_offset[i];
            outgoing[i] = target + row + outgoing_offset[i];
        }
        if (ahead.is_worthwhile()) {
            ahead.begin_row(y, z);
        }
    }

    LBM_HD Index offset(NeighborSlot place, int i) const {
        return row_offset<S>(a.address, place, i) + place.shift * S::c[i][0];
    }

    const UpdateArguments& a;
    const Storage* source;
    Storage* target;
    Real compressibility;
    Index incoming_offset[Q], outgoing_offset[Q];
    const Storage* incoming[Q];
    Storage* outgoing[Q];
    Index to_row_ahead = 0;  // from this row to the one for which packs ask for memory
    /// What packs ask for where that is worth while, else each asks for what its cells would read in the row ahead.
    mutable LinesAhead<S, Storage> ahead;
    int y = 0, z = 0;
};

/// A pack that does not touch the ends of its row, without a body force; most packs are of this kind.
template <class Real, class Storage>
struct InnerPack {
    static constexpr int W = Row<Real, Storage>::W;
    using Value = Pack<Real, W>;
    static constexpr Real unit = storage_unit<Storage>;

    const Row<Real, Storage>& row;
    Index x;

    /// Memory lines are prefetched one row ahead, two in odd steps in place, or three where LinesAhead does so, as the
    /// Q streams are too many and too short for the hardware prefetcher; after the loads, as a branch among these would
    /// cost registers. With one row ahead odd steps of D3Q27 took up to 7 % longer. They go to the second-level cache,
    /// which can have more lines in flight than the first-level cache: prefetching to the first level made two cores
    /// half as fast, and to both levels gained nothing.
    LBM_HD void load(Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { h[i] = load_stored<Real, W>(row.incoming[i] + x); });
        if (row.ahead.is_worthwhile()) {
            row.ahead.prefetch_part();
            return;
        }
        const Index ahead = x + row.to_row_ahead;
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(row.incoming[i] + ahead, 1, 2); });
        if (row.a.phase == Phase::TwoLattice) {
            // The target lattice is prefetched too: with so many streams this is 50 % faster than non-temporal stores.
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(row.outgoing[i] + ahead, 1, 2); });
        }
    }

    LBM_HD Real compressibility() const { return row.compressibility; }

    LBM_HD bool force(Value (&force)[S::D]) const {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force[d] = Value{}; });
        return false;
    }

    LBM_HD void store(const Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_stored<Real, W>(row.outgoing[i] + x, h[i]); });
    }
};

/// Any pack, also one at an end of its row, where populations are read from and written to the x-face buffers, and one
/// with a body force, an eddy viscosity or a strain rate.
template <class Real, class Storage>
struct AnyPack {
    static constexpr int W = Row<Real, Storage>::W;
    using Value = Pack<Real, W>;
    static constexpr Real unit = storage_unit<Storage>;

    const Row<Real, Storage>& row;
    Index x;

    LBM_HD void load(Value (&h)[Q]) const {
#if defined(__SANITIZE_THREAD__)
        load_inside(h);
#else
        InnerPack<Real, Storage>{row, x}.load(h);
#endif
        if (first()) {
            take_sides<1>(h, 0, 0);
        }
        if (last()) {
            take_sides<-1>(h, 1, last_lane());
        }
    }

    LBM_HD Real compressibility() const { return row.compressibility; }

    LBM_HD bool force(Value (&force)[S::D]) const {
        const UpdateArguments& a = row.a;
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            const Index at = ((Index(row.z) * a.address.ny + row.y) * S::D + d) * a.force_pitch + x;
            if (a.force_field != nullptr) {
                force[d] = load_pack<Real, W>(static_cast<const Real*>(a.force_field) + at);
            } else if (a.force_part != nullptr) {
                force[d] = load_scaled<Real, W>(a.force_part + at, a.force_factor);
            } else {
                force[d] = Value{} + Real(a.force[d]);
            }
        });
        return a.forced;
    }

    LBM_HD bool eddy_viscosity(Value& viscosity) const {
        const UpdateArguments& a = row.a;
        if (a.eddy_viscosity == nullptr) {
            return false;
        }
        viscosity = load_pack<Real, W>(terms(a.eddy_viscosity));
        return true;
    }

    LBM_HD bool strain(Value (&strain)[symmetric_count<S::D>]) const {
        const UpdateArguments& a = row.a;
        if (a.strain == nullptr) {
            return false;
        }
        static_for<symmetric_count<S::D>>(
            [&]<int k>() LBM_INLINE_LAMBDA { strain[k] = load_pack<Real, W>(terms(a.strain) + k * a.force_pitch); });
        return true;
    }

    LBM_HD void keep_velocity(const Value (&velocity)[S::D]) const {
        const UpdateArguments& a = row.a;
        if (a.kept_velocity != 0) {
            Storage* kept = row.target + a.address.row(row.y, row.z, 0) + a.kept_velocity + x;
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
                store_stored<Real, W>(kept + d * a.velocity_stride, velocity[d] * Real(1 / unit));
            });
        }
    }

    LBM_HD void store(const Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_one<i>(row.outgoing[i] + x, h[i]); });
    }

private:
#if defined(__SANITIZE_THREAD__)
    /// Loads only lanes within the row. Lanes beyond its ends are never used, but another thread may write there;
    /// without them the thread sanitizer reports only races that matter.
    void load_inside(Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA {
            const Index from = x + incoming_slot<S>(row.a.phase, i).shift * S::c[i][0];
            Storage lanes[W] = {};
            for (int k = 0; k < W; ++k) {
                if (from + k >= 0 && from + k < row.a.address.nx) {
                    lanes[k] = row.incoming[i][x + k];
                }
            }
            h[i] = load_stored<Real, W>(lanes);
        });
    }
#endif

    /// Numbers of velocity gradients of this pack, in rows that begin at `first`.
    LBM_HD const Real* terms(const void* first) const {
        const Index r = Index(row.z) * row.a.address.ny + row.y;
        return static_cast<const Real*>(first) + r * row.a.gradient_stride + x;
    }

    LBM_HD bool first() const { return x == 0; }
    LBM_HD bool last() const { return x + W >= row.a.address.nx; }
    LBM_HD int last_lane() const { return int(row.a.address.nx - 1 - x); }

    /// Replaces one lane of the populations that enter through an x-face by those of the x-face buffers.
    template <int Inwards>
    LBM_HD void take_sides(Value (&h)[Q], int face, int lane) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if constexpr (S::c[i][0] == Inwards) {
                constexpr int k = Stencil<S>::rank_through_x_face(i);
                const Index side = row.a.address.x_face_in(face, k, row.y, row.z);
                h[i] = with_lane(h[i], lane, units_from_storage<Real>(row.source[side]));
            }
        });
    }

    /// Stores population i: the lane that leaves through an x-face to the x-face buffers, the others to their slots.
    template <int i>
    LBM_HD void store_one(Storage* there, Value h) const {
        constexpr int cx = S::c[i][0];
        const bool leaves = cx < 0 ? first() : cx > 0 && last();
        if (!leaves) {
            store_stored<Real, W>(there, h);
            return;
        }
        alignas(64) Storage lanes[W];
        store_stored<Real, W>(lanes, h);
        constexpr int k = Stencil<S>::rank_through_x_face(i);
        row.target[row.a.address.x_face_out(cx < 0 ? 0 : 1, k, row.y, row.z, phase_index(row.a.phase))] =
            lanes[cx < 0 ? 0 : last_lane()];
        if (row.a.phase != Phase::AAOdd) {
            store_stored<Real, W>(there, h);
        } else {
            // The lane that leaves would be written beyond the end of the row.
            constexpr int skipped = cx < 0 ? 1 : 0;
            __builtin_memcpy(there + skipped, lanes + skipped, (W - 1) * sizeof(Storage));
        }
    }
};

}  // namespace
}  // namespace lbm::cpu
