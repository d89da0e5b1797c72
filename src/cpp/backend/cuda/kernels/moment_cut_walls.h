// What a thread of an update of moments does at walls at known distances and between fluid cells. An interpolated wall
// reads what streams in against its link too. Of a link along the last axis that comes from the layer before or behind:
// from below it is kept until the cell's layer is there, and from above it is added late. Behind a wall between fluid
// cells one sends populations that do not come in.
#pragma once

#include "moment_walls.h"

namespace lbm::cuda {

/// The populations of a link's formula.
template <class S, class Real>
struct CutPopulations {
    const Real (&h)[S::Q];
    const Real (&streamed_against)[S::Q];  // by links
    int i;

    __device__ Real outgoing() const { return h[Stencil<S>::opposite(i)]; }
    __device__ Real returning() const { return h[i]; }
    __device__ Real streamed() const { return streamed_against[i]; }
};

/// As evaluate_formulas_with(), with what streams in against each link, or zero where that is added late.
template <class S, class Real, class Values>
__device__ void evaluate_cut_formulas_with(const double (&force)[3], const Values& values, const MomentWallRows& walls,
                                           const MomentWallCell& cell, bool image_x, bool image_y, Real compressibility,
                                           const Real (&own)[S::Q], const Real (&streamed)[S::Q], Real (&in)[S::Q]) {
    const boundary::CellMoments<Real> moments =
        moments_for_formulas<S>(force, cell, image_x, image_y, compressibility, own);
    const backend::WallLink* const links = walls.links + cell.first;
    const boundary::LinearWeights* const weights = walls.weights + cell.first;
    int k = 0;
#pragma unroll 1
    for (int i = 1; i < S::Q; ++i) {
        if ((cell.links >> i & 1U) != 0) {
            backend::WallLink link = links[k];
            link.value = values.of(links, k);
            in[i] = backend::incoming_of_cut<S>(link, weights[k], moments, CutPopulations<S, Real>{own, streamed, i});
            ++k;
        }
    }
}

/// As evaluate_formulas().
template <class S, class Real, class Values>
__device__ __noinline__ void evaluate_cut_formulas(Values values, const MomentWallRows& walls,
                                                   const MomentWallCell& cell, bool image_x, bool image_y,
                                                   Real compressibility, const Real (&own)[S::Q],
                                                   const Real (&streamed)[S::Q], Real (&in)[S::Q]) {
    evaluate_cut_formulas_with<S>(walls.force, values, walls, cell, image_x, image_y, compressibility, own, streamed,
                                  in);
}
template <class S, class Real, class Values>
__device__ __noinline__ void evaluate_cut_formulas(const double (&force)[3], Values values, const MomentWallRows& walls,
                                                   const MomentWallCell& cell, bool image_x, bool image_y,
                                                   Real compressibility, const Real (&own)[S::Q],
                                                   const Real (&streamed)[S::Q], Real (&in)[S::Q]) {
    evaluate_cut_formulas_with<S>(force, values, walls, cell, image_x, image_y, compressibility, own, streamed, in);
}

/// What streams in against the links of a cell of the layer that came in `s` layers before `layer`, of which `in` are
/// the populations that this layer sends.
template <int s, int v, class S, class Real, int V, int steps, bool images, class Kept>
__device__ void streamed_against(const MomentWallsOfThread<S, Real, V, steps, images>& walls, Kept& kept, int layer,
                                 UInt32 links, const Real (&in)[S::Q], Real (&streamed)[S::Q]) {
    const bool is_first = images && layer - s == walls.first_real(),
               is_last = images && layer - s + 1 == walls.end_real();
    static_for<S::Q>([&]<int i>() {
        constexpr int towards = Stencil<S>::opposite(i), image = Stencil<S>::mirror(towards, S::D - 1);
        constexpr int up = S::c[i][S::D - 1];
        streamed[i] = up == 0 ? in[towards] : (up < 0 ? is_first : is_last) ? in[image] : Real(0);
    });
    if (!is_first) {
        kept.template for_each_streamed<s, v>(links, [&]<int i>(Real number) { streamed[i] = number; });
    }
}

/// As apply_links(), of the cells at such walls.
template <int s, bool scaled, class S, class Real, int V, int steps, bool images, class Kept, Forcing forcing,
          class Own, class IsComplete>
__device__ void apply_cut_links(const MomentWallsOfThread<S, Real, V, steps, images>& walls, Kept& kept, int layer,
                                const MomentForceOfThread<S, Real, V, forcing>& forces, const Own& own,
                                Real compressibility, Real (&in)[V][S::Q], LayerSums<S, Real> (&below)[V],
                                const IsComplete& is_complete) {
    static_for<V>([&]<int v>() {
        const UInt32 links = walls.links[s][v];
        if ((links & MomentWallCell::is_cut) != 0 && is_complete(v)) {
            const MomentWallRows& rows = walls.walls;
            const int number = walls.template number<s, v>();
            Real h[S::Q], streamed[S::Q], given[S::Q];
            static_for<S::Q>([&]<int i>() { h[i] = own.template operator()<v, i>(); });
            streamed_against<s, v>(walls, kept, layer, links, in[v], streamed);
            const bool odd_x = walls.template is_image_x<v>(), odd_y = walls.is_image_y();
            const MomentWallCell& cell = rows.cells[number];
            with_values<S, scaled>(rows, s, cell, [&](auto values) {
                if constexpr (MomentForceOfThread<S, Real, V, forcing>::is_steady) {
                    evaluate_cut_formulas<S>(values, rows, cell, odd_x, odd_y, compressibility, h, streamed, given);
                } else {
                    double force[3] = {};
                    forces.template on_real_cell<s + 1, s>(v, odd_x, odd_y, force);
                    evaluate_cut_formulas<S>(force, values, rows, cell, odd_x, odd_y, compressibility, h, streamed,
                                             given);
                }
            });
            give<S, s, v>(links, kept, in[v], below[v], [&]<int i>() { return given[i]; });
        }
    });
}

/// Adds what the links from below of the cells before the layer that came in `s` layers before `layer` take of its
/// populations `in`. The image of a last layer has given that already.
template <int s, class S, class Real, int V, int steps, bool images>
__device__ void add_late_links(const MomentWallsOfThread<S, Real, V, steps, images>& walls, int layer,
                               const Real (&in)[V][S::Q], TwoLayers<S, Real> (&two)[V]) {
    static_for<V>([&]<int v>() {
        const UInt32 links = walls.links[s + 1][v];
        if ((links & MomentWallCell::is_cut) != 0 && !(images && layer - s == walls.end_real())) {
            const MomentWallRows& rows = walls.walls;
            const auto* const weights = rows.weights + rows.cells[walls.template number<s + 1, v>()].first;
            Real late[S::Q] = {};
            static_for<S::Q>([&]<int i>() {
                if constexpr (S::c[i][S::D - 1] > 0) {
                    if ((links >> i & 1U) != 0) {
                        late[i] =
                            Real(weights[__popc(links & ((1U << i) - 1))].streamed) * in[v][Stencil<S>::opposite(i)];
                    }
                }
            });
            add_late<S>(two[v], late);
        }
    });
}

/// Takes of the populations `in` that the layer sends which came in `s` layers before `layer` what the cells of the
/// next one need, if there is one: what streams in against their links from above is kept, and nothing comes in where
/// those from below have walls. An image there sends back what it gets as the mirrored links of the layer.
template <int s, class S, class Real, int V, int steps, bool images, class Kept, class IsComplete>
__device__ void prepare_next_layer(const MomentWallsOfThread<S, Real, V, steps, images>& walls, Kept& kept, int layer,
                                   bool has_next, Real (&in)[V][S::Q], const IsComplete& is_complete) {
    const bool is_last = images && layer - s + 1 == walls.end_real();
    if constexpr (s == 0) {
        wait_for_copies();
    }
    static_for<V>([&]<int v>() {
        if (is_last) {
            clear_links_to_image<-1, S>(walls.links[s][v], in[v]);
            return;
        }
        UInt32 links = has_next ? walls.template next_links<v>() : 0;
        if constexpr (s > 0) {
            links = walls.links[s - 1][v];
        }
        if ((links & MomentWallCell::is_cut) != 0) {
            if (is_complete(v)) {
                kept.template for_each_streamed<s, v>(links,
                                                      [&]<int i>(Real& to) { to = in[v][Stencil<S>::opposite(i)]; });
            }
            static_for<S::Q>([&]<int i>() {
                if constexpr (S::c[i][S::D - 1] > 0) {
                    in[v][i] = (links >> i & 1U) != 0 ? Real(0) : in[v][i];
                }
            });
        }
    });
}

}  // namespace lbm::cuda
