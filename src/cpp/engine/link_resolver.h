// Finds the source of a link's incoming population where the upstream neighbour x - c_i is not simply a fluid cell of
// the domain: behind a face or inside a body.
#pragma once

#include "../lattice/stencil.h"
#include "domain.h"

namespace lbm::engine {

/// The source of one incoming population.
struct LinkSource {
    enum class Kind {
        Neighbor,  // the upstream fluid neighbour: nothing to do
        Copy,      // a copy of the post-collision population i of cell (x, y, z)
        Passed,    // the same, modified by the formula of face `owner`
        Face,      // given by the wall, inlet or outlet on face `owner`
        Body       // reflected by body `owner`: by its solid cell (x, y, z), which the link leaves with velocity i, or
                   // by its wall between the cell and a fluid cell (x, y, z)
    };
    Kind kind;
    int x, y, z;
    int i;
    int owner;
};

/// Where a link crosses several faces, the face whose condition has the highest precedence governs. Conditions of
/// precedence 0, which only redirect a link (periodic, outflow, free slip), act one after the other, in the order of
/// axes.
template <class S>
class LinkResolver {
public:
    explicit LinkResolver(const Domain& domain) : domain_(domain) {}

    /// The source of the population that streams into fluid cell (x, y, z) of the domain with velocity i.
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
        int changing = -1;
        for (int a = 0; a < S::D; ++a) {
            if (face_of_axis[a] >= 0) {
                with_condition(domain_.faces[face_of_axis[a]], [&](auto c) {
                    using Condition = decltype(c);
                    if constexpr (Condition::precedence == 0) {
                        Condition::template redirect<S>(a, domain_.size[a], at[a], j);
                    }
                    changing = boundary::has_formula<Condition> ? face_of_axis[a] : changing;
                });
            }
        }
        if (domain_.solid(at)) {
            return {LinkSource::Kind::Body, at[0], at[1], at[2], j, domain_.body_of(at[0], at[1], at[2])};
        }
        if (const SheetWall* sheet = sheet_before(x, y, z, i, face_of_axis)) {
            return {LinkSource::Kind::Body, at[0], at[1], at[2], j, sheet->body};
        }
        if (changing >= 0 && domain_.sheet(at, S::c[j]) != nullptr) {
            // What that cell sends to a wall between fluid cells is changed before an update, while other blocks may
            // still read it: the own population takes its place.
            return {LinkSource::Kind::Passed, x, y, z, i, changing};
        }
        const auto kind = changing >= 0 ? LinkSource::Kind::Passed
                          : outside     ? LinkSource::Kind::Copy
                                        : LinkSource::Kind::Neighbor;
        return {kind, at[0], at[1], at[2], j, changing};
    }

private:
    /// The wall between two fluid cells that a link meets before it enters cell (x, y, z) with velocity i. Where faces
    /// redirect it that is the wall on the way along them.
    const SheetWall* sheet_before(int x, int y, int z, int i, const int (&face_of_axis)[3]) const {
        const int cell[3] = {x, y, z};
        int to[3] = {0, 0, 0};
        for (int a = 0; a < S::D; ++a) {
            const bool redirected = face_of_axis[a] >= 0 && !is_periodic(domain_.faces[face_of_axis[a]]);
            to[a] = redirected ? 0 : -S::c[i][a];
        }
        return domain_.sheet(cell, to);
    }

    int precedence(int face) const {
        return with_condition(domain_.faces[face], [](auto c) { return decltype(c)::precedence; });
    }

    const Domain& domain_;
};

}  // namespace lbm::engine
