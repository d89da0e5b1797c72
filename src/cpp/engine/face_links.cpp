// Lists the links of a wall on a face as those of a body whose cells lie behind the face.
#include "face_links.h"

namespace lbm::engine {

using backend::BodyLink;

bool bounces_back(const Domain& domain, int face) {
    const FaceKind kind = domain.faces[face];
    return kind == face_kind<boundary::NoSlip> || kind == face_kind<boundary::MovingWall>;
}

FaceLinks::FaceLinks(const Domain& domain, const Block& block, int face)
    : domain_(domain), corner_{block.offset[0], block.offset[1], block.offset[2]}, face_(face) {
    if (!block.is_at(face, domain.size)) {
        return;
    }
    const int axis = face / 2, inward = face % 2 == 0 ? 1 : -1;
    int first[3], end[3];  // of the cells before the face
    for (int d = 0; d < 3; ++d) {
        first[d] = corner_[d];
        end[d] = corner_[d] + block.size[d];
    }
    (inward > 0 ? end[axis] : first[axis]) = inward > 0 ? first[axis] + 1 : end[axis] - 1;
    backend::with_stencil(domain.stencil, [&](auto s) {
        using S = decltype(s);
        const LinkResolver<S> resolver(domain);
        std::vector<int> entering;  // velocities
        for (int i = 1; i < S::Q; ++i) {
            if (S::c[i][axis] * inward > 0) {
                entering.push_back(i);
            }
        }
        links_.reserve(entering.size() * std::size_t(block.cells() / block.size[axis]));
        for (int z = first[2]; z < end[2]; ++z) {
            for (int y = first[1]; y < end[1]; ++y) {
                for (const int i : entering) {  // before x, as one population of a row lies in one piece
                    for (int x = first[0]; x < end[0]; ++x) {
                        add(resolver, x, y, z, i);
                    }
                }
            }
        }
    });
    set_wall_momentum();
}

template <class S>
void FaceLinks::add(const LinkResolver<S>& resolver, int x, int y, int z, int i) {
    if (domain_.solid(x, y, z)) {
        return;
    }
    const LinkSource source = resolver.resolve(x, y, z, i);
    if (source.kind == LinkSource::Kind::Face && source.owner == face_) {
        const int* c = S::c[i];
        links_.push_back({x - corner_[0],
                          y - corner_[1],
                          z - corner_[2],
                          i,
                          {x - c[0], y - c[1], z - c[2]},
                          i,
                          0,
                          {0, 0, 0},
                          0.5,
                          false});
    }
}

const std::vector<BodyLink>& FaceLinks::now() {
    if (velocity_ != domain_.face_value[face_] || reference_density_ != domain_.reference_density) {
        set_wall_momentum();
    }
    return links_;
}

void FaceLinks::set_wall_momentum() {
    velocity_ = domain_.face_value[face_];
    reference_density_ = domain_.reference_density;
    boundary::Wall wall{{0, 0, 0}, reference_density_, inertia_of_density(reference_density_, domain_.compressibility)};
    backend::with_stencil(domain_.stencil, [&](auto s) {
        using S = decltype(s);
        for (BodyLink& link : links_) {
            const Index place = domain_.face_cell(face_, corner_[0] + link.x, corner_[1] + link.y, corner_[2] + link.z);
            for (int d = 0; d < S::D; ++d) {
                wall.value[d] = component(velocity_, S::D, d, place, domain_.face_cells(face_));
            }
            link.wall_momentum = boundary::MovingWall::link_value<S>(wall, link.i);
        }
    });
}

}  // namespace lbm::engine
