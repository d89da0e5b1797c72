// Initial populations of a prescribed density, velocity and temperature: equilibrium and, on request, the first-order
// non-equilibrium part that the velocity gradients imply.
#pragma once

#include "../lattice/equilibrium.h"
#include "../lattice/multispeed_wall.h"

namespace lbm::backend {

/// Density, velocity and temperature of the cells of a box that contains a block, each a field or, where that is null,
/// uniform.
struct InitialFields {
    const double* density;
    const double* velocity;
    const double* temperature;
    const unsigned char* solid;  // null: no bodies
    const bool* periodic;        // whether the box is periodic along each axis; null: no gradients are wanted
    int corner[3];               // of the block in the box
    int size[3];                 // of the box
    double uniform_density = 1;
    double uniform_velocity[3] = {0, 0, 0};
    double uniform_temperature = 0;  // the multispeed thermal model has no state of 0
};

/// Computes the initial populations of the cells of a block.
template <class S>
struct InitialState {
    InitialFields given;  // in the memory of the device
    double omega;
    double compressibility = 1;  // 0 with the incompressible equilibrium (lattice/inertia.h)

    LBM_HD Index cell(const int (&at)[3]) const {
        return (Index(at[2]) * given.size[1] + at[1]) * given.size[0] + at[0];
    }
    LBM_HD Index cells() const { return Index(given.size[0]) * given.size[1] * given.size[2]; }
    LBM_HD double u(int d, Index at) const {
        return given.velocity == nullptr ? given.uniform_velocity[d] : given.velocity[d * cells() + at];
    }

    /// The temperature of a cell of the block.
    LBM_HD double temperature(int x, int y, int z) const {
        const int place[3] = {given.corner[0] + x, given.corner[1] + y, given.corner[2] + z};
        return temperature_at(cell(place));
    }

    /// Computes the deviations of post-collision populations, such that the velocity read back is the prescribed one.
    LBM_HD void populations(int x, int y, int z, const double* force, double (&h)[S::Q]) const {
        const int place[3] = {given.corner[0] + x, given.corner[1] + y, given.corner[2] + z};
        if constexpr (Stencil<S>::multispeed) {
            weighted<S>(multispeed_equilibrium<S>(gas(cell(place), force)), h);
        } else {
            isothermal_populations(place, force, h);
        }
    }

private:
    LBM_HD double density_at(Index at) const {
        return given.density == nullptr ? given.uniform_density : given.density[at];
    }
    LBM_HD double temperature_at(Index at) const {
        return given.temperature == nullptr ? given.uniform_temperature : given.temperature[at];
    }

    /// Adds the half step of gravity by which post-collision moments differ from the prescribed ones.
    LBM_HD Gas<double> gas(Index at, const double* gravity) const {
        const double half[2] = {0.5 * gravity[0], 0.5 * gravity[1]};
        const double theta = temperature_at(at) / S::cs2 - 1;
        return {density_at(at) - 1,
                {u(0, at) + half[0], u(1, at) + half[1]},
                theta - (half[0] * half[0] + half[1] * half[1]) / (2 * S::cs2)};
    }

    LBM_HD void isothermal_populations(const int (&place)[3], const double* force, double (&h)[S::Q]) const {
        using T = Stencil<S>;
        const Index at = cell(place);
        Moments<S, double> m;
        m.density = inertia_of_density(density_at(at), compressibility);
        m.density_deviation = density_at(at) - 1;
        for (int d = 0; d < S::D; ++d) {
            m.velocity[d] = u(d, at);
            m.momentum[d] = m.density * m.velocity[d];
            m.force[d] = force[d];
        }
        const EquilibriumTerms<S, double> terms = equilibrium_terms(m);
        double strain[3][3] = {};
        if (given.periodic != nullptr && given.velocity != nullptr) {
            gradient(place, strain);
        }
        h[0] = m.density_deviation;
        static_for<T::pairs>([&]<int p>() {
            const double odd_eq = odd_equilibrium<S, p>(terms);
            const double odd = 0.5 * (odd_eq + odd_source<S, p>(m));
            const double even = 0.5 * (even_equilibrium<S, p>(terms, odd_eq) + even_source<S, p>(m, terms)) +
                                (1 - omega) * first_order_part(2 * p + 1, m.density, strain);
            h[2 * p + 1] = even + odd;
            h[2 * p + 2] = even - odd;
            h[0] -= 2 * even;
        });
    }

    /// The first-order non-equilibrium part of a velocity and its opposite, -w tau rho / cs2 Q : grad u (Latt & Chopard
    /// 2006, eq. 7).
    LBM_HD double first_order_part(int i, double rho, const double (&grad)[3][3]) const {
        using T = Stencil<S>;
        double projected = 0;
        for (int a = 0; a < S::D; ++a) {
            for (int b = 0; b < S::D; ++b) {
                projected += (T::component(i, a) * T::component(i, b) - (a == b ? T::cs2 : 0)) * grad[a][b];
            }
        }
        return -T::w(i) * rho / (omega * T::cs2) * projected;
    }

    /// The velocity gradient by central differences, one-sided at the ends of non-periodic axes and next to solid
    /// cells.
    LBM_HD void gradient(const int (&place)[3], double (&grad)[3][3]) const {
        for (int a = 0; a < S::D; ++a) {
            Index side[2];
            int steps = 0;
            for (int k = 0; k < 2; ++k) {
                int at[3] = {place[0], place[1], place[2]};
                at[a] += 2 * k - 1;
                bool inside = at[a] >= 0 && at[a] < given.size[a];
                if (!inside && given.periodic[a]) {
                    at[a] = (at[a] + given.size[a]) % given.size[a];
                    inside = true;
                }
                side[k] = inside ? cell(at) : cell(place);
                if (inside && given.solid != nullptr && given.solid[side[k]] != 0) {
                    side[k] = cell(place);
                    inside = false;
                }
                steps += inside;
            }
            for (int b = 0; b < S::D && steps > 0; ++b) {
                grad[a][b] = (u(b, side[1]) - u(b, side[0])) / steps;
            }
        }
    }
};

}  // namespace lbm::backend
