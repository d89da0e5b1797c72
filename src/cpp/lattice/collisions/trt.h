// TRT collision with two relaxation times (Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427): even
// parts relax with omega, which sets the viscosity, odd parts with the rate that keeps the magic parameter constant.
#pragma once

#include "../collide.h"

namespace lbm {

struct TRT : FlowCollision {
    static constexpr const char* name = "trt";
    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real omega_odd;  // rate of the odd parts
        Real magic;      // (1/omega - 1/2) (1/omega_odd - 1/2)
    };

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        const double magic = given.positive("magic", 3.0 / 16);
        return {relaxation(given), 1 / (magic / (3 * given.positive("viscosity")) + 0.5), magic};
    }

    template <class S, class V, class Parameters>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const Parameters& parameters) {
        using Real = Scalar<V>;
        V omega_odd = V{} + parameters.omega_odd;
        if (rate_varies(parameters)) {
            const Real half = Real(0.5);
            omega_odd = Real(1) / (parameters.magic / (Real(1) / omega - half) + half);
        }
        const V even_rate = Real(-0.5) * omega;
        const V odd_rate = Real(-0.5) * omega_odd;
        PairChange<S, V> change;
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            change.even[p] = even_rate * n.even[p];
            change.odd[p] = odd_rate * n.odd[p];
        });
        return change;
    }
};

}  // namespace lbm
