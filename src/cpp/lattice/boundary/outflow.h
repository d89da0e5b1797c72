// Outflow: zero gradient along the normal of a face.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// The incoming population is the post-collision one of the nearest cell inside, with a small relaxation of the density
/// towards the reference density.
struct Outflow {
    static constexpr const char* name = "outflow";
    static constexpr int precedence = 0;
    static constexpr Value value = Value::None;
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr bool needs_moments = true;

    /// Fraction of the density's deviation from the reference that is removed in each step. A zero gradient alone
    /// leaves the mean density undetermined, and friction at the outlet then lets it grow without bound. A weak
    /// relaxation holds it and reflects little sound (after Poinsot & Lele, J. Comput. Phys. 101 (1992) 104, section
    /// 4).
    static constexpr double relaxation = 0.02;

    template <class S>
    static void redirect(int /*axis*/, int n, int& at, int& /*i*/) {
        at = at < 0 ? 0 : n - 1;
    }

    template <class S>
    static double link_value(const Wall& wall, int /*i*/) {
        return wall.reference_density;
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>& cell, const Populations& f) {
        return relaxed<S>(f.outgoing(), link, cell);
    }

    /// A population with its part of the relaxation of the density.
    template <class S, class Real>
    LBM_HD static Real relaxed(Real population, const Link<Real>& link, const CellMoments<Real>& cell) {
        const Real w = Real(Stencil<S>::w(link.i));
        return population - Real(relaxation) * w * (cell.density - link.value);
    }
};

}  // namespace lbm::boundary
