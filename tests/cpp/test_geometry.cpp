// Tests the voxeliser: lines through corners, edges and centres, repairs of meshes, and ranges of threads.
#include "../../src/cpp/geometry/clean.h"

#include <atomic>
#include <stdexcept>

#include "../../src/cpp/geometry/links.h"
#include "../../src/cpp/geometry/parallel.h"
#include "../../src/cpp/geometry/rays.h"
#include "check.h"

namespace {

using namespace lbm::geometry;

/// A box of twelve triangles.
Mesh box(double low, double high) {
    Mesh mesh;
    for (int corner = 0; corner < 8; ++corner) {
        mesh.vertices.push_back({{corner & 4 ? high : low, corner & 2 ? high : low, corner & 1 ? high : low}});
    }
    mesh.triangles = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                      {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    return mesh;
}

TEST(geometry_lines_through_edges_and_corners_cross_a_box_twice) {
    const Surface surface(box(2.5, 6.5), Closure::Oriented);  // lines run along its edges and diagonals
    const int velocities[4][3] = {{0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {1, -1, 1}};
    for (const auto& velocity : velocities) {
        const Direction along(velocity);
        const LineRange range{-40, 40, -40, 40};
        std::vector<int> signs(80 * 80, 0), counts(80 * 80, 0);
        for (std::int32_t t = 0; t < 12; ++t) {
            for_crossings(surface, along, t, range, [&](std::int64_t i, std::int64_t j, int sign, const Cut&) {
                signs[std::size_t((i + 40) * 80 + j + 40)] += sign;
                ++counts[std::size_t((i + 40) * 80 + j + 40)];
            });
        }
        int crossed = 0;
        for (std::size_t k = 0; k < signs.size(); ++k) {
            CHECK_EQUAL(signs[k], 0);
            CHECK(counts[k] == 0 || counts[k] == 2);
            crossed += counts[k] == 2;
        }
        CHECK(crossed >= 16);
    }
}

TEST(geometry_cells_with_centres_on_a_box_are_those_above_its_lower_faces) {
    const Surface surface(box(2.5, 6.5), Closure::Oriented);
    const Part part{{0, 0, 0}, {9, 9, 9}};
    std::vector<std::uint8_t> solid(std::size_t(part.cells()), 7);
    find_solid(surface, nullptr, part, solid.data(), 3);
    for (int x = 0; x < 9; ++x) {
        for (int y = 0; y < 9; ++y) {
            for (int z = 0; z < 9; ++z) {
                const bool is_inside = x >= 2 && x < 6 && y >= 2 && y < 6 && z >= 2 && z < 6;
                CHECK_EQUAL(int(solid[std::size_t((x * 9 + y) * 9 + z)]), int(is_inside));
            }
        }
    }
}

/// Follows lines as threads of a GPU do: they share the lines of a triangle, and what they find comes in any order.
class SharedLines final : public LatticeLines {
public:
    using LatticeLines::LatticeLines;

    void fill(const Part& inner, const Part& part, std::uint8_t* solid) override {
        HostLines(surface(), threads()).fill(inner, part, solid);
    }

    void for_cuts(const LineDirection& along, const LineRange& lines, const CellBox& box,
                  const TakeCuts& take) override {
        for (lbm::Index own = 4; own >= 0; --own) {
            for (int t = int(surface().mesh().triangles.size()) - 1; t >= 0; --t) {
                const auto hand_over = [&](lbm::Index first, lbm::Index second, int, const Cut& cut) {
                    const LineCut found = on_link(along, first, second, cut);
                    if (box.has(found.cell)) {
                        take(&found, 1);
                    }
                };
                for_crossings(surface().view(), along, t, lines, LineShare{own, 5}, hand_over);
            }
        }
    }
};

TEST(geometry_links_do_not_depend_on_who_follows_lines_nor_on_their_order) {
    Mesh mesh = box(2.5, 6.5);
    for (const Triangle& t : box(0, 1).triangles) {  // a part thinner than a cell
        mesh.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
    }
    for (const Vec& corner : box(1.3, 1.6).vertices) {
        mesh.vertices.push_back({{corner[0] + 5.1, corner[1] * 3, corner[2] + 6.4}});
    }
    const Surface surface(mesh, Closure::Oriented);
    const Part part{{-1, 0, 1}, {11, 9, 12}}, wide{{-2, -1, 0}, {13, 11, 14}};
    std::vector<std::uint8_t> own(std::size_t(wide.cells())), taken(std::size_t(part.cells()), 0);
    find_solid(surface, nullptr, wide, own.data(), 2);
    std::vector<std::array<int, 3>> velocities;
    velocities.reserve(27);
    for (int k = 0; k < 27; ++k) {
        velocities.push_back({k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1});
    }
    HostLines host(surface, 3);
    SharedLines shared(surface, 3);
    const std::vector<CutLink> one = find_links(host, part, velocities, own.data(), taken.data(), 1e-3, 0.5);
    const std::vector<CutLink> other = find_links(shared, part, velocities, own.data(), taken.data(), 1e-3, 0.5);
    CHECK(one.size() > 500);
    CHECK_EQUAL(one.size(), other.size());
    for (std::size_t k = 0; k < std::min(one.size(), other.size()); ++k) {
        CHECK_EQUAL(one[k].cell, other[k].cell);
        CHECK_EQUAL(one[k].direction, other[k].direction);
        CHECK_EQUAL(one[k].q, other[k].q);
    }
}

TEST(geometry_products_are_compared_in_128_bits) {
    constexpr lbm::Index big = lbm::Index(1) << 61;
    CHECK_EQUAL(compare_products(big, big, big, big), 0);
    CHECK_EQUAL(compare_products(big, big, big + 1, big - 1), 1);  // by 1
    CHECK_EQUAL(compare_products(big, -big, big + 1, -(big - 1)), -1);
    CHECK_EQUAL(compare_products(-big, big, 0, 0), -1);
    CHECK_EQUAL(floor_of(-0.25), -1);
    CHECK_EQUAL(floor_of(-3.0), -3);
    CHECK_EQUAL(floor_of(2.75), 2);
}

TEST(geometry_clean_joins_corners_and_turns_triangles) {
    const Mesh joined = box(0, 1);
    Mesh separate;
    for (const Triangle& t : joined.triangles) {
        const auto first = std::int32_t(separate.vertices.size());
        for (const std::int32_t corner : t) {
            separate.vertices.push_back(joined.vertices[std::size_t(corner)]);
        }
        separate.triangles.push_back({first, first + 1, first + 2});
    }
    std::swap(separate.triangles[3][0], separate.triangles[3][1]);
    separate.triangles.push_back({0, 0, 1});
    const Cleaned found = clean(separate);
    CHECK_EQUAL(found.mesh.vertices.size(), 8u);
    CHECK_EQUAL(found.joined, 28);
    CHECK_EQUAL(found.dropped, 1);
    CHECK_EQUAL(found.flipped, 1);
    CHECK(found.closure == Closure::Oriented);
    CHECK_EQUAL(volume(found.mesh), 1.0);
    Mesh open = box(0, 1);
    open.triangles.pop_back();
    const Cleaned holed = clean(open);
    CHECK(holed.closure == Closure::Open);
    CHECK_EQUAL(holed.open_edges, 3);
}

TEST(geometry_solid_angles_of_a_closed_surface_are_all_or_nothing) {
    const Surface surface(box(2, 6), Closure::Oriented);
    const Tree tree(surface);
    CHECK(std::abs(tree.winding_number({{3, 4, 5}}, INFINITY) - 1) < 1e-14);
    CHECK(std::abs(tree.winding_number({{3, 4, 7}}, INFINITY)) < 1e-14);
}

TEST(geometry_rays_meet_both_faces_of_a_box) {
    const Surface surface(box(2, 6), Closure::Oriented);
    const Tree tree(surface);
    std::vector<double> found;
    find_meetings(surface, tree, {{0, 3.3, 4.1}}, {{8, 0, 0}}, 0, found);
    CHECK_EQUAL(found.size(), 2u);
    CHECK_EQUAL(std::min(found[0], found[1]), 0.25);
    CHECK_EQUAL(std::max(found[0], found[1]), 0.75);
}

TEST(geometry_coordinates_beyond_those_of_cells_are_refused) {
    bool is_refused = false;
    try {
        const Surface surface(box(0, 1e12), Closure::Oriented);
    } catch (const std::invalid_argument&) {
        is_refused = true;
    }
    CHECK(is_refused);
}

TEST(geometry_pieces_are_all_done_and_errors_come_out) {
    std::atomic<long> sum{0};
    for_pieces(1000, 4, [&](long piece) { sum += piece; });
    CHECK_EQUAL(long(sum), 499500L);
    bool is_thrown = false;
    try {
        for_pieces(10, 4, [](long piece) {
            if (piece == 3) {
                throw std::runtime_error("three");
            }
        });
    } catch (const std::runtime_error&) {
        is_thrown = true;
    }
    CHECK(is_thrown);
}

}  // namespace
