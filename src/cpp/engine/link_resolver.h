// Where the population of a link comes from when the neighbour upstream is not a plain fluid cell of the block.
#pragma once

#include "../lattice/stencil.h"
#include "domain.h"

namespace lbm::engine {

/// The answer for one link.
struct LinkSource {
    enum class Kind {
        Neighbor,  // the fluid neighbour upstream: nothing to do
        Copy,      // what departed from cell (x, y, z) with velocity i
        Outflow,   // the same through an outflow
        Face,      // reflected by the wall, inlet or outlet on face `owner`
        Body       // reflected by body `owner`, off its cell (x, y, z) with velocity i
    };
    Kind kind;
    int x, y, z;
    int i;
    int owner;
};

/// Rules where a link leaves through several faces: the face that prescribes most governs, wall before moving wall
/// before inlet before outlet. A resting wall must come first: where a lid governed the corners too, the cubic cavity
/// converged at first order only, with errors of 9 % at 64 cells against 3 %. Faces that only redirect (periodic,
/// outflow, free slip) act one after the other.
template <class S>
class LinkResolver {
public:
    explicit LinkResolver(const Domain& domain) : domain_(domain) {}

    /// The link that arrives in fluid cell (x, y, z) with velocity i.
    LinkSource resolve(int x, int y, int z, int i) const {
        int at[3] = {x - S::c[i][0], y - S::c[i][1], z - S::c[i][2]};
        int face_of_axis[3] = {-1, -1, -1};
        bool outside = false;
        int governing = -1;
        for (int a = 0; a < S::D; ++a) {
            if (at[a] >= 0 && at[a] < domain_.size[a]) {
                continue;
            }
            outside = true;
            const int face = 2 * a + (at[a] < 0 ? 0 : 1);
            face_of_axis[a] = face;
            if (governing < 0 || precedence(face) > precedence(governing)) {
                governing = face;
            }
        }
        if (outside && precedence(governing) > 0) {
            return {LinkSource::Kind::Face, x, y, z, i, governing};
        }
        int j = i;
        bool outflow = false;
        for (int a = 0; a < S::D; ++a) {
            if (face_of_axis[a] >= 0) {
                const FaceKind kind = domain_.faces[face_of_axis[a]];
                redirect(kind, a, at[a], j);
                outflow = outflow || kind == FaceKind::Outflow;
            }
        }
        const Index source = domain_.cell(at[0], at[1], at[2]);
        if (domain_.solid(source)) {
            return {LinkSource::Kind::Body, at[0], at[1], at[2], j, domain_.owner[source]};
        }
        const auto kind = outflow   ? LinkSource::Kind::Outflow
                          : outside ? LinkSource::Kind::Copy
                                    : LinkSource::Kind::Neighbor;
        return {kind, at[0], at[1], at[2], j, -1};
    }

private:
    int precedence(int face) const {
        switch (domain_.faces[face]) {
            case FaceKind::NoSlip: return 4;
            case FaceKind::MovingWall: return 3;
            case FaceKind::VelocityInlet: return 2;
            case FaceKind::PressureOutlet: return 1;
            default: return 0;
        }
    }

    /// Brings a coordinate outside the box back inside; free slip reflects the velocity too.
    void redirect(FaceKind kind, int axis, int& at, int& i) const {
        const int n = domain_.size[axis];
        if (kind == FaceKind::Periodic) {
            at = at < 0 ? at + n : at - n;
        } else if (kind == FaceKind::Outflow) {
            at = at < 0 ? 0 : n - 1;
        } else {
            at = at < 0 ? -1 - at : 2 * n - 1 - at;
            i = Stencil<S>::mirror(i, axis);
        }
    }

    const Domain& domain_;
};

}  // namespace lbm::engine
