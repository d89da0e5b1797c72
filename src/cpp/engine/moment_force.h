// The force field of a block whose state is moments, with the cells around it that an update of several steps computes.
#pragma once

#include <vector>

#include "../backend/moment_force.h"
#include "domain.h"
#include "layout.h"

namespace lbm::engine {

/// The places along one axis of a block's cells and of those around it.
class ForcePlaces {
public:
    ForcePlaces(const Domain& domain, const Block& block, int axis, int around) {
        const int n = domain.size[axis];
        for (int local = -around; local < block.size[axis] + around; ++local) {
            Place place{block.offset[axis] + local, false};
            while (place.at != nowhere && (place.at < 0 || place.at >= n)) {
                const FaceKind face = domain.faces[2 * axis + (place.at < 0 ? 0 : 1)];
                if (is_periodic(face)) {
                    place.at = (place.at % n + n) % n;
                } else if (face == face_kind<boundary::FreeSlip>) {
                    place.at = place.at < 0 ? -1 - place.at : 2 * n - 1 - place.at;
                    place.is_mirrored = !place.is_mirrored;
                } else {
                    place.at = nowhere;
                }
            }
            places_.push_back(place);
        }
    }

    static constexpr int nowhere = -1 << 30;  // behind a wall
    /// A place in the domain, or that of which one behind a face with free slip is the image.
    struct Place {
        int at;
        bool is_mirrored;
    };
    const std::vector<Place>& all() const { return places_; }

private:
    std::vector<Place> places_;
};

/// The numbers that MomentForceRows::put_layer() takes, of a field of D components over the known cells. The images
/// behind faces with free slip have the image of the force; behind walls there is none.
inline std::vector<double> force_around(const Domain& domain, const Block& block, const backend::MomentForceRows& rows,
                                        const double* known) {
    const ForcePlaces x(domain, block, 0, rows.around_x), y(domain, block, 1, rows.around_y),
        z(domain, block, 2, rows.around_z);
    std::vector<double> all;
    all.reserve(std::size_t(domain.D * rows.cells()));
    for (int d = 0; d < domain.D; ++d) {
        for (const auto& at_z : z.all()) {
            for (const auto& at_y : y.all()) {
                for (const auto& at_x : x.all()) {
                    const bool is_behind = at_x.at < 0 || at_y.at < 0 || at_z.at < 0;
                    const Index cell = is_behind ? -1 : domain.known_cell(at_x.at, at_y.at, at_z.at);
                    const bool is_reversed = (d == 0 ? at_x : d == 1 ? at_y : at_z).is_mirrored;
                    const double force = cell < 0 ? 0 : known[d * domain.known.cells() + cell];
                    all.push_back(is_reversed ? -force : force);
                }
            }
        }
    }
    return all;
}

}  // namespace lbm::engine
