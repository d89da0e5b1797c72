// The collision of the multispeed thermal model (multispeed.h): how its parameters follow from viscosity, Prandtl
// number, gravity and the order of diffusion.
#pragma once

#include "../multispeed.h"

namespace lbm {

struct ThermalBGK {
    static constexpr const char* name = "thermal-bgk";
    template <class S>
    static constexpr bool goes_with = Stencil<S>::multispeed;
    template <class Real>
    using Parameters = MultispeedParameters<Real>;

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        const double prandtl = given.positive("prandtl", 1);
        const double tau = given.positive("viscosity") / S::cs2 + 0.5, tau_q = (tau - 0.5) / prandtl + 0.5;
        Parameters<double> p{};
        double square = 0;
        given.vector("gravity", p.gravity, 0);
        for (int d = 0; d < S::D; ++d) {
            p.shift[d] = tau * p.gravity[d];
            square += p.gravity[d] * p.gravity[d];
        }
        p.omega = 1 / tau;
        p.theta_shift = tau * (1 - tau) * square / (2 * S::cs2);
        p.excess = prandtl == 1 ? 0 : 1 - tau / tau_q;
        p.third_excess = p.excess;
        if (given.at_least_zero("fourth_order_diffusion", 0) > 0) {
            set_diffusion_of_fourth_order(p, tau, prandtl);
        }
        p.tau_q_minus_1 = tau_q - 1;
        p.one_minus_tau = 1 - tau;
        p.half_prandtl = prandtl / 2;
        return p;
    }

private:
    /// Sets the times of the moments of third order that are no heat flux and of those of fourth order: with
    /// (tau - 1/2) (tau_3 - 1/2) = 1/6 and (tau - 1/2) (tau_4 - 1/2) = Pr/7 waves decay by the viscosity and the
    /// diffusivity up to the fourth order of their wavenumbers near tau = 1/2, by von Neumann's analysis (1/6 as with
    /// the two times of Ginzburg, Adv. Water Resour. 28 (2005) 1171). Below tau = 0.55 waves could grow in a stream.
    static void set_diffusion_of_fourth_order(Parameters<double>& p, double tau, double prandtl) {
        p.third_excess = 1 - tau / (0.5 + 1.0 / 6 / (tau - 0.5));
        p.fourth_excess = 1 - tau / (0.5 + prandtl / 7 / (tau - 0.5));
    }
};

}  // namespace lbm
