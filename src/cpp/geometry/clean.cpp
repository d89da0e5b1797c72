// Makes a mesh of triangles as they come out of a file.
#include "clean.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lbm::geometry {
namespace {

std::uint64_t hash_of(const Vec& p) {
    std::uint64_t hash = 0;
    for (const double value : p.x) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

bool are_equal(const Vec& a, const Vec& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/// Joins vertices of equal coordinates; the number of those that others were equal to.
long join_vertices(Mesh& mesh) {
    std::size_t size = 16;
    while (size < 2 * mesh.vertices.size()) {
        size *= 2;
    }
    std::vector<std::int32_t> table(size, -1), renumbered(mesh.vertices.size());
    std::vector<Vec> kept;
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
        Vec p = mesh.vertices[i];
        for (double& value : p.x) {
            value += 0.0;  // no -0
            if (value == 0.0) {
                value = 0.0;
            }
        }
        std::size_t at = hash_of(p) & (size - 1);
        while (table[at] >= 0 && !are_equal(kept[std::size_t(table[at])], p)) {
            at = (at + 1) & (size - 1);
        }
        if (table[at] < 0) {
            table[at] = std::int32_t(kept.size());
            kept.push_back(p);
        }
        renumbered[i] = table[at];
    }
    for (Triangle& triangle : mesh.triangles) {
        for (std::int32_t& corner : triangle) {
            corner = renumbered[std::size_t(corner)];
        }
    }
    const long joined = long(mesh.vertices.size() - kept.size());
    mesh.vertices = std::move(kept);
    return joined;
}

/// One side of an edge: that of a triangle, which goes along it from the lower to the higher vertex or back.
struct Side {
    std::int32_t low, high, triangle;
    bool goes_up;
};

std::vector<Side> sides_of(const Mesh& mesh) {
    std::vector<Side> sides;
    sides.reserve(3 * mesh.triangles.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        for (int k = 0; k < 3; ++k) {
            const std::int32_t a = mesh.triangles[t][std::size_t(k)], b = mesh.triangles[t][std::size_t((k + 1) % 3)];
            sides.push_back({std::min(a, b), std::max(a, b), std::int32_t(t), a < b});
        }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return a.low != b.low ? a.low < b.low : a.high != b.high ? a.high < b.high : a.triangle < b.triangle;
    });
    return sides;
}

/// Calls body(first side, one past the last) for each edge.
template <class Body>
void for_edges(const std::vector<Side>& sides, Body&& body) {
    for (std::size_t start = 0; start < sides.size();) {
        std::size_t stop = start + 1;
        while (stop < sides.size() && sides[stop].low == sides[start].low && sides[stop].high == sides[start].high) {
            ++stop;
        }
        body(&sides[start], sides.data() + stop);
        start = stop;
    }
}

void classify(const std::vector<Side>& sides, Cleaned& found) {
    bool oriented = true, even = true;
    found.open_edges = found.crowded_edges = 0;
    for_edges(sides, [&](const Side* first, const Side* last) {
        const long up = std::count_if(first, last, [](const Side& side) { return side.goes_up; });
        const long all = last - first;
        oriented = oriented && 2 * up == all;
        even = even && all % 2 == 0;
        found.open_edges += all == 1;
        found.crowded_edges += all > 2;
    });
    found.closure = oriented ? Closure::Oriented : even ? Closure::Even : Closure::Open;
}

/// The triangles to turn so that neighbours across edges of two agree, those of each connected part being turned as
/// most of its area is.
std::vector<bool> disagreeing(const Mesh& mesh, const std::vector<Side>& sides) {
    const std::size_t count = mesh.triangles.size();
    struct Link {
        std::int32_t other;
        bool agrees;
    };
    std::vector<std::int32_t> start(count + 1, 0);
    for_edges(sides, [&](const Side* first, const Side* last) {
        if (last - first == 2) {
            ++start[std::size_t(first[0].triangle) + 1];
            ++start[std::size_t(first[1].triangle) + 1];
        }
    });
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<Link> links(static_cast<std::size_t>(start[count]));
    std::vector<std::int32_t> next(start.begin(), start.end() - 1);
    for_edges(sides, [&](const Side* first, const Side* last) {
        if (last - first == 2) {
            const bool agrees = first[0].goes_up != first[1].goes_up;
            for (int k = 0; k < 2; ++k) {
                links[std::size_t(next[std::size_t(first[k].triangle)]++)] = {first[1 - k].triangle, agrees};
            }
        }
    });
    std::vector<std::int8_t> turn(count, -1);
    std::vector<std::int32_t> part;
    for (std::size_t seed = 0; seed < count; ++seed) {
        if (turn[seed] >= 0) {
            continue;
        }
        part.assign(1, std::int32_t(seed));
        turn[seed] = 0;
        double as_given = 0, turned = 0;
        for (std::size_t at = 0; at < part.size(); ++at) {
            const auto t = std::size_t(part[at]);
            const auto& corners = mesh.triangles[t];
            const Vec& a = mesh.vertices[std::size_t(corners[0])];
            const Vec normal =
                cross(mesh.vertices[std::size_t(corners[1])] - a, mesh.vertices[std::size_t(corners[2])] - a);
            (turn[t] == 0 ? as_given : turned) += length(normal);
            for (std::int32_t k = start[t]; k < start[t + 1]; ++k) {
                const Link& link = links[std::size_t(k)];
                if (turn[std::size_t(link.other)] < 0) {
                    turn[std::size_t(link.other)] = std::int8_t(link.agrees ? turn[t] : 1 - turn[t]);
                    part.push_back(link.other);
                }
            }
        }
        if (turned > as_given) {
            for (const std::int32_t t : part) {
                turn[std::size_t(t)] = std::int8_t(1 - turn[std::size_t(t)]);
            }
        }
    }
    std::vector<bool> found(count);
    std::transform(turn.begin(), turn.end(), found.begin(), [](std::int8_t one) { return one == 1; });
    return found;
}

}  // namespace

Cleaned clean(Mesh mesh) {
    Cleaned found;
    found.joined = join_vertices(mesh);
    const auto has_equal_corners = [](const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; };
    const auto end = std::remove_if(mesh.triangles.begin(), mesh.triangles.end(), has_equal_corners);
    found.dropped = long(mesh.triangles.end() - end);
    mesh.triangles.erase(end, mesh.triangles.end());
    std::vector<Side> sides = sides_of(mesh);
    classify(sides, found);
    if (found.closure != Closure::Oriented) {
        const std::vector<bool> turned = disagreeing(mesh, sides);
        for (std::size_t t = 0; t < turned.size(); ++t) {
            if (turned[t]) {
                std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
                ++found.flipped;
            }
        }
        if (found.flipped > 0) {
            sides = sides_of(mesh);
            classify(sides, found);
        }
    }
    found.mesh = std::move(mesh);
    return found;
}

double volume(const Mesh& mesh) {
    if (mesh.vertices.empty()) {
        return 0;
    }
    const Vec& origin = mesh.vertices[0];  // near, so that the parts of far meshes do not cancel
    double sum = 0;
    for (const Triangle& t : mesh.triangles) {
        sum += dot(mesh.vertices[std::size_t(t[0])] - origin,
                   cross(mesh.vertices[std::size_t(t[1])] - origin, mesh.vertices[std::size_t(t[2])] - origin));
    }
    return sum / 6;
}

}  // namespace lbm::geometry
