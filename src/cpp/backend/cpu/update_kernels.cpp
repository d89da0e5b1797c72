// The update of rows of cells for one stencil and one instruction set; compiled once for each pair of them.
//
// Streaming is data here: a table of offsets says where each population arrives and departs, so that one kernel
// serves both streamings, and both give the same bits.
#include <cstdint>

#include "../../lattice/cell_update.h"
#include "../../lattice/collisions/bgk.h"
#include "../../lattice/collisions/mrt.h"
#include "../../lattice/collisions/regularized.h"
#include "../../lattice/collisions/trt.h"
#include "kernels.h"
#include "pack.h"

#define LBM_JOIN_(a, b, c) a##_##b##_##c
#define LBM_JOIN(a, b, c) LBM_JOIN_(a, b, c)

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;
constexpr int Q = S::Q;

/// A pack of cells side by side in one row.
template <class Real, class Storage>
class RowCells {
public:
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using Value = Pack<Real, W>;

    LBM_HD explicit RowCells(const UpdateArguments& arguments)
        : a_(arguments), source_(static_cast<const Storage*>(a_.source)), target_(static_cast<Storage*>(a_.target)) {
        for (int i = 0; i < Q; ++i) {
            arrive_[i] = offset(arriving<S>(a_.phase, i), i);
            depart_[i] = offset(departing<S>(a_.phase, i), i);
        }
        for (int d = 0; d < S::D; ++d) {
            uniform_force_[d] = Real(a_.force[d]);
        }
    }

    LBM_HD void enter_row(int y, int z) {
        const bool row_follows = y + 1 < a_.address.ny;
        to_next_row_ = a_.address.row(row_follows ? y + 1 : 0, row_follows ? z : z + 1, 0) - a_.address.row(y, z, 0);
        y_ = y;
        z_ = z;
        const Index row = a_.address.row(y, z, 0);
        for (int i = 0; i < Q; ++i) {
            arrive_row_[i] = source_ + row + arrive_[i];
            depart_row_[i] = target_ + row + depart_[i];
        }
        if (a_.force_field != nullptr) {
            force_row_ =
                static_cast<const Real*>(a_.force_field) + (Index(z) * a_.address.ny + y) * S::D * a_.force_pitch;
        }
    }

    LBM_HD void enter_pack(Index x) {
        x_ = x;
        first_ = x == 0;
        last_ = x + W >= a_.address.nx;
    }

    LBM_HD void load(Value (&h)[Q]) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { h[i] = load_stored<Real, W>(arrive_row_[i] + x_); });
        fetch_ahead();
        if (first_) [[unlikely]] {
            take_sides<1>(h, 0, 0);
        }
        if (last_) [[unlikely]] {
            take_sides<-1>(h, 1, last_lane());
        }
    }

    LBM_HD bool force(Value (&force)[S::D]) const {
        if (!a_.forced) {
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force[d] = Value{}; });
            return false;
        }
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            force[d] = Value{} + uniform_force_[d];
            if (a_.force_field != nullptr) {
                force[d] = load_pack<Real, W>(force_row_ + d * a_.force_pitch + x_);
            }
        });
        return true;
    }

    LBM_HD void store(const Value (&h)[Q]) const {
        if (first_ || last_) [[unlikely]] {
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_at_edge<i>(depart_row_[i] + x_, h[i]); });
        } else {
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { store_stored<Real, W>(depart_row_[i] + x_, h[i]); });
        }
    }

private:
    LBM_HD Index offset(Place place, int i) const {
        const Address& a = a_.address;
        const Index rows = Index(S::c[i][2]) * (a.ny + 2 * a.halo_y) + S::c[i][1];
        return place.slot * a.population_stride + place.along * (rows * a.row_stride + S::c[i][0]);
    }

    /// Asks for lines before they are wanted; the Q streams are too many and too short for the hardware to foresee.
    /// Twice: a row ahead into the second-level cache, which can wait for more lines at a time than the first one can,
    /// and a few packs ahead into the first-level cache. With the latter alone two cores were a third slower.
    LBM_HD void fetch_ahead() const {
        constexpr int packs_ahead = 2;
        if (sizeof(Storage) * W < 64 && (x_ & W) != 0) {
            return;  // every other pack begins a new line
        }
        Index soon = x_ + packs_ahead * W;
        if (soon >= a_.address.nx) {
            soon += to_next_row_ - a_.address.nx / W * W;
        }
        const Index later = x_ + to_next_row_;
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(arrive_row_[i] + soon, 1, 3); });
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(arrive_row_[i] + later, 1, 2); });
        if (a_.phase == Phase::TwoLattice) {
            // The other lattice too: with so many streams that beats stores past the cache by half.
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(depart_row_[i] + soon, 1, 3); });
            static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA { __builtin_prefetch(depart_row_[i] + later, 1, 2); });
        }
    }

    LBM_HD int last_lane() const { return int(a_.address.nx - 1 - x_); }

    /// Replaces one lane of the populations that cross a face of the x axis inwards.
    template <int Inwards>
    LBM_HD void take_sides(Value (&h)[Q], int face, int lane) const {
        static_for<Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if constexpr (S::c[i][0] == Inwards) {
                constexpr int k = Stencil<S>::crossing_rank(i);
                h[i] = with_lane(h[i], lane, from_storage<Real>(source_[a_.address.side_in(face, k, y_, z_)]));
            }
        });
    }

    /// At the ends of a row: what leaves through a face of the x axis goes to the side columns, the rest to its slot.
    template <int i>
    LBM_HD void store_at_edge(Storage* there, Value h) const {
        constexpr int cx = S::c[i][0];
        if constexpr (cx == 0) {
            store_stored<Real, W>(there, h);
        } else {
            if (!(cx < 0 ? first_ : last_)) {
                store_stored<Real, W>(there, h);
                return;
            }
            alignas(64) Storage lanes[W];
            store_stored<Real, W>(lanes, h);
            constexpr int k = Stencil<S>::crossing_rank(i);
            target_[a_.address.side_out(cx < 0 ? 0 : 1, k, y_, z_)] = lanes[cx < 0 ? 0 : last_lane()];
            if (a_.phase != Phase::InPlaceNeighbor) {
                store_stored<Real, W>(there, h);
            } else {
                // One lane would land beyond the end of the row.
                constexpr int skipped = cx < 0 ? 1 : 0;
                __builtin_memcpy(there + skipped, lanes + skipped, (W - 1) * sizeof(Storage));
            }
        }
    }

    const UpdateArguments& a_;
    const Storage* source_;
    Storage* target_;
    Index arrive_[Q];
    Index depart_[Q];
    const Storage* arrive_row_[Q];
    Storage* depart_row_[Q];
    Real uniform_force_[S::D];
    const Real* force_row_ = nullptr;
    Index to_next_row_ = 0;
    Index x_ = 0;
    int y_ = 0, z_ = 0;
    bool first_ = false, last_ = false;
};

template <class Collision, class Real, class Storage>
void update_rows(const UpdateArguments& arguments, Index first, Index last) {
    CollisionParameters<Real> parameters;
    parameters.omega = Real(arguments.parameters.omega);
    parameters.omega_odd = Real(arguments.parameters.omega_odd);
    parameters.magic = Real(arguments.parameters.magic);
    parameters.eddy = Real(arguments.parameters.eddy);
    for (int k = 0; k < Q; ++k) {
        parameters.moment_rate[k] = Real(arguments.parameters.moment_rate[k]);
        parameters.stress_share[k] = Real(arguments.parameters.stress_share[k]);
    }
    RowCells<Real, Storage> cells(arguments);
    const int ny = arguments.address.ny;
    const int nx = arguments.address.nx;
    for (Index row = first; row < last; ++row) {
        cells.enter_row(int(row % ny), int(row / ny));
        for (Index x = 0; x < nx; x += RowCells<Real, Storage>::W) {
            cells.enter_pack(x);
            update_cell<S, Collision>(cells, parameters);
        }
    }
}

template <class Collision>
UpdateKernel kernel_of(backend::NumberKind precision, backend::NumberKind storage) {
    using backend::NumberKind;
    if (precision == NumberKind::Float64) {
        return storage == NumberKind::Float64   ? update_rows<Collision, double, double>
               : storage == NumberKind::Float32 ? update_rows<Collision, double, float>
                                                : update_rows<Collision, double, Half>;
    }
    return storage == NumberKind::Float32 ? update_rows<Collision, float, float> : update_rows<Collision, float, Half>;
}

}  // namespace

UpdateKernel LBM_JOIN(kernel, LBM_ISA, LBM_STENCIL)(backend::CollisionKind collision, backend::NumberKind precision,
                                                    backend::NumberKind storage) {
    using backend::CollisionKind;
    switch (collision) {
        case CollisionKind::BGK: return kernel_of<BGK>(precision, storage);
        case CollisionKind::TRT: return kernel_of<TRT>(precision, storage);
        case CollisionKind::MRT: return kernel_of<MRT>(precision, storage);
        default: return kernel_of<Regularized>(precision, storage);
    }
}

}  // namespace lbm::cpu
