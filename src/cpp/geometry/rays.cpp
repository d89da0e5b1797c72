// Where rays meet the triangles of a surface.
#include "rays.h"

namespace lbm::geometry {
namespace {

/// A ray with its axes renamed, so that the last is its longest, and sheared along it.
struct Sheared {
    explicit Sheared(const Vec& step) {
        for (int k = 1; k < 3; ++k) {
            if (std::abs(step[k]) > std::abs(step[z])) {
                z = k;
            }
        }
        x = (z + 1) % 3, y = (z + 2) % 3;
        shear_x = step[x] / step[z], shear_y = step[y] / step[z], per_z = 1 / step[z];
    }

    int x, y, z = 0;
    double shear_x, shear_y, per_z;
};

bool overlaps(const Bounds& box, const Bounds& other) {
    for (int k = 0; k < 3; ++k) {
        if (box.high[k] < other.low[k] || other.high[k] < box.low[k]) {
            return false;
        }
    }
    return true;
}

}  // namespace

void find_meetings(const Surface& surface, const Tree& tree, const Vec& p, const Vec& step, double margin,
                   std::vector<double>& found) {
    if (dot(step, step) == 0) {
        return;
    }
    const Sheared ray(step);
    Bounds swept;
    swept.add(p - margin * step);
    swept.add(p + (1 + margin) * step);
    for (int k = 0; k < 3; ++k) {  // what is found by rounding only is in it too
        swept.low[k] -= margin;
        swept.high[k] += margin;
    }
    tree.visit([&](const Bounds& box) { return overlaps(box, swept); },
               [&](std::int32_t triangle) {
                   double u[3], v[3], w[3];
                   for (int k = 0; k < 3; ++k) {
                       const Vec a = surface.corner(triangle, k) - p;
                       u[k] = a[ray.x] - ray.shear_x * a[ray.z];
                       v[k] = a[ray.y] - ray.shear_y * a[ray.z];
                       w[k] = ray.per_z * a[ray.z];
                   }
                   const double a = u[2] * v[1] - v[2] * u[1], b = u[0] * v[2] - v[0] * u[2],
                                c = u[1] * v[0] - v[1] * u[0];
                   const double sum = a + b + c;
                   if (((a < 0 || b < 0 || c < 0) && (a > 0 || b > 0 || c > 0)) || sum == 0) {
                       return;
                   }
                   const double t = (a * w[0] + b * w[1] + c * w[2]) / sum;
                   if (t >= -margin && t <= 1 + margin) {
                       found.push_back(t);
                   }
               });
}

bool is_near(const Surface& surface, const Tree& tree, const Vec& p, double distance) {
    const auto is_near_box = [&](const Bounds& box) {
        double squared = 0;
        for (int k = 0; k < 3; ++k) {
            const double beyond = std::max({box.low[k] - p[k], p[k] - box.high[k], 0.0});
            squared += beyond * beyond;
        }
        return squared <= distance * distance;
    };
    bool found = false;
    tree.visit([&](const Bounds& box) { return !found && is_near_box(box); },
               [&](std::int32_t triangle) {
                   Bounds box;
                   for (int k = 0; k < 3; ++k) {
                       box.add(surface.corner(triangle, k));
                   }
                   found = found || is_near_box(box);
               });
    return found;
}

}  // namespace lbm::geometry
