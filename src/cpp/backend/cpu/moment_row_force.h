// The force on the cells of a row in a sweep over rows whose state is moments (moment_rows.h).
#pragma once

#include "../../lattice/moment_state.h"
#include "../moment_force.h"
#include "kernels.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

/// That of a step, from 1 on, or of the step that has `made` the state. On images behind faces with free slip the
/// component normal to these is reversed; a field has that in its rows there. Compilers know whether the flow is
/// `forced`.
template <class Real, int W, bool forced>
class MomentRowForce {
public:
    using S = LBM_STENCIL;
    using V = Pack<Real, W>;
    static constexpr int made = 0;

    MomentRowForce(const backend::MomentForce<double>& force, int step, int row, int layer, const CellImage& image)
        : pitch_(force.rows.pitch), factor_(force.factor[step]) {
        uniform_.is_any = forced;
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            const auto number = Real(force.uniform[step][d]);
            uniform_.of[d] = V{} + (d == 1 && image.odd ? -number : number);
        });
        if (force.field != nullptr || force.part != nullptr) {
            const Index at = S::D == 3 ? force.rows.row(row, layer) : force.rows.row(layer, 0);
            field_ = force.field == nullptr ? nullptr : static_cast<const Real*>(force.field) + at;
            part_ = force.part == nullptr ? nullptr : force.part + at;
        }
    }

    /// On the cells of a pack from x on.
    LBM_HD CellForce<S, V> at(int x) const {
        CellForce<S, V> force = uniform_;
        force.is_any = forced;
        if (!forced) {
            return force;
        }
        if (field_ != nullptr) {
            static_for<S::D>([&]<int d>()
                                 LBM_INLINE_LAMBDA { force.of[d] = load_pack<Real, W>(field_ + d * pitch_ + x); });
        } else if (part_ != nullptr) {
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
                force.of[d] = load_scaled<Real, W>(part_ + d * pitch_ + x, factor_);
            });
        }
        return force;
    }
    /// On the cell of which cell x of the row is an image across rows.
    void of_real_cell(int x, const CellImage& image, double (&force)[3]) const {
        Real numbers[W];
        const CellForce<S, V> here = at(x);
        static_for<S::D>([&]<int d>() {
            store_pack<Real, W>(numbers, here.of[d]);
            force[d] = double(d == 1 && image.odd ? -numbers[0] : numbers[0]);
        });
    }

private:
    CellForce<S, V> uniform_;
    const Real* field_ = nullptr;
    const double* part_ = nullptr;  // of a force that is scaled
    Index pitch_;
    double factor_;
};

}  // namespace
}  // namespace lbm::cpu
