// The collision of a cell whose state is moments. The incoming populations are summed by layers: those that come from
// the layer below along the last axis, from the cell's own layer, and from the layer above. A sweep along that axis has
// these one after the other, and keeps the few sums of a layer in place of its populations. The sums are always added
// in this order, so that bits do not depend on how a sweep goes.
#pragma once

#include "moment_state.h"

namespace lbm {

/// The velocities of a stencil that have component `cz` along the last axis, by their components in the layer.
template <class S, int cz>
struct LayerVelocities {
    static constexpr int D = S::D - 1;  // axes of a layer

    /// The velocity with components x and y in the layer; -1 if the stencil has none.
    LBM_HD static constexpr int at(int x, int y) {
        for (int i = 0; i < S::Q; ++i) {
            if (S::c[i][0] == x && S::c[i][D] == cz && (D == 1 || S::c[i][1] == y)) {
                return i;
            }
        }
        return -1;
    }
    static constexpr bool has_corners = D == 2 && at(1, 1) >= 0;
    LBM_HD static constexpr bool contains(int i) { return S::c[i][D] == cz; }
};

/// Sums over the incoming populations of one layer, times products of their components in the layer.
template <class S, class V>
struct LayerSums {
    static constexpr int D = S::D - 1;

    V sum;
    V first[D];
    V square[D];
    V shear;  // of both components; only of layers with corners

    /// Calls visit.operator()<k>(number k) for those that a layer with component `cz` has.
    template <int cz, class Visit>
    LBM_HD void for_each(Visit&& visit) {
        visit.template operator()<0>(sum);
        static_for<D>([&]<int d>() LBM_INLINE_LAMBDA {
            visit.template operator()<1 + d>(first[d]);
            visit.template operator()<1 + D + d>(square[d]);
        });
        if constexpr (LayerVelocities<S, cz>::has_corners) {
            visit.template operator()<1 + 2 * D>(shear);
        }
    }
    static constexpr int numbers = 1 + 2 * D + (D == 2 ? 1 : 0);
};

/// Of h only the populations with component `cz` along the last axis are read.
template <class S, int cz, class V>
LBM_HD LayerSums<S, V> layer_sums(const V (&h)[S::Q]) {
    using L = LayerVelocities<S, cz>;
    LayerSums<S, V> s;
    const V xp = h[L::at(1, 0)], xm = h[L::at(-1, 0)];
    s.square[0] = xp + xm;
    s.first[0] = xp - xm;
    if constexpr (L::D == 1) {
        s.sum = h[L::at(0, 0)] + s.square[0];
    } else if constexpr (L::has_corners) {
        // Along the rows before, of and behind the cell, and then across them.
        const V pp = h[L::at(1, 1)], mp = h[L::at(-1, 1)], pm = h[L::at(1, -1)], mm = h[L::at(-1, -1)];
        const V before = pp + mp, behind = pm + mm, along_before = pp - mp, along_behind = pm - mm;
        const V all_before = h[L::at(0, 1)] + before, all_behind = h[L::at(0, -1)] + behind;
        s.square[1] = all_before + all_behind;
        s.first[1] = all_before - all_behind;
        s.shear = along_before - along_behind;
        s.sum = (h[L::at(0, 0)] + s.square[0]) + s.square[1];
        s.square[0] = s.square[0] + (before + behind);
        s.first[0] = s.first[0] + (along_before + along_behind);
    } else {
        const V yp = h[L::at(0, 1)], ym = h[L::at(0, -1)];
        s.square[1] = yp + ym;
        s.first[1] = yp - ym;
        s.sum = h[L::at(0, 0)] + (s.square[0] + s.square[1]);
    }
    return s;
}

/// Adds the sums of populations that formulas give in place of those of a layer. They are summed as a layer is, and not
/// one after the other, so that the image of a cell across a face gets the image of what the cell gets.
template <class S, int cz, class V>
LBM_HD void add_given(LayerSums<S, V>& sums, const V (&h)[S::Q]) {
    const LayerSums<S, V> given = layer_sums<S, cz>(h);
    sums.sum = sums.sum + given.sum;
    static_for<S::D - 1>([&]<int d>() LBM_INLINE_LAMBDA {
        sums.first[d] = sums.first[d] + given.first[d];
        sums.square[d] = sums.square[d] + given.square[d];
    });
    if constexpr (LayerVelocities<S, cz>::has_corners) {
        sums.shear = sums.shear + given.shear;
    }
}

/// The sums of the layer below and the cell's own one, with those of the former that the one above is compared with.
template <class S, class V>
struct TwoLayers {
    static constexpr int D = S::D - 1;

    LayerSums<S, V> both;
    V sum_below;
    V first_below[D];

    /// Calls visit.operator()<k>(number k).
    template <class Visit>
    LBM_HD void for_each(Visit&& visit) {
        both.template for_each<0>(visit);
        constexpr int before = LayerSums<S, V>::numbers;
        visit.template operator()<before>(sum_below);
        static_for<D>([&]<int d>() LBM_INLINE_LAMBDA { visit.template operator()<before + 1 + d>(first_below[d]); });
    }
    static constexpr int numbers = LayerSums<S, V>::numbers + 1 + D;
};

template <class S, class V>
LBM_HD TwoLayers<S, V> add_own_layer(const LayerSums<S, V>& below, const LayerSums<S, V>& own) {
    constexpr int D = S::D - 1;
    TwoLayers<S, V> two;
    two.both.sum = below.sum + own.sum;
    two.sum_below = below.sum;
    static_for<D>([&]<int d>() LBM_INLINE_LAMBDA {
        two.both.first[d] = below.first[d] + own.first[d];
        two.both.square[d] = below.square[d] + own.square[d];
        two.first_below[d] = below.first[d];
    });
    if constexpr (LayerVelocities<S, 1>::has_corners) {
        two.both.shear = below.shear + own.shear;
    } else {
        two.both.shear = own.shear;
    }
    return two;
}

/// Adds, when the layer above is there, the sums of populations from the layer below that formulas give: those of
/// interpolated walls read what streams in from above. They are summed as a layer is, see add_given().
template <class S, class V>
LBM_HD void add_late(TwoLayers<S, V>& two, const V (&h)[S::Q]) {
    const LayerSums<S, V> given = layer_sums<S, 1>(h);
    two.both.sum = two.both.sum + given.sum;
    two.sum_below = two.sum_below + given.sum;
    static_for<S::D - 1>([&]<int d>() LBM_INLINE_LAMBDA {
        two.both.first[d] = two.both.first[d] + given.first[d];
        two.both.square[d] = two.both.square[d] + given.square[d];
        two.first_below[d] = two.first_below[d] + given.first[d];
    });
    if constexpr (LayerVelocities<S, 1>::has_corners) {
        two.both.shear = two.both.shear + given.shear;
    }
}

/// The moments of the incoming populations of a cell.
template <class S, class V>
struct IncomingMoments {
    V density_deviation;
    V first[S::D];
    V second[symmetric_count<S::D>];  // sum c_a c_b f
};

template <class S, class V>
LBM_HD IncomingMoments<S, V> add_layer_above(const TwoLayers<S, V>& two, const LayerSums<S, V>& above) {
    constexpr int D = S::D - 1;
    IncomingMoments<S, V> in;
    in.density_deviation = two.both.sum + above.sum;
    in.first[D] = two.sum_below - above.sum;
    in.second[symmetric_place<S::D>(D, D)] = two.sum_below + above.sum;
    static_for<D>([&]<int d>() LBM_INLINE_LAMBDA {
        in.first[d] = two.both.first[d] + above.first[d];
        in.second[symmetric_place<S::D>(d, d)] = two.both.square[d] + above.square[d];
        in.second[symmetric_place<S::D>(d, D)] = two.first_below[d] - above.first[d];
    });
    if constexpr (LayerVelocities<S, 1>::has_corners) {
        in.second[symmetric_place<S::D>(0, 1)] = two.both.shear + above.shear;
    } else if constexpr (S::D == 3) {
        in.second[symmetric_place<S::D>(0, 1)] = two.both.shear;
    }
    return in;
}

/// What a collision takes of a force F on a cell: twice (u F + F u) / 2 of its velocity u.
template <class S, class V>
LBM_HD V work_of(const V (&velocity)[S::D], const CellForce<S, V>& force, int a, int b) {
    return velocity[a] * force.of[b] + velocity[b] * force.of[a];
}

/// The relaxation rate of the stress, which is computed where it varies.
template <class S, class V, class Parameters>
LBM_HD V stress_rate_of(const IncomingMoments<S, V>& in, const V (&momentum)[S::D], const V (&velocity)[S::D],
                        const CellForce<S, V>& force, V density, const Parameters& parameters) {
    using R = Scalar<V>;
    return stress_relaxation_rate(parameters, density, R(1), [&]() LBM_INLINE_LAMBDA {
        V n[S::D][S::D];
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a <= b) {
                    n[a][b] = in.second[symmetric_place<S::D>(a, b)] - momentum[a] * velocity[b];
                    if constexpr (a == b) {
                        n[a][b] = n[a][b] - R(1.0 / 3) * in.density_deviation;
                    }
                    if (force.is_any) {
                        n[a][b] = n[a][b] + R(0.5) * work_of<S>(velocity, force, a, b);
                    }
                }
            });
        });
        return tensor_norm2(n);
    });
}

/// Sets A = rho u u + (u F + F u) / 2 + (1 - omega) Pi of Pi without its trace, and so without all that is isotropic.
/// The rebuilding of populations of all orders takes the products rho u_a u_b too.
template <class S, class V>
LBM_HD void collide_without_trace(StoredMoments<S, V>& out, const IncomingMoments<S, V>& in, const V (&momentum)[S::D],
                                  const V (&velocity)[S::D], const CellForce<S, V>& force, V omega) {
    using R = Scalar<V>;
    static_assert(second_unit<S, true> == 1.0 / 8);
    const V kept = R(1.0 / 8) * (R(1) - omega);
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a < b) {
                constexpr int k = symmetric_place<S::D>(a, b);
                V known = momentum[a] * velocity[b];
                if (force.is_any) {
                    known = known + R(0.5) * work_of<S>(velocity, force, a, b);
                }
                V stress = in.second[k] - momentum[a] * velocity[b];
                if (force.is_any) {
                    stress = stress + R(0.5) * work_of<S>(velocity, force, a, b);
                }
                out.second[k] = plus_fraction<4>((kept + kept) * stress, known);
            }
        });
    });
    V known[S::D], stress[S::D], trace;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        constexpr int k = symmetric_place<S::D>(a, a);
        known[a] = momentum[a] * velocity[a];
        stress[a] = in.second[k] - known[a];
        if (force.is_any) {
            known[a] = known[a] + velocity[a] * force.of[a];
            stress[a] = stress[a] + velocity[a] * force.of[a];
        }
        trace = a == 0 ? stress[a] : trace + stress[a];
    });
    const V mean = R(1.0 / S::D) * trace;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        constexpr int k = symmetric_place<S::D>(a, a);
        out.second[k] = plus_fraction<8>(kept * (stress[a] - mean), known[a]);
    });
}

/// Collides a cell: the moments after the step, from those of its incoming populations.
///
/// With Pi = P - (rho - 1) / 3 - rho u u + (u F + F u) / 2 of the incoming second-order moments P, the new ones are
/// A = (1 - omega) (P - (rho - 1) / 3) + omega rho u u + (2 - omega) (u F + F u) / 2. Where the stencil lacks corners
/// the trace of Pi relaxes with 1 in collisions of all orders (ComovingFrame::complete).
template <class S, class Collision, class V, class Parameters>
LBM_HD StoredMoments<S, V> collided(const IncomingMoments<S, V>& in, const CellForce<S, V>& force,
                                    Scalar<V> compressibility, const Parameters& parameters) {
    using R = Scalar<V>;
    constexpr bool relaxes_trace = Collision::moment_orders == MomentOrders::All && !ComovingFrame<S>::complete;
    constexpr R unit = R(second_unit<S, true>);
    StoredMoments<S, V> out;
    out.density_deviation = in.density_deviation;
    const V density = inertia_of_deviation(in.density_deviation, compressibility);
    const V inverse = reciprocal(density);
    V momentum[S::D], velocity[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        momentum[d] = force.is_any ? in.first[d] + R(0.5) * force.of[d] : in.first[d];
        out.momentum[d] = force.is_any ? in.first[d] + force.of[d] : in.first[d];
        velocity[d] = momentum[d] * inverse;
    });
    const V omega = stress_rate_of<S>(in, momentum, velocity, force, density, parameters);
    if constexpr (relaxes_trace) {
        collide_without_trace<S>(out, in, momentum, velocity, force, omega);
        return out;
    }
    const V kept = unit * (R(1) - omega), shifted = inverse * (unit * omega);
    const V isotropic = (R(1.0 / 3) * kept) * in.density_deviation;
    V advected[S::D], work[S::D];  // of each, in the unit of second-order moments: omega u, and (2 - omega) F / 2
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        advected[d] = momentum[d] * shifted;
        work[d] = force.is_any ? (unit * (R(1) - R(0.5) * omega)) * force.of[d] : V{};
    });
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a == b) {
                constexpr int k = symmetric_place<S::D>(a, a);
                V second = (kept * in.second[k] - isotropic) + momentum[a] * advected[a];
                if (force.is_any) {
                    second = second + (velocity[a] + velocity[a]) * work[a];
                }
                out.second[k] = second;
            } else if constexpr (a < b) {
                constexpr int k = symmetric_place<S::D>(a, b);
                V second = (kept + kept) * in.second[k] + (momentum[a] + momentum[a]) * advected[b];
                if (force.is_any) {
                    second = second + R(2) * (velocity[a] * work[b] + velocity[b] * work[a]);
                }
                out.second[k] = second;
            }
        });
    });
    return out;
}

}  // namespace lbm
