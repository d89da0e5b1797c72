// The collision of the multispeed thermal model (multispeed.h): how its parameters follow from viscosity, Prandtl
// number and gravity.
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
        p.tau_q_minus_1 = tau_q - 1;
        p.one_minus_tau = 1 - tau;
        p.half_prandtl = prandtl / 2;
        return p;
    }
};

}  // namespace lbm
