// Fits a plane to the cuts of links, and a temperature without normal derivative on it to fluid cells.
#include "adiabatic_wall.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lbm::engine {

namespace {

constexpr double least_spread = 0.01;    // variance of the points, in cells squared, along each direction of the plane
constexpr double most_uneven = 0.05;     // variance across the plane over the least along it
constexpr double least_slope = 1e-6;     // of a link towards the normal of the plane; below it rounding tells its sign
constexpr double deepest = -0.25;        // of the solid neighbour; below 0 it lies before the plane
constexpr double least_pivot = 1e-3;     // what is left of a column that others do not explain
constexpr double largest_weights = 6.0;  // sum of magnitudes; one weight of 1 is that of a half-way wall
constexpr int most_coefficients = 7;     // in three dimensions: a, two of b, three of C, d

double dot(const Place& a, const Place& b) { return a.at[0] * b.at[0] + a.at[1] * b.at[1] + a.at[2] * b.at[2]; }
Place sum(const Place& a, double factor, const Place& b) {
    return {{a.at[0] + factor * b.at[0], a.at[1] + factor * b.at[1], a.at[2] + factor * b.at[2]}};
}
double weight(const Place& a, const Place& b) {
    const Place apart = sum(a, -1, b);
    const double root = 1 + dot(apart, apart);
    return 1 / (root * root);
}

/// The eigenvalues and eigenvectors, by columns, of the symmetric matrix `m` of D rows, by Jacobi's rotations.
void diagonalize(int D, double (&m)[3][3], double (&vectors)[3][3]) {
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            vectors[a][b] = a == b ? 1 : 0;
        }
    }
    constexpr int sweeps = 12;  // rotations converge quadratically
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int p = 0; p < D; ++p) {
            for (int r = p + 1; r < D; ++r) {
                if (m[p][r] == 0) {
                    continue;
                }
                const double theta = (m[r][r] - m[p][p]) / (2 * m[p][r]);
                const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
                const double cosine = 1 / std::sqrt(t * t + 1), sine = t * cosine;
                for (int k = 0; k < D; ++k) {
                    const double kp = m[k][p], kr = m[k][r];
                    m[k][p] = cosine * kp - sine * kr;
                    m[k][r] = sine * kp + cosine * kr;
                }
                for (int k = 0; k < D; ++k) {
                    const double pk = m[p][k], rk = m[r][k];
                    m[p][k] = cosine * pk - sine * rk;
                    m[r][k] = sine * pk + cosine * rk;
                }
                for (int k = 0; k < D; ++k) {
                    const double kp = vectors[k][p], kr = vectors[k][r];
                    vectors[k][p] = cosine * kp - sine * kr;
                    vectors[k][r] = sine * kp + cosine * kr;
                }
            }
        }
    }
}

struct Plane {
    Place point, normal;
};

/// The plane through some points, which weigh more near `center`.
std::optional<Plane> plane_through(int D, const std::vector<Place>& points, const Place& center) {
    Plane plane{};
    double all = 0;
    for (const Place& point : points) {
        const double w = weight(point, center);
        all += w;
        plane.point = sum(plane.point, w, point);
    }
    if (all == 0) {
        return {};
    }
    for (double& x : plane.point.at) {
        x /= all;
    }
    double spread[3][3] = {}, vectors[3][3];
    for (const Place& point : points) {
        const Place apart = sum(point, -1, plane.point);
        const double w = weight(point, center) / all;
        for (int a = 0; a < D; ++a) {
            for (int b = 0; b < D; ++b) {
                spread[a][b] += w * apart.at[a] * apart.at[b];
            }
        }
    }
    diagonalize(D, spread, vectors);
    int across = 0;
    for (int a = 1; a < D; ++a) {
        across = spread[a][a] < spread[across][across] ? a : across;
    }
    double least = HUGE_VAL;
    for (int a = 0; a < D; ++a) {
        least = a == across ? least : std::min(least, spread[a][a]);
    }
    if (!(least >= least_spread) || spread[across][across] > most_uneven * least) {
        return {};
    }
    for (int a = 0; a < D; ++a) {
        plane.normal.at[a] = vectors[a][across];
    }
    return plane;
}

/// Two vectors along the plane, of which only the first counts in two dimensions.
void along(int D, const Place& normal, Place (&tangents)[2]) {
    int axis = 0;
    for (int a = 1; a < D; ++a) {
        axis = std::abs(normal.at[a]) < std::abs(normal.at[axis]) ? a : axis;
    }
    Place first{};
    first.at[axis] = 1;
    first = sum(first, -normal.at[axis], normal);
    const double length = std::sqrt(dot(first, first));
    for (double& x : first.at) {
        x /= length;
    }
    const auto& n = normal.at;
    const auto& t = first.at;
    tangents[0] = first;
    tangents[1] = {{n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]}};
}

/// The normal equations of a fit, whose first coefficient is wanted.
class Fit {
public:
    explicit Fit(int size) : size_(size) {}

    void add(const double (&row)[most_coefficients], double w) {
        for (int a = 0; a < size_; ++a) {
            for (int b = 0; b <= a; ++b) {
                matrix_[a][b] += w * row[a] * row[b];
            }
        }
    }

    /// The numbers whose product with a row of the fit, times its weight, is that of its value in the first
    /// coefficient. Returns false where the rows do not give all coefficients. By Cholesky's decomposition.
    bool solve(double (&found)[most_coefficients]) {
        double root[most_coefficients][most_coefficients] = {};
        for (int a = 0; a < size_; ++a) {
            for (int b = 0; b <= a; ++b) {
                double left = matrix_[a][b];
                for (int k = 0; k < b; ++k) {
                    left -= root[a][k] * root[b][k];
                }
                if (a != b) {
                    root[a][b] = left / root[b][b];
                } else if (left > least_pivot * matrix_[a][a]) {
                    root[a][a] = std::sqrt(left);
                } else {
                    return false;
                }
            }
        }
        for (int a = 0; a < size_; ++a) {
            found[a] = a == 0 ? 1 : 0;
            for (int k = 0; k < a; ++k) {
                found[a] -= root[a][k] * found[k];
            }
            found[a] /= root[a][a];
        }
        for (int a = size_ - 1; a >= 0; --a) {
            for (int k = a + 1; k < size_; ++k) {
                found[a] -= root[k][a] * found[k];
            }
            found[a] /= root[a][a];
        }
        return true;
    }

private:
    int size_;
    double matrix_[most_coefficients][most_coefficients] = {};
};

}  // namespace

std::vector<double> weights_behind_adiabatic_wall(int D, const int* c, double q, const std::vector<Place>& cuts,
                                                  const std::vector<Place>& cells) {
    const Place solid{{double(c[0]), double(c[1]), double(c[2])}};
    std::optional<Plane> plane = plane_through(D, cuts, sum({}, q, solid));
    if (!plane || std::abs(dot(plane->normal, solid)) < least_slope) {
        return {};
    }
    const Place normal = dot(plane->normal, solid) > 0 ? plane->normal : sum({}, -1, plane->normal);
    const double depth = dot(normal, sum(solid, -1, plane->point));
    const int size = D == 2 ? 4 : most_coefficients;
    if (depth < deepest || int(cells.size()) < size) {
        return {};
    }
    const Place mirror = sum(solid, -2 * depth, normal);
    Place tangents[2];
    along(D, normal, tangents);
    const auto fill = [&](const Place& cell, double(&row)[most_coefficients]) {
        const Place apart = sum(cell, -1, solid);
        const double s = dot(apart, tangents[0]), z = dot(sum(cell, -1, plane->point), normal);
        const double bend = z * z - depth * depth;
        if (D == 2) {
            const double all[] = {1, s, s * s, bend};
            std::copy(all, all + 4, row);
        } else {
            const double t = dot(apart, tangents[1]);
            const double all[] = {1, s, t, s * s, s * t, t * t, bend};
            std::copy(all, all + most_coefficients, row);
        }
    };
    Fit fit(size);
    double row[most_coefficients] = {}, found[most_coefficients] = {};
    for (const Place& cell : cells) {
        fill(cell, row);
        fit.add(row, weight(cell, mirror));
    }
    if (!fit.solve(found)) {
        return {};
    }
    std::vector<double> weights;
    double magnitudes = 0;
    for (const Place& cell : cells) {
        fill(cell, row);
        double product = 0;
        for (int a = 0; a < size; ++a) {
            product += row[a] * found[a];
        }
        weights.push_back(weight(cell, mirror) * product);
        magnitudes += std::abs(weights.back());
    }
    return magnitudes <= largest_weights ? weights : std::vector<double>{};
}

}  // namespace lbm::engine
