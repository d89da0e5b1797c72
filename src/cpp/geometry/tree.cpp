// A tree of boxes over the triangles of a surface.
#include "tree.h"

#include <numbers>
#include <numeric>

namespace lbm::geometry {
namespace {

constexpr std::int32_t leaf_triangles = 8;

}  // namespace

double solid_angle(const Vec& p, const Vec& a, const Vec& b, const Vec& c) {
    const Vec u = a - p, v = b - p, w = c - p;
    const double lu = length(u), lv = length(v), lw = length(w);
    const double volume = dot(u, cross(v, w));
    const double across = lu * lv * lw + dot(u, v) * lw + dot(v, w) * lu + dot(w, u) * lv;
    return std::atan2(volume, across) / (2 * std::numbers::pi);
}

Tree::Tree(const Surface& surface) : surface_(surface) {
    const std::size_t count = surface.mesh().triangles.size();
    if (count == 0) {
        return;
    }
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    centroids_.reserve(count);
    for (std::int32_t t = 0; t < std::int32_t(count); ++t) {
        centroids_.push_back((1.0 / 3) * (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2)));
    }
    nodes_.reserve(2 * count / leaf_triangles + 2);
    nodes_.emplace_back();
    build(0, 0, std::int32_t(count), 1);
}

void Tree::build(std::int32_t node, std::int32_t begin, std::int32_t end, int depth) {
    Node made;
    sum(made, begin, end);
    if (end - begin <= leaf_triangles || depth >= max_depth / 2) {
        made.first = begin;
        made.count = end - begin;
        nodes_[std::size_t(node)] = made;
        return;
    }
    Bounds of_centroids;
    for (std::int32_t k = begin; k < end; ++k) {
        of_centroids.add(centroids_[std::size_t(order_[std::size_t(k)])]);
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k) {
        if (of_centroids.high[k] - of_centroids.low[k] > of_centroids.high[axis] - of_centroids.low[axis]) {
            axis = k;
        }
    }
    const std::int32_t middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](std::int32_t a, std::int32_t b) {
                         const double x = centroids_[std::size_t(a)][axis], y = centroids_[std::size_t(b)][axis];
                         return x != y ? x < y : a < b;
                     });
    made.first = std::int32_t(nodes_.size());
    nodes_[std::size_t(node)] = made;
    nodes_.emplace_back();
    nodes_.emplace_back();
    build(made.first, begin, middle, depth + 1);
    build(made.first + 1, middle, end, depth + 1);
}

void Tree::sum(Node& node, std::int32_t begin, std::int32_t end) const {
    double total = 0;
    for (std::int32_t k = begin; k < end; ++k) {
        const std::int32_t t = order_[std::size_t(k)];
        const Vec &a = surface_.corner(t, 0), &b = surface_.corner(t, 1), &c = surface_.corner(t, 2);
        const Vec area = 0.5 * cross(b - a, c - a);
        const double size = length(area);
        node.box.add(a), node.box.add(b), node.box.add(c);
        node.area = node.area + area;
        node.centre = node.centre + size * centroids_[std::size_t(t)];
        total += size;
    }
    node.centre = total > 0 ? (1 / total) * node.centre : 0.5 * (node.box.low + node.box.high);
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
        const double side = std::max(node.box.high[k] - node.centre[k], node.centre[k] - node.box.low[k]);
        squared += side * side;
    }
    node.radius = std::sqrt(squared);
}

double Tree::winding_number(const Vec& p, double beta) const {
    double total = 0;
    std::int32_t waiting[max_depth];
    int count = 0;
    if (!nodes_.empty()) {
        waiting[count++] = 0;
    }
    while (count > 0) {
        const Node& node = nodes_[std::size_t(waiting[--count])];
        const Vec to = node.centre - p;
        const double distance = length(to);
        if (distance > beta * node.radius) {
            total += dot(node.area, to) / (4 * std::numbers::pi * distance * distance * distance);
        } else if (node.count == 0) {
            waiting[count++] = node.first + 1;
            waiting[count++] = node.first;
        } else {
            for (std::int32_t k = node.first; k < node.first + node.count; ++k) {
                const std::int32_t t = order_[std::size_t(k)];
                total += solid_angle(p, surface_.corner(t, 0), surface_.corner(t, 1), surface_.corner(t, 2));
            }
        }
    }
    return total;
}

bool Tree::is_wound_about(const Vec& p) const {
    // A flat sheet has 1/2 right before it, and must stay outside whatever the dipoles leave out.
    constexpr double coarse = 2, fine = 8, in_doubt = 0.1, limit = 0.5 + 1e-3;
    const double found = std::abs(winding_number(p, coarse));
    if (std::abs(found - limit) > in_doubt) {
        return found > limit;
    }
    return std::abs(winding_number(p, fine)) > limit;
}

}  // namespace lbm::geometry
