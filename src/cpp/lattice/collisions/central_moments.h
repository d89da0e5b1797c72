// Collision of central moments with two rates: the stress relaxes with omega, which sets the viscosity, moments of
// third order in the frame that moves with the fluid relax with the rate that keeps the magic parameter constant, and
// those of higher order with 1 (De Rosis & Coreixas, Phys. Fluids 32 (2020) 117101; the magic parameter: Ginzburg,
// Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427). See comoving_frame.h.
#pragma once

#include "../comoving_frame.h"

namespace lbm {

struct CentralMoments : FlowCollision {
    static constexpr const char* name = "central-moments";
    static constexpr bool third = true;
    static constexpr bool takes_low_moments = true;
    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real omega_odd;  // rate of the moments of third order
        Real magic;      // (1/omega - 1/2) (1/omega_odd - 1/2)
        Real most;       // 1/omega_odd - 1/2 where omega_odd is at its least; 0 where it never is
    };

    /// What moments of third order relax with at least, unless another rate is given. At low viscosity the magic
    /// parameter makes them slow, and in flows with structures of a few cells they then grow. From a viscosity of 0.001
    /// on the rate of the magic parameter 3/16 is the larger. D3Q19 has no velocities to the corners of the cube: at
    /// low viscosity waves in a stream grow there where these moments are slower than 0.6.
    template <class S>
    static constexpr double default_least_odd_rate(double viscosity) {
        const double least = 0.005 * (0.004 / viscosity - 1);
        return (S::D == 3 && S::Q == 19) || least > 0.6 ? 0.6 : least > 0 ? least : 0;
    }

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        const double magic = given.positive("magic", 3.0 / 16), viscosity = given.positive("viscosity");
        const double least = given.rate_or_zero("least_odd_rate", default_least_odd_rate<S>(viscosity));
        const double omega_odd = 1 / (magic / (3 * viscosity) + 0.5);
        // An eddy viscosity only raises the rate.
        const bool is_bounded = omega_odd < least;
        return {relaxation(given), is_bounded ? least : omega_odd, magic, is_bounded ? 1 / least - 0.5 : 0};
    }

    template <class S, class V, class Parameters>
    LBM_HD static V odd(V omega, const Parameters& parameters) {
        using Real = Scalar<V>;
        if (!rate_varies(parameters)) {
            return V{} + parameters.omega_odd;
        }
        const Real half = Real(0.5);
        V excess = parameters.magic / (Real(1) / omega - half);  // 1/omega_odd - 1/2
        if (parameters.most > 0) {
            const V above = excess - parameters.most;
            excess = half * ((excess + parameters.most) - square_root(above * above));  // the lesser of the two
        }
        return Real(1) / (excess + half);
    }

    template <class S, class V, class Parameters, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const Parameters& parameters, const Coupling& coupling) {
        collide_in_moving_frame<S, CentralMoments>(h, sums, m, forced, parameters, coupling);
    }
};

}  // namespace lbm
