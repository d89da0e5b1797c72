// Where the line from a cell outside a body to one inside goes in. Of a body of one region that is the first crossing
// of its surface, found by the surface's equation; of several regions it is found by halving. Sums, products, quotients
// and square roots of doubles alone decide, which all devices round alike.
#pragma once

#include "../lattice/arithmetic.h"
#include "moving_shape.h"

namespace lbm::backend {

namespace shape {

/// A line in the frame of a part: it begins outside, and its end, at `from` + `along`, is inside.
struct Line {
    Point from, along;
};

/// What the functions below return, as any number outside [0, 1], if rounding leaves no crossing.
constexpr double no_crossing = -1;

/// Where a coordinate comes between two ends; 0 if it begins there.
LBM_HD double into_interval(double from, double along, double low, double high) {
    return from < low ? (low - from) / along : from > high ? (high - from) / along : 0.0;
}

/// The lower root of a t^2 - 2 b t + c, of a positive c. It has no difference of nearly equal numbers.
LBM_HD double lower_root(double a, double b, double c) {
    const double squared = b * b - a * c;
    const double sum = b + square_root(squared > 0 ? squared : 0.0);
    return sum > 0 ? c / sum : no_crossing;
}

LBM_HD double into_sphere(const double* n, const Line& line) {
    double a = 0, b = 0, c = -n[3];
    const double x[3] = {line.from[0] - n[0], line.from[1] - n[1], line.from[2] - n[2]};
    for (int d = 0; d < 3; ++d) {
        a += line.along[d] * line.along[d];
        b -= line.along[d] * x[d];
        c += x[d] * x[d];
    }
    return lower_root(a, b, c);
}

/// The later one of where it comes between the ends and where it comes near enough to the axis.
LBM_HD double into_cylinder(const double* n, const Line& line) {
    const double x[3] = {line.from[0] - n[0], line.from[1] - n[1], line.from[2] - n[2]};
    double a = 0, b = 0, c = -n[6], height = 0, rise = 0;
    for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        const double away = x[e] * n[3 + g] - x[g] * n[3 + e];
        const double change = line.along[e] * n[3 + g] - line.along[g] * n[3 + e];
        a += change * change;
        b -= change * away;
        c += away * away;
        height += x[d] * n[3 + d];
        rise += line.along[d] * n[3 + d];
    }
    const double between = into_interval(height, rise, -n[7], n[7]);
    if (!(c > 0)) {
        return between;
    }
    const double near = lower_root(a, b, c);
    return near >= 0 && between > near ? between : near;
}

/// The last one of where the coordinates come between their ends.
LBM_HD double into_box(const double* n, const Line& line) {
    double last = 0;
    for (int d = 0; d < 3; ++d) {
        const double own = into_interval(line.from[d], line.along[d], n[d], n[3 + d]);
        last = own > last ? own : last;
    }
    return last;
}

LBM_HD double into_plane(const double* n, const Line& line) {
    double height = 0, fall = 0;
    for (int d = 0; d < 3; ++d) {
        height += (line.from[d] - n[d]) * n[3 + d];
        fall -= line.along[d] * n[3 + d];
    }
    return height / fall;
}

/// The bins that a coordinate passes through, of at least one.
struct BinRange {
    int first, last;

    LBM_HD BinRange(double from, double along, double lowest, double inverse, int bins) {
        const double to = from + along;
        first = bin_of(((along < 0 ? to : from) - lowest) * inverse, bins);
        last = bin_of(((along < 0 ? from : to) - lowest) * inverse, bins);
    }
};

/// Of a prism it is where the line comes between the ends if it is inside the polygon from there on, and so crosses no
/// edge or an even number of them. Else it is the first edge after that.
LBM_HD double into_polygon(const double* n, const int* table, const Line& line) {
    const double u = coordinate(line.from, table[0]), along_u = coordinate(line.along, table[0]);
    const double v = coordinate(line.from, table[1]), along_v = coordinate(line.along, table[1]);
    const double begin = into_interval(coordinate(line.from, table[2]), coordinate(line.along, table[2]), n[0], n[1]);
    const int bins = table[3];
    const int* first = table + 4;
    const int* edges = first + bins + 1;
    const BinRange passed(v, along_v, n[2], n[3], bins);
    double nearest = 1;
    bool is_odd = false;
    for (int k = passed.first; k <= passed.last; ++k) {
        for (int e = first[k]; e < first[k + 1]; ++e) {
            const double* edge = n + 4 + Index(4) * edges[e];
            const double a[2] = {edge[0] - u, edge[1] - v}, b[2] = {edge[2] - u, edge[3] - v};
            const double side_a = along_u * a[1] - along_v * a[0], side_b = along_u * b[1] - along_v * b[0];
            // An edge of several bins counts in the first of them; a corner has the same side for both of its edges.
            const bool is_new = k == passed.first || bin_of((edge[1] - n[2]) * n[3], bins) >= k;
            if (is_new && (side_a >= 0) != (side_b >= 0)) {
                const double at = (a[0] * b[1] - a[1] * b[0]) / (side_b - side_a);
                if (at >= begin && at <= 1) {
                    is_odd = !is_odd;
                    nearest = at < nearest ? at : nearest;
                }
            }
        }
    }
    return is_odd ? nearest : begin > 0 ? begin : no_crossing;
}

/// Six times the volume that a vector has with two others; exactly the opposite one if these are exchanged.
LBM_HD double triple_product(const Point& d, const Point& a, const Point& b) {
    return d[0] * (a[1] * b[2] - a[2] * b[1]) + d[1] * (a[2] * b[0] - a[0] * b[2]) + d[2] * (a[0] * b[1] - a[1] * b[0]);
}

/// Where a line crosses a triangle. Its edges belong to it, so that no line passes between two triangles.
LBM_HD double across_triangle(const double* corners, const Line& line) {
    Point a, b, c;  // seen from where the line begins
    bool is_aside = false;
    for (int d = 0; d < 3; ++d) {
        const double step = line.along[d], low = step < 0 ? step : 0.0, high = step < 0 ? 0.0 : step;
        a[d] = corners[d] - line.from[d];
        b[d] = corners[3 + d] - line.from[d];
        c[d] = corners[6 + d] - line.from[d];
        // Without a branch, so that a GPU asks for all corners at once.
        const bool is_below = (a[d] < low) & (b[d] < low) & (c[d] < low);
        const bool is_above = (a[d] > high) & (b[d] > high) & (c[d] > high);
        is_aside = is_aside | is_below | is_above;
    }
    if (is_aside) {
        return no_crossing;
    }
    const double ab = triple_product(line.along, a, b), bc = triple_product(line.along, b, c);
    const double ca = triple_product(line.along, c, a);
    if (!((ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0))) {
        return no_crossing;
    }
    const Point e = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double rise = triple_product(line.along, e, f);  // 0 in the triangle's plane
    return rise != 0 ? triple_product(a, e, f) / rise : no_crossing;
}

/// Tells which triangles a line may cross: those that it may touch, and whose plane it may cross.
struct NearLine {
    MeshExtent extent;
    float from[3], to[3];  // seen from the mesh's lowest corner
    float exact;           // the distance that planes are exact to

    LBM_HD NearLine(const double* n, const Line& line) : exact(float(n[11])) {
        for (int d = 0; d < 3; ++d) {
            const BinRange own(line.from[d], line.along[d], n[d], n[8 + d], mesh_parts + 1);
            extent.low[d] = UInt32(own.first);
            extent.high[d] = UInt32(own.last);
            from[d] = float(line.from[d] - n[d]);
            to[d] = float(line.from[d] + line.along[d] - n[d]);
        }
    }

    LBM_HD bool operator()(const BoxEntry& entry) const {
        float plane[4];
        for (int d = 0; d < 4; ++d) {
            plane[d] = __builtin_bit_cast(float, entry.plane[d]);
        }
        const float begin = plane[0] * from[0] + plane[1] * from[1] + plane[2] * from[2] - plane[3];
        const float end = plane[0] * to[0] + plane[1] * to[1] + plane[2] * to[2] - plane[3];
        const bool is_above = (begin > exact) & (end > exact), is_below = (begin < -exact) & (end < -exact);
        return extent.may_touch(entry) & !(is_above | is_below);
    }
};

/// The first triangle that the line crosses, of those that are in the boxes about it.
LBM_HD double into_mesh(const double* n, const int* table, const Line& line) {
    const MeshBoxes boxes(table);
    const BinRange x(line.from[0], line.along[0], n[0], n[5], boxes.columns);
    const BinRange y(line.from[1], line.along[1], n[1], n[6], boxes.rows);
    const BinRange z(line.from[2], line.along[2], n[2], n[7], boxes.layers);
    const NearLine near(n, line);
    double nearest = 2;
    for (int layer = z.first; layer <= z.last; ++layer) {
        for (int row = y.first; row <= y.last; ++row) {
            // The boxes of a row follow each other.
            const int* of_row = boxes.begin + (Index(layer) * boxes.rows + row) * boxes.columns;
            for_near(boxes.entries, of_row[x.first], of_row[x.last + 1], near, [&](int triangle) LBM_INLINE_LAMBDA {
                const double at = across_triangle(n + mesh_numbers + Index(9) * triangle, line);
                nearest = at >= 0 && at < nearest ? at : nearest;
            });
        }
    }
    return nearest;
}

/// Where the line between two points of the body's frame goes into a region.
LBM_HD double into_part(const Shape& shape, const ShapePart& part, const Point& from, const Point& to) {
    const int* table = shape.table + part.table;
    Line line;
    const double* n = to_part(shape, part, from, line.from);
    to_part(shape, part, to, line.along);
    for (int d = 0; d < 3; ++d) {
        line.along[d] -= line.from[d];
    }
    switch (part.kind) {
        case ShapeKind::Sphere: return into_sphere(n, line);
        case ShapeKind::Cylinder: return into_cylinder(n, line);
        case ShapeKind::Box: return into_box(n, line);
        case ShapeKind::Plane: return into_plane(n, line);
        case ShapeKind::Polygon: return into_polygon(n, table, line);
        case ShapeKind::Mesh: return into_mesh(n, table, line);
        default: return no_crossing;
    }
}

}  // namespace shape

/// The same of any shape by halving, which asks no more than is_inside(), to 2^-23 of the line.
LBM_HD double halved(const Shape& shape, const shape::Point& from, const shape::Point& to) {
    double outside = 0, inside = 1;
    for (int k = 0; k < 22; ++k) {
        const double middle = 0.5 * (outside + inside);
        const double p[3] = {from[0] + middle * (to[0] - from[0]), from[1] + middle * (to[1] - from[1]),
                             from[2] + middle * (to[2] - from[2])};
        const bool is_in = is_inside(shape, p);
        inside = is_in ? middle : inside;
        outside = is_in ? outside : middle;
    }
    return 0.5 * (outside + inside);
}

/// Where the line from a point outside to one inside goes in, as a fraction of it. Halving also finds what rounding has
/// kept from the equations: a crossing at an end of the line.
LBM_HD double cut(const Shape& shape, const shape::Point& from, const shape::Point& to) {
    if (shape.count == 1) {
        const double at = shape::into_part(shape, shape.parts[0], from, to);
        if (at >= 0 && at <= 1) {
            return at;
        }
    }
    return halved(shape, from, to);
}

}  // namespace lbm::backend
