// MRT collision with multiple relaxation times: K = M^-1 diag(s) M in an orthogonal moment basis, where
// M^-1 = M^T diag(1 / norm^2). At run time it is applied in the symmetry-adapted form of cubic_parts.h.
#pragma once

#include "../collide.h"

namespace lbm {

struct MRT : FlowCollision {
    static constexpr const char* name = "mrt";
    template <class Real>
    struct Parameters : Relaxation<Real> {
        CubicRates<Real> moment_rates;  // -K without an eddy viscosity
        CubicRates<Real> stress_rates;  // derivative of -K by the relaxation rate of the stress
    };

    /// Defined in mrt_rates.h, for the host only: kernels do not need the moment basis.
    template <class S, class Given>
    static Parameters<double> parameters(const Given& given);

    template <class S, class V, class Parameters>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const Parameters& parameters) {
        if (!rate_varies(parameters)) {
            return relax_parts(n, parameters.moment_rates);
        }
        CubicRates<V> rates;
        const V excess = omega - parameters.omega;
        combine(rates, parameters.moment_rates, parameters.stress_rates,
                [&](Scalar<V> whole, Scalar<V> stress) LBM_INLINE_LAMBDA { return whole + excess * stress; });
        return relax_parts(n, rates);
    }
};

}  // namespace lbm
