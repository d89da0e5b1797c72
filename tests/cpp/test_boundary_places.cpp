// Tests the storage layout of the variables that boundary cells keep from step to step: no two share an address.
#include <set>

#include "../../src/cpp/backend/boundary_places.h"
#include "check.h"

using lbm::Index;

TEST(boundary_places_of_numbers_are_places_of_their_own) {
    for (const int nz : {1, 3}) {
        lbm::Address block{};
        block.nx = 5;
        block.ny = 2;
        block.nz = nz;
        const int size[3] = {block.nx, block.ny, block.nz};
        const int stored[6] = {2, 0, 1, 3, 0, 2};
        const lbm::backend::BoundaryPlaces places(block, stored);
        std::set<Index> taken;
        for (int face = 0; face < 6; ++face) {
            const int axis = face / 2;
            int at[3];
            for (at[0] = -1; at[0] <= size[0]; ++at[0]) {
                for (at[1] = -1; at[1] <= size[1]; ++at[1]) {
                    for (at[2] = -1; at[2] <= size[2]; ++at[2]) {
                        if (at[axis] != (face % 2 == 0 ? 0 : size[axis] - 1)) {
                            continue;  // not before the face, nor beside such a cell
                        }
                        for (int k = 0; k < stored[face]; ++k) {
                            const Index place = places.of(face, at) + k;
                            CHECK(place >= 0 && place < places.total());
                            CHECK(taken.insert(place).second);
                        }
                    }
                }
            }
        }
        CHECK_EQUAL(Index(taken.size()), places.total());
    }
}
