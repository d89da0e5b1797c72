// Tests where bodies that move cut links: the crossings by the equations of surfaces against halving the links.
#include "../../src/cpp/backend/moving_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "check.h"

namespace {

using namespace lbm::backend;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers and the integers of a shape of one part.
struct OnePart {
    ShapePart part;
    std::vector<double> numbers;
    std::vector<int> table;

    Shape shape() const { return {&part, 1, numbers.data(), table.data()}; }
};

OnePart part_of(ShapeKind kind, std::vector<double> numbers, std::vector<int> table = {}) {
    return {{kind, 0, 0, 0}, std::move(numbers), std::move(table)};
}

/// The same, turned about an axis and shifted.
OnePart placed(OnePart given) {
    const double c = 0.8, s = 0.6;
    const std::vector<double> placement = {c, -s * c, s * s, s, c * c, -s * c, 0, s, c, 0.3, -0.2, 0.1};
    given.part.is_placed = 1;
    given.numbers.insert(given.numbers.begin(), placement.begin(), placement.end());
    return given;
}

/// Lists in bins the items that `overlaps` them, after what the table has.
template <class Overlaps>
void add_bins(std::vector<int>& table, int bins, int items, Overlaps&& overlaps) {
    std::vector<int> begin = {0}, listed;
    for (int k = 0; k < bins; ++k) {
        for (int item = 0; item < items; ++item) {
            if (overlaps(k, item)) {
                listed.push_back(item);
            }
        }
        begin.push_back(int(listed.size()));
    }
    table.insert(table.end(), begin.begin(), begin.end());
    table.insert(table.end(), listed.begin(), listed.end());
}

/// A prism about the z axis of a polygon that is not convex, with edges along u and along v.
OnePart prism(double low, double high) {
    const double corners[7][2] = {{-2, -2}, {2, -2}, {2, 1}, {0.6, 0.2}, {0.1, 2}, {-1, 2}, {-2.3, 0.4}};
    const int bins = 9;
    const double inverse = bins / 4.0;
    std::vector<double> numbers = {low, high, -2, inverse};
    for (int k = 0; k < 7; ++k) {
        const double* a = corners[k];
        const double* b = corners[(k + 1) % 7];
        const double* lower = a[1] < b[1] ? a : b;
        const double* upper = a[1] < b[1] ? b : a;
        numbers.insert(numbers.end(), {lower[0], lower[1], upper[0], upper[1]});
    }
    std::vector<int> table = {0, 1, 2, bins};
    add_bins(table, bins, 7, [&](int k, int edge) {
        const double* own = numbers.data() + 4 + 4 * std::size_t(edge);
        return shape::bin_of((own[1] + 2) * inverse, bins) <= k && k <= shape::bin_of((own[3] + 2) * inverse, bins);
    });
    return part_of(ShapeKind::Polygon, numbers, table);
}

/// Adds the bits of a triangle's plane.
void add_plane(std::vector<int>& table, const double* corners) {
    const double* a = corners;
    double e[3], f[3], normal[3], product = 0;
    for (int d = 0; d < 3; ++d) {
        e[d] = corners[3 + d] - a[d];
        f[d] = corners[6 + d] - a[d];
    }
    for (int d = 0; d < 3; ++d) {
        normal[d] = e[(d + 1) % 3] * f[(d + 2) % 3] - e[(d + 2) % 3] * f[(d + 1) % 3];
    }
    const double length = std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int d = 0; d < 3; ++d) {
        table.push_back(__builtin_bit_cast(int, float(normal[d] / length)));
        product += normal[d] / length * (a[d] + 2.5);
    }
    table.push_back(__builtin_bit_cast(int, float(product)));
}

/// A mesh of a sphere that is dented along z: the faces of an octahedron, each of n x n triangles.
OnePart dented_sphere(int n) {
    const int bins = 6;
    const double inverse = bins / 5.0;
    const double part = shape::mesh_parts / 5.0;
    std::vector<double> numbers = {-2.5,    -2.5,    -2.5, inverse, inverse, inverse,
                                   inverse, inverse, part, part,    part,    4e-5};
    const auto add = [&](int sx, int sy, int sz, int i, int j) {
        double x[3] = {double(i), double(j), double(n - i - j)};
        const double r = 2.4 / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        const double dent = 1 - 0.7 * std::pow(x[2] * r / 2.4, 4);
        numbers.insert(numbers.end(), {sx * x[0] * r, sy * x[1] * r, sz * x[2] * r * dent});
    };
    for (int face = 0; face < 8; ++face) {
        const int sx = (face & 1) != 0 ? -1 : 1, sy = (face & 2) != 0 ? -1 : 1, sz = (face & 4) != 0 ? -1 : 1;
        const bool turns = sx * sy * sz < 0;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; i + j < n; ++j) {
                add(sx, sy, sz, i, j);
                add(sx, sy, sz, i + (turns ? 0 : 1), j + (turns ? 1 : 0));
                add(sx, sy, sz, i + (turns ? 1 : 0), j + (turns ? 0 : 1));
                if (i + j + 1 < n) {
                    add(sx, sy, sz, i + 1, j + 1);
                    add(sx, sy, sz, i + (turns ? 1 : 0), j + (turns ? 0 : 1));
                    add(sx, sy, sz, i + (turns ? 0 : 1), j + (turns ? 1 : 0));
                }
            }
        }
    }
    const auto triangles = int((numbers.size() - shape::mesh_numbers) / 9);
    std::vector<int> table = {1, bins, bins, bins, bins, bins, 0, 0, 0}, lists[2];
    const auto is_in_bin = [&](int k, int triangle, int axes) {
        const double* own = numbers.data() + shape::mesh_numbers + 9 * std::size_t(triangle);
        bool found = true;
        for (int d = 0; d < axes; ++d, k /= bins) {
            const double low = std::min({own[d], own[3 + d], own[6 + d]});
            const double high = std::max({own[d], own[3 + d], own[6 + d]});
            found = found && shape::bin_of((low + 2.5) * inverse, bins) <= k % bins &&
                    k % bins <= shape::bin_of((high + 2.5) * inverse, bins);
        }
        return found;
    };
    const int counts[2] = {bins * bins, bins * bins * bins};
    for (int of_boxes = 0; of_boxes < 2; ++of_boxes) {
        std::vector<int>& list = lists[of_boxes];
        add_bins(list, counts[of_boxes], triangles,
                 [&](int k, int triangle) { return is_in_bin(k, triangle, 2 + of_boxes); });
        table[6] = int(table.size());
        table.insert(table.end(), list.begin(), list.begin() + counts[of_boxes] + 1);
    }
    table.insert(table.end(), std::size_t(counts[1]), 2);  // the search finds those without triangles too
    table.resize((table.size() + 3) / 4 * 4);
    for (const int of_boxes : {1, 0}) {
        table[of_boxes == 1 ? 7 : 8] = int(table.size());
        for (auto item = lists[of_boxes].begin() + counts[of_boxes] + 1; item != lists[of_boxes].end(); ++item) {
            const double* own = numbers.data() + shape::mesh_numbers + 9 * std::size_t(*item);
            table.push_back(*item);
            for (int d = 0; d < 3; ++d) {
                const double low = (std::min({own[d], own[3 + d], own[6 + d]}) + 2.5) * part;
                const double high = (std::max({own[d], own[3 + d], own[6 + d]}) + 2.5) * part;
                table.push_back(int(unsigned(low) | (unsigned(high) + 1) << 16));
            }
            if (of_boxes == 1) {
                add_plane(table, own);
            }
        }
    }
    return part_of(ShapeKind::Mesh, numbers, table);
}

/// Calls that are not inlined: compilers warn of numbers that a shape of the other kinds would have.
[[gnu::noinline]] double cut_of(const Shape& shape, const shape::Point& from, const shape::Point& to) {
    return cut(shape, from, to);
}

/// Checks lines of up to two cells that begin outside and end inside: whether the equations find the first crossing,
/// which halving may miss where there are three.
[[gnu::noinline]] void check_cuts(const OnePart& given) {
    const Shape shape = given.shape();
    std::mt19937 random(7);
    std::uniform_real_distribution<double> place(-3, 3), step(-1, 1);
    int lines = 0, missed = 0;
    for (int k = 0; k < 40000; ++k) {
        const double from[3] = {place(random), place(random), place(random)};
        double to[3];
        for (int d = 0; d < 3; ++d) {
            to[d] = from[d] + (k % 4 == 0 ? double(d == k / 4 % 3) : step(random));  // some along the axes
        }
        if (is_inside(shape, from) || !is_inside(shape, to)) {
            continue;
        }
        ++lines;
        const double found = shape::into_part(shape, shape.parts[0], from, to);
        missed += !(found >= 0 && found <= 1);
        CHECK_EQUAL(cut(shape, from, to), found >= 0 && found <= 1 ? found : halved(shape, from, to));
        if (std::abs(found - halved(shape, from, to)) > 1e-6) {
            int crossings = 0;
            bool last = false;
            for (int j = 0; j <= 2000; ++j) {
                double p[3];
                for (int d = 0; d < 3; ++d) {
                    p[d] = from[d] + j / 2000.0 * (to[d] - from[d]);
                }
                const bool now = is_inside(shape, p);
                CHECK(!now || j / 2000.0 > found - 1e-6);
                crossings += now != last;
                last = now;
            }
            CHECK(crossings != 1);
        }
    }
    CHECK(lines > 500);
    CHECK_EQUAL(missed, 0);
}

TEST(moving_cut_equations_find_what_halving_finds) {
    const double root = std::sqrt(1.0 / 3);
    const OnePart parts[] = {part_of(ShapeKind::Sphere, {0.1, -0.2, 0.3, 2.2 * 2.2}),
                             part_of(ShapeKind::Cylinder, {0.1, 0.2, 0, root, -root, root, 1.3 * 1.3, 1.7}),
                             part_of(ShapeKind::Box, {-1.1, -1.9, -1.4, 1.6, 0.8, 2}),
                             part_of(ShapeKind::Box, {-1.1, -1.9, -infinity, 1.6, 0.8, infinity}),
                             part_of(ShapeKind::Plane, {0.4, 0.1, 0, 0.6, -0.8, 0}),
                             prism(-1.2, 1.9),
                             prism(-infinity, infinity),
                             dented_sphere(5)};
    for (const OnePart& part : parts) {
        check_cuts(part);
        check_cuts(placed(part));
    }
}

TEST(moving_cut_crossings_at_the_ends_of_a_line_are_found) {
    const OnePart box = part_of(ShapeKind::Box, {0, 0, 0, 2, 2, 2});
    const double before = std::nextafter(0.0, -1.0);
    CHECK(cut_of(box.shape(), {-1, 1, 1}, {0, 1, 1}) == 1);
    CHECK(cut_of(box.shape(), {before, 1, 1}, {1, 1, 1}) < 1e-6);
    CHECK(cut_of(box.shape(), {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}) == 0.5);
}

TEST(moving_cut_lines_through_edges_and_corners_of_a_mesh_do_not_pass_between_triangles) {
    const OnePart mesh = dented_sphere(4);
    const Shape shape = mesh.shape();
    for (std::size_t corner = shape::mesh_numbers; corner < mesh.numbers.size(); corner += 3) {
        const double* at = mesh.numbers.data() + corner;
        const double from[3] = {1.4 * at[0], 1.4 * at[1], 1.4 * at[2]}, to[3] = {0.6 * at[0], 0.6 * at[1], 0.6 * at[2]};
        CHECK(std::abs(shape::into_part(shape, shape.parts[0], from, to) - 0.5) < 1e-12);
    }
}

TEST(moving_cut_shapes_of_several_regions_are_halved) {
    OnePart two = part_of(ShapeKind::Sphere, {0, 0, 0, 4, 2, 0, 0, 1});
    const std::vector<ShapePart> parts = {two.part, {ShapeKind::Sphere, 0, 4, 0}, {ShapeKind::Difference, 0, 8, 0}};
    const Shape shape{parts.data(), int(parts.size()), two.numbers.data(), nullptr};
    const double lines[2][2] = {{1.5, 0.5}, {-2.25, -1.25}}, expected[2] = {0.5, 0.25};
    for (int k = 0; k < 2; ++k) {
        CHECK(std::abs(cut_of(shape, {lines[k][0], 0, 0}, {lines[k][1], 0, 0}) - expected[k]) < 1e-6);
    }
}

}  // namespace
