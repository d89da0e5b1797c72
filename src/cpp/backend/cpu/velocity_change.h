// The change of a block's velocity between two calls, on the CPU.
#pragma once

#include <limits>
#include <vector>

#include "buffer.h"

namespace lbm::cpu {

template <class Real, int D>
class VelocityChange {
public:
    std::size_t bytes() const { return last_.bytes(); }

    /// Squared norms of u - u_last and of u, added row by row; then sets u_last = u. The first call gives an infinite
    /// change. `over_rows(body)` calls body(y, z, row), `for_fluid_row(y, z, visit)` calls visit(x, deviation, u).
    template <class OverRows, class ForFluidRow>
    void measure(Index rows, int nx, OverRows&& over_rows, ForFluidRow&& for_fluid_row, double& change2,
                 double& norm2) {
        const bool first_call = last_.bytes() == 0;
        if (first_call) {
            last_ = Buffer(sizeof(Real) * std::size_t(rows) * nx * D);
        }
        std::vector<double> changes(static_cast<std::size_t>(rows)), norms(static_cast<std::size_t>(rows));
        over_rows([&](int y, int z, Index row) {
            double change = 0, norm = 0;
            Real* last = last_.template as<Real>() + row * nx * D;
            for_fluid_row(y, z, [&](int x, Real, const Real* u) {
                for (int d = 0; d < D; ++d) {
                    const double step = double(u[d]) - double(last[x * D + d]);
                    change += step * step;
                    norm += double(u[d]) * u[d];
                    last[x * D + d] = u[d];
                }
            });
            changes[std::size_t(row)] = change;
            norms[std::size_t(row)] = norm;
        });
        change2 = norm2 = 0;
        for (Index k = 0; k < rows; ++k) {
            change2 += changes[std::size_t(k)];
            norm2 += norms[std::size_t(k)];
        }
        if (first_call) {
            change2 = std::numeric_limits<double>::infinity();
        }
    }

private:
    Buffer last_;
};

}  // namespace lbm::cpu
