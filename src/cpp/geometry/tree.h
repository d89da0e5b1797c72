// A tree of boxes over the triangles of a surface, for what single points and rays ask.
#pragma once

#include <cstdint>
#include <vector>

#include "lines.h"

namespace lbm::geometry {

/// A tree of boxes; each node has two children next to each other, or a few triangles.
class Tree {
public:
    explicit Tree(const Surface& surface);

    /// Calls body(triangle) for the triangles of all leaves whose boxes, and those above, `meets` is true of.
    template <class Meets, class Body>
    void visit(Meets&& meets, Body&& body) const {
        if (nodes_.empty()) {
            return;
        }
        std::int32_t waiting[max_depth];
        int count = 0;
        waiting[count++] = 0;
        while (count > 0) {
            const Node& node = nodes_[std::size_t(waiting[--count])];
            if (!meets(node.box)) {
                continue;
            }
            if (node.count == 0) {
                waiting[count++] = node.first + 1;
                waiting[count++] = node.first;
            }
            for (std::int32_t k = node.first; k < node.first + node.count; ++k) {
                body(order_[std::size_t(k)]);
            }
        }
    }

    /// The winding number of the surface about p: the solid angle that it fills seen from there, over 4 pi. A node that
    /// is farther than `beta` times its radius is taken as a dipole (Barill et al., ACM Trans. Graph. 37 (2018) 43).
    double winding_number(const Vec& p, double beta) const;

    /// Whether p is inside by its winding number: it is above 1/2 in magnitude.
    bool is_wound_about(const Vec& p) const;

private:
    static constexpr int max_depth = 128;

    struct Node {
        Bounds box;
        Vec area{{0, 0, 0}};    ///< The sum of the triangles' area vectors.
        Vec centre{{0, 0, 0}};  ///< The mean of their centroids by area.
        double radius = 0;      ///< Of a ball about the centre with all of them.
        std::int32_t first = 0, count = 0;
    };

    void build(std::int32_t node, std::int32_t begin, std::int32_t end, int depth);
    void sum(Node& node, std::int32_t begin, std::int32_t end) const;

    const Surface& surface_;
    std::vector<std::int32_t> order_;
    std::vector<Vec> centroids_;
    std::vector<Node> nodes_;
};

/// The solid angle of a triangle seen from p, over 4 pi; positive where p is behind it (Van Oosterom & Strackee, IEEE
/// Trans. Biomed. Eng. 30 (1983) 125, eq. 8).
double solid_angle(const Vec& p, const Vec& a, const Vec& b, const Vec& c);

}  // namespace lbm::geometry
