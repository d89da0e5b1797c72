// A field given by a user, such as a body force, in the arithmetic type and in the row layout that update kernels read.
#pragma once

#include <algorithm>

#include "../block_layout.h"
#include "buffer.h"
#include "threads.h"

namespace lbm::cpu {

/// The rows of a field; those of its components at one (y, z) are adjacent.
template <class Real>
class FieldRows {
public:
    std::size_t bytes() const { return rows_.bytes(); }
    /// The rows; null without a field.
    const Real* data() const { return rows_.bytes() == 0 ? nullptr : rows_.as<Real>(); }
    static Index pitch(const Address& a) { return backend::field_pitch(a.nx); }
    const Real& at(const Address& a, int components, int d, int x, int y, int z) const {
        return data()[((Index(z) * a.ny + y) * components + d) * pitch(a) + x];
    }

    /// Copies the components of a field over the block's cells, x fastest; null removes the field.
    void set(const Address& a, int components, const double* field, int threads) {
        if (field == nullptr) {
            rows_ = Buffer();
            return;
        }
        const Index count = Index(a.ny) * a.nz;
        if (rows_.bytes() == 0) {
            rows_ = Buffer(sizeof(Real) * std::size_t(count * components * pitch(a)));
        }
        parallel_shares(threads, count, [&](Index first, Index last) {
            for (Index r = first; r < last; ++r) {
                for (int d = 0; d < components; ++d) {
                    const double* from = field + (d * count + r) * a.nx;
                    std::transform(from, from + a.nx, rows_.as<Real>() + (r * components + d) * pitch(a),
                                   [](double f) { return Real(f); });
                }
            }
        });
    }

private:
    Buffer rows_;
};

}  // namespace lbm::cpu
