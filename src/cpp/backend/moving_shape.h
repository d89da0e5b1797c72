// The shape of a body that moves, as plain data that the GPU's compiler can include too: whether a point of the body's
// own frame is in it. Only sums, products and quotients of doubles decide, so that all devices find the same cells.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// A region of space, or the way in which the last two regions make one.
enum class ShapeKind : int { Sphere, Cylinder, Box, Plane, Polygon, Mesh, Union, Intersection, Difference };
constexpr int shape_kinds = 9;

/// A part of a shape. Its numbers begin with the twelve of a placement if it is placed: an orthogonal matrix, row by
/// row, and a shift, by which the part's own frame becomes the body's. What follows is
///
///   sphere    the centre, the square of the radius
///   cylinder  the middle, the unit vector along the axis, the square of the radius, half the length
///   box       the lowest and the highest corner
///   plane     a point, the normal out of the region
///   polygon   low and high end along the axis of a prism, the lowest v and the inverse height of a bin, and for each
///             edge (u, v) of its lower and of its upper end. Integers: the axes of u, v and along the prism, the
///             number of bins, where the edges of each bin begin, and their numbers
///   mesh      the lowest (x, y, z); the inverse sizes of a column along x and y; along x, y and z those of a box, and
///             of each of the mesh_parts parts that the mesh is cut into along an axis; a distance that planes in float
///             are exact to; and for each triangle the three corners.
///             Integers: whether its triangles are turned alike, the numbers of columns along x and y, the numbers of
///             boxes along x, y and z, where the lists of the boxes, their entries and those of the columns begin; then
///             where those of each column begin, x fastest; where those of each box begin, and the states of the boxes
///             (MeshBoxes); and the entries (BoxEntry, MeshEntry), at multiples of four integers
struct ShapePart {
    ShapeKind kind;
    int is_placed;
    int first;  // of its numbers
    int table;  // the first of its integers, a multiple of four
};

/// A shape in the memory of a device: regions and, behind the two that it joins, each operation.
struct Shape {
    const ShapePart* parts;
    int count;
    const double* numbers;
    const int* table;
};

namespace shape {

using Point = double[3];

/// A coordinate whose number is known at run time only. An index would have a GPU keep the point in its memory.
LBM_HD double coordinate(const Point& p, int d) { return d == 0 ? p[0] : d == 1 ? p[1] : p[2]; }

LBM_HD double squared_distance(const double* center, const Point& p) {
    const double x = p[0] - center[0], y = p[1] - center[1], z = p[2] - center[2];
    return x * x + y * y + z * z;
}

LBM_HD bool in_cylinder(const double* n, const Point& p) {
    const double x = p[0] - n[0], y = p[1] - n[1], z = p[2] - n[2];
    const double along = x * n[3] + y * n[4] + z * n[5];
    const double a = y * n[5] - z * n[4], b = z * n[3] - x * n[5], c = x * n[4] - y * n[3];
    return a * a + b * b + c * c <= n[6] && along <= n[7] && -along <= n[7];
}

LBM_HD bool in_box(const double* n, const Point& p) {
    bool found = true;
    for (int d = 0; d < 3; ++d) {
        found = found && p[d] >= n[d] && p[d] <= n[3 + d];
    }
    return found;
}

LBM_HD bool behind_plane(const double* n, const Point& p) {
    return (p[0] - n[0]) * n[3] + (p[1] - n[1]) * n[4] + (p[2] - n[2]) * n[5] <= 0;
}

/// By the edges that a line from the point along u crosses, as Polygon.inside has it.
LBM_HD bool in_polygon(const double* n, const int* table, const Point& p) {
    const double u = coordinate(p, table[0]), v = coordinate(p, table[1]), along = coordinate(p, table[2]);
    const int bins = table[3];
    const double bin = (v - n[2]) * n[3];
    if (!(along >= n[0] && along <= n[1] && bin >= 0 && bin < bins)) {
        return false;
    }
    const int* begin = table + 4;
    const int* edges = begin + bins + 1;
    const int k = int(bin);
    bool found = false;
    for (int e = begin[k]; e < begin[k + 1]; ++e) {
        const double* edge = n + 4 + Index(4) * edges[e];
        const double side = (edge[2] - edge[0]) * (v - edge[1]) - (edge[3] - edge[1]) * (u - edge[0]);
        found = found != (v >= edge[1] && v < edge[3] && side > 0);
    }
    return found;
}

/// Whether a point is left of the edge from a to b, seen along z. Both triangles at an edge find opposite answers, so
/// that no line passes between them or through both.
LBM_HD bool left_of_edge(const double* a, const double* b, const Point& p) {
    const bool swaps = a[0] > b[0] || (a[0] == b[0] && a[1] > b[1]);
    const double* from = swaps ? b : a;
    const double* to = swaps ? a : b;
    const double side = (to[0] - from[0]) * (p[1] - from[1]) - (to[1] - from[1]) * (p[0] - from[0]);
    return (side >= 0) != swaps;
}

/// Numbers of a mesh before its triangles, and integers before the lists of its columns.
constexpr int mesh_numbers = 12, mesh_integers = 9;

/// The bin of a place among so many of width 1.
LBM_HD int bin_of(double place, int bins) { return place >= bins ? bins - 1 : place > 0 ? int(place) : 0; }

/// A triangle that may be in a column of a mesh: its number, and along each axis where it begins (the lower half of the
/// bits) and ends, both rounded outwards, in parts of mesh_parts of the mesh. With these most triangles need not be
/// looked at, whose corners take far longer to come from memory.
struct alignas(16) MeshEntry {
    int triangle;
    UInt32 extent[3];
};
constexpr int mesh_parts = 65535;

/// One that may be in a box, with the bits of the float numbers of its plane: the unit normal, and its product with the
/// triangle seen from the mesh's lowest corner.
struct BoxEntry : MeshEntry {
    UInt32 plane[4];
};
static_assert(sizeof(MeshEntry) == 16 && sizeof(BoxEntry) == 32);

/// What extends from `low` to `high`, in parts of the mesh.
struct MeshExtent {
    UInt32 low[3], high[3];

    LBM_HD bool may_touch(const MeshEntry& entry) const {
        bool found = true;
        for (int d = 0; d < 3; ++d) {
            found = found & ((entry.extent[d] & 0xFFFFU) <= high[d]) & ((entry.extent[d] >> 16) >= low[d]);
        }
        return found;
    }
};

LBM_HD int lowest_bit(UInt32 bits) {
#if defined(__CUDACC__)
    return __ffs(int(bits)) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

/// Calls visit(triangle) for those of the entries from `first` on for which is_near(entry). It looks through some
/// entries first, four of which come from memory at once; then the threads of a warp, which have unlike entries, visit
/// triangles together.
template <class Entry, class IsNear, class Visit>
LBM_HD void for_near(const Entry* entries, int first, int end, const IsNear& is_near, const Visit& visit) {
    for (int base = first; base < end; base += 32) {
        const int count = end - base < 32 ? end - base : 32;
        UInt32 near = 0;
        for (int k = 0; k < count; k += 4) {
            static_for<4>([&]<int j>() LBM_INLINE_LAMBDA {
                const int own = k + j < count ? k + j : count - 1;
                const Entry entry = entries[base + own];
                near |= UInt32(is_near(entry)) << own;
            });
        }
        for (; near != 0; near &= near - 1) {
            visit(entries[base + lowest_bit(near)].triangle);
        }
    }
}

/// What a mesh has in each of the boxes about it.
struct MeshBoxes {
    int columns, rows, layers;
    const int* begin;  // of the entries of each box, x fastest
    const int* state;  // whether a box without triangles is outside (0) or inside (1); 2: it has some
    const BoxEntry* entries;

    LBM_HD explicit MeshBoxes(const int* table)
        : columns(table[3]),
          rows(table[4]),
          layers(table[5]),
          begin(table + table[6]),
          state(begin + count() + 1),
          entries(reinterpret_cast<const BoxEntry*>(table + table[7])) {}

    LBM_HD Index count() const { return Index(columns) * rows * layers; }
    /// The state at a point.
    LBM_HD int at(const double* n, const Point& p) const {
        const double x = (p[0] - n[0]) * n[5], y = (p[1] - n[1]) * n[6], z = (p[2] - n[2]) * n[7];
        if (!(x >= 0 && x < columns && y >= 0 && y < rows && z >= 0 && z < layers)) {
            return 0;
        }
        return state[(Index(int(z)) * rows + int(y)) * columns + int(x)];
    }
};

/// Where its box does not say it, by the triangles that a line from the point down along z crosses: how often it goes
/// in less how often it goes out, or of triangles that are not turned alike whether it crosses an odd number of them.
LBM_HD bool in_mesh(const double* n, const int* table, const Point& p) {
    const int known = MeshBoxes(table).at(n, p);
    if (known != 2) {
        return known != 0;
    }
    const int columns = table[1], rows = table[2];
    const double x = (p[0] - n[0]) * n[3], y = (p[1] - n[1]) * n[4];
    if (!(x >= 0 && x < columns && y >= 0 && y < rows)) {
        return false;
    }
    const int* begin = table + mesh_integers + int(y) * columns + int(x);
    MeshExtent down{};
    for (int d = 0; d < 3; ++d) {
        down.high[d] = UInt32(bin_of((p[d] - n[d]) * n[8 + d], mesh_parts + 1));
        down.low[d] = d < 2 ? down.high[d] : 0U;
    }
    const auto may_touch = [&](const MeshEntry& entry) LBM_INLINE_LAMBDA { return down.may_touch(entry); };
    const auto* entries = reinterpret_cast<const MeshEntry*>(table + table[8]);
    int winding = 0, crossed = 0;
    for_near(entries, begin[0], begin[1], may_touch, [&](int triangle) LBM_INLINE_LAMBDA {
        const double* a = n + mesh_numbers + Index(9) * triangle;
        const double* b = a + 3;
        const double* c = a + 6;
        const bool left = left_of_edge(a, b, p);
        if (left_of_edge(b, c, p) != left || left_of_edge(c, a, p) != left) {
            return;
        }
        const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        const double nx = e[1] * f[2] - e[2] * f[1], ny = e[2] * f[0] - e[0] * f[2], nz = e[0] * f[1] - e[1] * f[0];
        const double height = nx * (p[0] - a[0]) + ny * (p[1] - a[1]) + nz * (p[2] - a[2]);
        if ((height > 0) == (nz > 0)) {
            winding += left ? 1 : -1;
            crossed += 1;
        }
    });
    return table[0] != 0 ? winding != 0 : (crossed & 1) != 0;
}

/// Brings a point of the body's frame to that of a part, whose numbers behind the placement it returns.
LBM_HD const double* to_part(const Shape& shape, const ShapePart& part, const Point& p, Point& own) {
    const double* n = shape.numbers + part.first;
    const bool is_placed = part.is_placed != 0;
    for (int d = 0; d < 3; ++d) {
        own[d] = is_placed ? n[d] * (p[0] - n[9]) + n[3 + d] * (p[1] - n[10]) + n[6 + d] * (p[2] - n[11]) : p[d];
    }
    return is_placed ? n + 12 : n;
}

LBM_HD bool in_part(const Shape& shape, const ShapePart& part, const Point& p) {
    const int* table = shape.table + part.table;
    Point own;
    const double* n = to_part(shape, part, p, own);
    switch (part.kind) {
        case ShapeKind::Sphere: return squared_distance(n, own) <= n[3];
        case ShapeKind::Cylinder: return in_cylinder(n, own);
        case ShapeKind::Box: return in_box(n, own);
        case ShapeKind::Plane: return behind_plane(n, own);
        case ShapeKind::Polygon: return in_polygon(n, table, own);
        case ShapeKind::Mesh: return in_mesh(n, table, own);
        default: return false;
    }
}

}  // namespace shape

/// Whether a point of the body's frame is in the shape.
LBM_HD bool is_inside(const Shape& shape, const shape::Point& p) {
    unsigned found = 0;  // a bit for each region that is not joined yet, the last one lowest
    for (int k = 0; k < shape.count; ++k) {
        const ShapePart& part = shape.parts[k];
        const unsigned last = found & 1U, before = (found >> 1) & 1U, others = (found >> 2) << 1;
        switch (part.kind) {
            case ShapeKind::Union: found = others | before | last; break;
            case ShapeKind::Intersection: found = others | (before & last); break;
            case ShapeKind::Difference: found = others | (before & (1U - last)); break;
            default: found = found << 1 | (shape::in_part(shape, part, p) ? 1U : 0U);
        }
    }
    return (found & 1U) != 0;
}

/// The same as 1 or 0, or 2 where only a search among triangles can tell.
LBM_HD int known_inside(const Shape& shape, const shape::Point& p) {
    const ShapePart& first = shape.parts[0];
    if (shape.count > 1 || first.kind != ShapeKind::Mesh) {
        return is_inside(shape, p) ? 1 : 0;
    }
    shape::Point own;
    const double* n = shape::to_part(shape, first, p, own);
    return shape::MeshBoxes(shape.table + first.table).at(n, own);
}

}  // namespace lbm::backend
