// The force on a thread's cells in an update of moments: the same in all steps and on all cells, or read beside the
// tile.
#pragma once

#include "../../../lattice/moment_state.h"
#include "../../moment_force.h"
#include "pack.h"
#include "update_kinds.h"

namespace lbm::cuda {

template <class S, class Real, int V, Forcing forcing>
class MomentForceOfThread {
public:
    static constexpr bool is_any = forcing != Forcing::None;
    static constexpr bool is_field = forcing == Forcing::Field || forcing == Forcing::ScaledField;
    static constexpr bool is_steady = !is_field && forcing != Forcing::ScaledUniform;

    /// `x` and `y` are the first of the thread's cells, of a place for which the field has numbers; `layer` is the
    /// first that comes in.
    __device__ MomentForceOfThread(const backend::MomentForce<Real>& force, const Real (&steady)[3], int x, int y,
                                   int layer)
        : force_(force), steady_{{}, is_any} {
        static_for<S::D>([&]<int d>() { steady_.of[d] = is_any ? steady[d] : Real(0); });
        if constexpr (is_field) {
            at_ = UInt32(((S::D == 3 ? force.rows.row(y, layer) : force.rows.row(layer, 0)) + x) / V);
        }
    }
    /// Goes on to the next layer.
    __device__ void next_layer() {
        if constexpr (is_field) {
            at_ += layer_stride();
        }
    }
    /// The force in a step, or for 0 that with which the state was made, on the cells of the layer that came in `back`
    /// layers ago.
    template <int step, int back>
    __device__ void get(CellForce<S, Real> (&force)[V]) const {
        static_for<V>([&]<int v>() { force[v] = steady_; });
        if constexpr (is_field) {
            static_for<S::D>([&]<int d>() {
                const auto numbers = packs()[at_ - back * layer_stride() + d * UInt32(force_.rows.pitch) / V];
                static_for<V>([&]<int v>() {
                    if constexpr (forcing == Forcing::ScaledField) {
                        force[v].of[d] = Real(numbers.lane[v] * force_.factor[step]);
                    } else {
                        force[v].of[d] = numbers.lane[v];
                    }
                });
            });
        } else if constexpr (!is_steady) {
            static_for<V>(
                [&]<int v>() { static_for<S::D>([&]<int d>() { force[v].of[d] = force_.uniform[step][d]; }); });
        }
    }

    /// The force in a step on cell v of the layer that came in `back` layers ago, or if that is an image across x or y,
    /// on the cell of which it is the image.
    template <int step, int back>
    __device__ void on_real_cell(int v, bool is_image_x, bool is_image_y, double (&force)[3]) const {
        CellForce<S, Real> all[V];
        get<step, back>(all);
        static_for<S::D>([&]<int d>() {  // the field has that of the image there
            const bool is_reversed = is_field && (d == 0 ? is_image_x : d == 1 && is_image_y);
            force[d] = double(is_reversed ? -all[v].of[d] : all[v].of[d]);
        });
    }

private:
    template <class A, class B, bool first>
    struct OneOf {
        using type = A;
    };
    template <class A, class B>
    struct OneOf<A, B, false> {
        using type = B;
    };
    using Number = typename OneOf<double, Real, forcing == Forcing::ScaledField>::type;

    __device__ const Pack<Number, V>* packs() const {
        const void* numbers = force_.field;
        if constexpr (forcing == Forcing::ScaledField) {
            numbers = force_.part;
        }
        return static_cast<const Pack<Number, V>*>(numbers);
    }
    __device__ UInt32 layer_stride() const {
        return UInt32(S::D == 3 ? force_.rows.layer_stride() : force_.rows.stride) / V;
    }

    const backend::MomentForce<Real>& force_;
    CellForce<S, Real> steady_;
    UInt32 at_ = 0;  // of the thread's cells in the layer that came in, in packs
};

}  // namespace lbm::cuda
