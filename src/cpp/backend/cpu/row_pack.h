// How a CPU kernel reaches the cells of a row: packs of them side by side. For kernels of one stencil and one
// instruction set.
//
// Streaming is data here: a table of offsets says where each population arrives and departs, so that one kernel
// serves both streamings, and both give the same bits.
#pragma once

#include "../../lattice/cell_update.h"
#include "../../lattice/parameters.h"
#include "kernels.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;
constexpr int Q = S::Q;

/// Where the populations of a row arrive and depart.
template <class Real, class Storage>
struct Row {
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));

    LBM_HD explicit Row(const UpdateArguments& arguments)
        : a(arguments), source(static_cast<const Storage*>(a.source)), target(static_cast<Storage*>(a.target)) {
        for (int i = 0; i < Q; ++i) {
            incoming_offset[i] = offset(incoming_slot<S>(a.phase, i), i);
            outgoing_offset[i] = offset(outgoing_slot<S>(a.phase, i), i);
        }
    }

    LBM_HD void enter(int y_, int z_) {
        y = y_;
        z = z_;
        const Index row = a.address.row(y, z, 0);
        const bool row_follows = y + 1 < a.address.ny;
        to_next = a.address.row(row_follows ? y + 1 : 0, row_follows ? z : z + 1, 0) - row;
        for (int i = 0; i < Q; ++i) {
            arrive[i] = source + row + incoming_offset[i];
            depart[i] = target + row + outgoing_offset[i];
        }
    }

    LBM_HD Index offset(NeighborSlot place, int i) const {
        const Address& address = a.address;
        const Index rows = Index(S::c[i][2]) * (address.ny + 2 * address.halo_y) + S::c[i][1];
        return place.slot * address.population_stride + place.along * (rows * address.row_stride + S::c[i][0]);
    }

    const UpdateArguments& a;
    const Storage* source;
    Storage* target;
    Index incoming_offset[Q], outgoing_offset[Q];
    const Storage* arrive[Q];
    Storage* depart[Q];
    Index to_next = 0;  // from this row to the next one
    int y = 0, z = 0;
};

/// A pack of cells side by side within a row, without a body force: what most packs are.
template <class Real, class Storage>
struct InnerPack {
    static constexpr int W = Row<Real, Storage>::W;
    using Value = Pack<Real, W>;
    static constexpr Real unit = storage_unit<Storage>;

    const Row<Real, Storage>& row;
    Index x;

    /// Lines are asked for a row before they are wanted; the Q streams are too many and too short for the hardware to
    /// foresee. Into the second-level cache, which can wait for more lines at a time than the first one can: with that
    /// one alone two cores were half as fast, and both at once gained nothing.
    LBM_HD void load(Value (&h)[Q]) const {
        const Index ahead = x + row.to_next;
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA {
            const Storage* arrive = row.arrive[i];
            h[i] = load_stored<Real, W>(arrive + x);
            __builtin_prefetch(arrive + ahead, 1, 2);
        });
        if (row.a.phase == Phase::TwoLattice) {
            // The other lattice too: with so many streams that beats stores past the cache by half.
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(row.depart[i] + ahead, 1, 2); });
        }
    }

    LBM_HD bool force(Value (&force)[S::D]) const {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force[d] = Value{}; });
        return false;
    }

    LBM_HD void store(const Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_stored<Real, W>(row.depart[i] + x, h[i]); });
    }
};

/// Any pack: at the ends of a row, where populations come from the side columns and go there, and with a body force.
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

    LBM_HD bool force(Value (&force)[S::D]) const {
        const UpdateArguments& a = row.a;
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            force[d] = Value{} + Real(a.force[d]);
            if (a.force_field != nullptr) {
                const Index r = (Index(row.z) * a.address.ny + row.y) * S::D + d;
                force[d] = load_pack<Real, W>(static_cast<const Real*>(a.force_field) + r * a.force_pitch + x);
            }
        });
        return a.forced;
    }

    LBM_HD void store(const Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_one<i>(row.depart[i] + x, h[i]); });
    }

private:
#if defined(__SANITIZE_THREAD__)
    /// Lanes beyond the ends of a row are loaded for nothing, while another thread may store there what nobody reads.
    /// Without them the sanitizer sees the races that matter.
    void load_inside(Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA {
            const Index from = x + incoming_slot<S>(row.a.phase, i).along * S::c[i][0];
            Storage lanes[W] = {};
            for (int k = 0; k < W; ++k) {
                if (from + k >= 0 && from + k < row.a.address.nx) {
                    lanes[k] = row.arrive[i][x + k];
                }
            }
            h[i] = load_stored<Real, W>(lanes);
        });
    }
#endif

    LBM_HD bool first() const { return x == 0; }
    LBM_HD bool last() const { return x + W >= row.a.address.nx; }
    LBM_HD int last_lane() const { return int(row.a.address.nx - 1 - x); }

    /// Replaces one lane of the populations that cross a face of the x axis inwards.
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

    /// What leaves through a face of the x axis goes to the side columns, the rest to its slot.
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
        row.target[row.a.address.x_face_out(cx < 0 ? 0 : 1, k, row.y, row.z)] = lanes[cx < 0 ? 0 : last_lane()];
        if (row.a.phase != Phase::AAOdd) {
            store_stored<Real, W>(there, h);
        } else {
            // One lane would land beyond the end of the row.
            constexpr int skipped = cx < 0 ? 1 : 0;
            __builtin_memcpy(there + skipped, lanes + skipped, (W - 1) * sizeof(Storage));
        }
    }
};

}  // namespace
}  // namespace lbm::cpu
