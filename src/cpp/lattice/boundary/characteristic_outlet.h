// Characteristic pressure outlet: lets sound and vortices out and draws the density to a given one.
#pragma once

#include "open_face.h"
#include "regularize.h"

namespace lbm::boundary {

/// With the velocity U out of the domain, C = cs2 rho - cs U is what a sound wave brings in. With V the mean in time of
/// U, less what the flow carries out of it, and v the tangential velocity (Poinsot & Lele, J. Comput. Phys. 101 (1992)
/// 104; Yoo & Im, Combust. Theory Model. 11 (2007) 259),
///
///   dC/dt = -V dC/dn - cs2 div(v_s) / 2 - K cs2 (rho - rho_w) .
///
/// A pattern that the flow carries out unchanged has dC/dt = -V dC/dn, and so leaves as it is. v_s is what the rest of
/// the momentum equation gives the tangential velocity, that is the share of sound. With the factor 1/2 of its
/// divergence a plane wave at the angle theta to the normal comes back by ((1 - cos theta) / (1 + cos theta))^2, the
/// second order of Engquist & Majda (Math. Comput. 31 (1977) 629).
///
/// The pressure in a vortex of speed u is about u / cs of that of sound of this speed, so that small errors of V and v
/// make noise. V must not follow the vortex: the part -U dU/dn of dU/dt is summed up, and left out of the mean. And the
/// cell must carry the tangential momentum that v stands for (Zou & He, Phys. Fluids 9 (1997) 1591, eq. 16): what the
/// populations along the face lack of it enters.
///
/// All populations are then replaced (regularize.h), by those of density, velocity and stress alone. The
/// non-equilibrium part that bounces back has moments of third and higher order which some collisions relax slowly, and
/// at low viscosity a stress that changes its sign in each step and hardly decays: from both short waves would grow, of
/// one dimension even in D3Q19. The stress is that without the momentum that was lacking, and a share of it is removed.
///
/// In a shear flow vortices do not move with V everywhere, and v_s has a part (V - u_c) dv/dn of theirs, u_c being
/// their speed. It is slower than sound, so that the shares of sound are forgotten over some 20 steps: at 0.025 in
/// place of 0.05 the wake of a body in a channel makes 1.8 times the noise.
///
/// Derivatives along the face are central, with the term of second order in time of Lax & Wendroff for sound.
struct CharacteristicOutlet {
    static constexpr const char* name = "characteristic-outlet";
    static constexpr int precedence = 12;
    static constexpr Value value = Value::Number;  // the density
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr double preset = 1;
    /// The density's deviation from 1, V, the tangential velocities, their shares of sound, and the part of U that the
    /// flow carries out.
    static constexpr int stored = 7;
    static constexpr int cells_read = 3;
    static constexpr bool replaces = true;

    static constexpr double relaxation = 0.0005;  // K: of the density in a step
    static constexpr double averaging = 0.001;    // share of a step in V
    static constexpr double damping = 0.05;       // of the shares of sound in a step
    static constexpr double forgetting = 0.001;   // of the part of U in a step, which then forgets steady flow
    static constexpr double kept = 0.88;          // share of the stress

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell& cell, Real (&stored)[7]) {
        stored[0] = cell.moments(0).density - Real(1);
        stored[1] = Real(-cell.inward()) * cell.moments(0).velocity[cell.axis()];
        for (int t = 0; t < S::D - 1; ++t) {
            stored[2 + t] = cell.moments(0).velocity[tangential_axis(cell.axis(), t)];
        }
    }

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&stored)[7], Real (&incoming)[S::Q]) {
        constexpr double cs2 = Stencil<S>::cs2;
        const int axis = cell.axis();
        const Real cs = square_root(Real(cs2)), out = Real(-cell.inward());
        const Real density = cell.moments(0).density, outward = out * cell.moments(0).velocity[axis];
        const Real leaving = outward > Real(0) ? outward : Real(0);
        const Real mean = cell.stored(1) > Real(0) ? cell.stored(1) : Real(0);

        Real velocity[3] = {cell.moments(0).velocity[0], cell.moments(0).velocity[1], cell.moments(0).velocity[2]};
        // Beside a wall the derivatives along the face would be one-sided, with which the cells in the corners grow
        // without bound: there the tangential velocity stays that of the cell.
        const bool in_corner = is_in_corner<S>(cell);
        Real divergence = 0;
        for (int t = 0; t < S::D - 1 && !in_corner; ++t) {
            const int along = tangential_axis(axis, t);
            Real rate = Real(-cs2) * slope(cell, 0, along) / cell.moments(0).inertia() +
                        Real(cs2 / 2) * bend(cell, 4 + t, along);
            for (int s = 0; s < S::D - 1; ++s) {
                const int by = tangential_axis(axis, s);
                rate = rate - cell.moments(0).velocity[by] * slope(cell, 2 + t, by);
            }
            const Real change = normal_slope(cell.moments(0).velocity[along], cell.moments(1).velocity[along],
                                             cell.moments(2).velocity[along]);
            rate = rate - leaving * change;
            velocity[along] = velocity[along] + rate;
            stored[4 + t] = Real(1 - damping) * cell.stored(4 + t) + (rate + mean * change);
            divergence = divergence + (slope(cell, 4 + t, along) - Real(cs2 / 2) * bend(cell, 0, along));
        }

        const Real density_slope = normal_slope(density, cell.moments(1).density, cell.moments(2).density);
        const Real outward_slope = out * normal_slope(cell.moments(0).velocity[axis], cell.moments(1).velocity[axis],
                                                      cell.moments(2).velocity[axis]);
        const Real characteristic = (Real(cs2) * (density - Real(1)) - cs * outward) -
                                    mean * (Real(cs2) * density_slope - cs * outward_slope) -
                                    Real(cs2 / 2) * divergence - Real(relaxation * cs2) * (density - cell.value(0));
        Real known[S::Q];
        read_known<S>(cell, known);
        const Real sum = outgoing_sum<S>(cell, known);
        const Real next = outward_velocity<S>(characteristic, sum, cell.compressibility());
        velocity[axis] = out * next;
        stored[0] = density_deviation(next, sum, cell.compressibility());
        // At most half of U, or steady flow that accelerates towards the face would take V too far from U.
        const Real carried = Real(1 - forgetting) * cell.stored(6) - leaving * outward_slope,
                   most = Real(0.5) * leaving;
        stored[6] = carried > most ? most : carried < -most ? -most : carried;
        stored[1] = cell.stored(1) + Real(averaging) * ((outward - stored[6]) - cell.stored(1));

        const Real inertia = inertia_of_deviation(stored[0], cell.compressibility());
        Real entering[3] = {velocity[0], velocity[1], velocity[2]};
        for (int t = 0; t < S::D - 1; ++t) {
            const int along = tangential_axis(axis, t);
            stored[2 + t] = velocity[along];
            if (!in_corner) {
                const Real lack = lacking<S>(known, axis, along, inertia * velocity[along]);
                entering[along] = velocity[along] + Real(1 / cs2) * (lack / inertia);
            }
        }
        bounce_back_nonequilibrium<S>(cell, known, stored[0], entering, incoming);
    }

    template <class S, class Cell, class Real>
    LBM_HD static void replace(const Cell& cell, Real (&f)[S::Q]) {
        const BareMoments<Real> m = bare_moments<S>(f, cell.compressibility());
        Real stress[3][3] = {};
        add_nonequilibrium_stress<S>(m, f, stress);
        const bool in_corner = is_in_corner<S>(cell);
        for (int t = 0; t < S::D - 1 && !in_corner; ++t) {
            const int n = cell.axis(), along = tangential_axis(n, t);
            const Real entered = lacking<S>(f, n, along, m.inertia() * m.velocity[along]);
            stress[n][along] = stress[n][along] - Real(cell.inward()) * entered;
            stress[along][n] = stress[n][along];
        }
        keep_share<S>(Real(kept), stress);
        set_to_stress<S>(m, stress, f);
    }

private:
    /// Whether the face or the fluid ends beside the cell.
    template <class S, class Cell>
    LBM_HD static bool is_in_corner(const Cell& cell) {
        bool all = true;
        for (int t = 0; t < S::D - 1; ++t) {
            const int along = tangential_axis(cell.axis(), t);
            all = all && cell.has_neighbor(along, 0) && cell.has_neighbor(along, 1);
        }
        return !all;
    }
    /// What the populations that do not cross the face lack of a tangential momentum: where the others bounce back,
    /// these have to carry all but the share cs2 of it.
    template <class S, class Real>
    LBM_HD static Real lacking(const Real (&f)[S::Q], int normal, int along, Real momentum) {
        Real sum = 0;
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if (Stencil<S>::component(i, normal) == 0) {
                sum += Real(Stencil<S>::component(i, along)) * f[i];
            }
        });
        return Real(1 - Stencil<S>::cs2) * momentum - sum;
    }
    /// The one-sided derivative out of the domain, of second order, of values at the cell and the next two inwards.
    template <class Real>
    LBM_HD static Real normal_slope(Real here, Real next, Real last) {
        return Real(0.5) * (Real(3) * here - Real(4) * next + last);
    }
    /// The central first and second differences of number k along the face.
    template <class Cell>
    LBM_HD static auto slope(const Cell& cell, int k, int axis) {
        auto difference = cell.stored(k, axis, 1) - cell.stored(k, axis, 0);
        return decltype(difference)(0.5) * difference;
    }
    template <class Cell>
    LBM_HD static auto bend(const Cell& cell, int k, int axis) {
        auto sum = cell.stored(k, axis, 1) + cell.stored(k, axis, 0);
        return sum - decltype(sum)(2) * cell.stored(k);
    }
};

}  // namespace lbm::boundary
