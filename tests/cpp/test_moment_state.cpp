// Tests that a state kept as moments is that of the populations: the same flow after 20 steps from a random state, with
// what the collisions may have, and mass and momentum that do not drift.
#include <cmath>
#include <random>
#include <vector>

#include "../../src/cpp/lattice/cell_update.h"
#include "../../src/cpp/lattice/collisions/recursive_regularized.h"
#include "../../src/cpp/lattice/collisions/regularized.h"
#include "../../src/cpp/lattice/moment_collision.h"
#include "../../src/cpp/lattice/stencils/d2q9.h"
#include "../../src/cpp/lattice/stencils/d3q19.h"
#include "../../src/cpp/lattice/stencils/d3q27.h"
#include "check.h"

namespace {

constexpr int n = 6;  // cells along each axis of the periodic box

struct Case {
    double omega = 1.6, smagorinsky_factor = 0, compressibility = 1;
    bool forced = false, uniform = false;
};

template <class Collision, class Real>
auto parameters_of(const Case& given) {
    typename Collision::template Parameters<Real> p{};
    p.omega = Real(given.omega);
    p.smagorinsky_factor = Real(given.smagorinsky_factor);
    if constexpr (requires { p.hybrid; }) {
        p.hybrid = 1;
    }
    return p;
}

template <class S>
constexpr int cells() {
    return S::D == 3 ? n * n * n : n * n;
}

/// The place of number k of a cell in a list of `count` numbers for each.
std::size_t place(int cell, int count, int k) { return std::size_t(cell) * std::size_t(count) + std::size_t(k); }

/// The cell from which population i comes.
template <class S>
int upstream(int cell, int i) {
    const auto wrapped = [](int at) { return (at + n) % n; };
    const int x = wrapped(cell % n - S::c[i][0]), y = wrapped(cell / n % n - S::c[i][1]);
    const int z = S::D == 3 ? wrapped(cell / (n * n) - S::c[i][2]) : 0;
    return (z * n + y) * n + x;
}

/// A force on each cell, or on all of them.
template <class S>
std::vector<double> forces_of(const Case& given) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> some(-0.003, 0.003);
    std::vector<double> forces(place(cells<S>(), S::D, 0), 0);
    for (std::size_t k = 0; given.forced && k < forces.size(); ++k) {
        forces[k] = given.uniform && k >= S::D ? forces[k - S::D] : some(random);
    }
    return forces;
}

/// A flow with density, velocity and stress of its own in each cell, post-collision.
template <class S>
std::vector<lbm::StoredMoments<S, double>> random_state() {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> some(-1, 1);
    std::vector<lbm::StoredMoments<S, double>> state(std::size_t(cells<S>()));
    for (auto& m : state) {
        m.for_each([&]<int k>(double& number) { number = some(random) * (k == 0 ? 0.05 : k <= S::D ? 0.08 : 0.002); });
    }
    return state;
}

/// Steps of populations, with the collision as it is; from the populations of a state of moments.
template <class S, class Real>
struct PopulationCell {
    using Value = Real;
    static constexpr Real unit = 1;
    const std::vector<Real>& from;
    std::vector<Real>& to;
    const double* given;
    bool forced;
    Real inertia;
    int cell;

    void load(Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            h[i] = from[place(upstream<S>(cell, i), S::Q, i)];
        }
    }
    bool force(Real (&out)[S::D]) const {
        for (int d = 0; d < S::D; ++d) {
            out[d] = Real(given[d]);
        }
        return forced;
    }
    Real compressibility() const { return inertia; }
    void store(const Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            to[place(cell, S::Q, i)] = h[i];
        }
    }
};

template <class S, class Real>
lbm::CellForce<S, Real> force_at(const std::vector<double>& forces, const Case& given, int cell) {
    lbm::CellForce<S, Real> force{{}, given.forced};
    for (int d = 0; d < S::D; ++d) {
        force.of[d] = Real(forces[place(cell, S::D, d)]);
    }
    return force;
}

template <class S, class Collision, class Real>
std::vector<Real> populations_of_all(const std::vector<lbm::StoredMoments<S, Real>>& state,
                                     const std::vector<double>& forces, const Case& given) {
    std::vector<Real> all(state.size() * S::Q);
    for (int cell = 0; cell < cells<S>(); ++cell) {
        Real h[S::Q];
        lbm::populations_of<S, Collision>(state[std::size_t(cell)], force_at<S, Real>(forces, given, cell),
                                          Real(given.compressibility), h);
        std::copy(h, h + S::Q, &all[place(cell, S::Q, 0)]);
    }
    return all;
}

template <class S, class Collision, class Real>
void moment_step(std::vector<lbm::StoredMoments<S, Real>>& state, const std::vector<double>& forces,
                 const Case& given) {
    const auto all = populations_of_all<S, Collision>(state, forces, given);
    const auto parameters = parameters_of<Collision, Real>(given);
    for (int cell = 0; cell < cells<S>(); ++cell) {
        Real h[S::Q];
        for (int i = 0; i < S::Q; ++i) {
            h[i] = all[place(upstream<S>(cell, i), S::Q, i)];
        }
        const auto two = lbm::add_own_layer<S>(lbm::layer_sums<S, 1>(h), lbm::layer_sums<S, 0>(h));
        const auto in = lbm::add_layer_above<S>(two, lbm::layer_sums<S, -1>(h));
        state[std::size_t(cell)] = lbm::collided<S, Collision>(in, force_at<S, Real>(forces, given, cell),
                                                               Real(given.compressibility), parameters);
    }
}

template <class S, class Collision>
void check_case(const Case& given) {
    auto state = random_state<S>();
    const std::vector<double> forces = forces_of<S>(given);
    std::vector<double> f = populations_of_all<S, Collision>(state, forces, given), next(f.size());
    const auto parameters = parameters_of<Collision, double>(given);
    for (int step = 0; step < 20; ++step) {
        for (int cell = 0; cell < cells<S>(); ++cell) {
            PopulationCell<S, double> own{f,   next, &forces[place(cell, S::D, 0)], given.forced, given.compressibility,
                                          cell};
            lbm::update_cell<S, Collision>(own, parameters);
        }
        std::swap(f, next);
        moment_step<S, Collision>(state, forces, given);
    }
    const auto found = populations_of_all<S, Collision>(state, forces, given);
    double difference = 0, norm = 0;
    for (std::size_t k = 0; k < f.size(); ++k) {
        difference = std::max(difference, std::abs(found[k] - f[k]));
        norm = std::max(norm, std::abs(f[k]));
    }
    CHECK(norm > 1e-4 && norm < 1);
    CHECK_CLOSE(difference / norm, 0, 1e-12);
}

template <class S, class Collision>
void check_all_cases() {
    for (const double smagorinsky : {0.0, 18 * 1.4142135623730951 * 0.03}) {
        for (const double compressibility : {1.0, 0.0}) {
            check_case<S, Collision>({1.6, smagorinsky, compressibility, false, false});
            check_case<S, Collision>({1.6, smagorinsky, compressibility, true, false});
            check_case<S, Collision>({1.9, smagorinsky, compressibility, true, true});
        }
    }
}

/// The sums of density deviation and momentum.
template <class S, class Real>
std::vector<double> totals(const std::vector<lbm::StoredMoments<S, Real>>& state) {
    std::vector<double> sums(1 + S::D, 0);
    for (const auto& m : state) {
        sums[0] += m.density_deviation;
        for (int d = 0; d < S::D; ++d) {
            sums[std::size_t(d) + 1] += m.momentum[d];
        }
    }
    return sums;
}

/// Steps in float32, with how much mass and momentum have changed in all, a cell.
template <class S, class Collision>
double drift(std::vector<lbm::StoredMoments<S, float>> state, int steps) {
    const Case given;
    const std::vector<double> none = forces_of<S>(given);
    const std::vector<double> before = totals<S>(state);
    for (int step = 0; step < steps; ++step) {
        moment_step<S, Collision>(state, none, given);
    }
    const std::vector<double> after = totals<S>(state);
    double largest = 0;
    for (std::size_t k = 0; k < after.size(); ++k) {
        largest = std::max(largest, std::abs(after[k] - before[k]) / cells<S>());
    }
    return largest;
}

template <class S, class Collision>
void check_drift() {
    std::vector<lbm::StoredMoments<S, float>> uniform(std::size_t(cells<S>())), mixed;
    for (auto& m : uniform) {
        m.for_each([]<int k>(float& number) { number = k == 0 ? 0.0371F : 0.0F; });
        for (int d = 0; d < S::D; ++d) {
            m.momentum[d] = 0.0613F * float(1 + d);
        }
    }
    for (const auto& m : random_state<S>()) {
        auto copy = m;
        auto& own = mixed.emplace_back();
        double numbers[lbm::moment_count<S>];
        copy.for_each([&]<int k>(double& number) { numbers[k] = number; });
        own.for_each([&]<int k>(float& number) { number = float(numbers[k] + (k == 0 ? 0.1 : 0)); });
    }
    const double of_uniform = drift<S, Collision>(uniform, 3000), of_mixed = drift<S, Collision>(mixed, 3000);
    CHECK(of_uniform < 1e-7);
    CHECK(of_mixed < 6e-7);  // a sixtieth of the last digit of the density a step, of 36 cells
}

template <class S, class Real>
void check_equal(lbm::StoredMoments<S, Real> one, lbm::StoredMoments<S, Real> other) {
    Real numbers[lbm::moment_count<S>];
    one.for_each([&]<int k>(Real number) { numbers[k] = number; });
    other.for_each([&]<int k>(Real number) { CHECK_EQUAL(number, numbers[k]); });
}

/// The image of a cell across `axis` has the images of its populations, and collides to its image.
template <class S, class Collision, class Real, int axis>
void check_image(const Case& given) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> some(-1, 1);
    const auto parameters = parameters_of<Collision, Real>(given);
    for (int trial = 0; trial < 50; ++trial) {
        lbm::CellForce<S, Real> force{{}, given.forced}, force_of_image{{}, given.forced};
        for (int d = 0; d < S::D; ++d) {
            force.of[d] = Real(0.003 * some(random));
            force_of_image.of[d] = d == axis ? -force.of[d] : force.of[d];
        }
        lbm::StoredMoments<S, Real> m;
        m.for_each([&]<int k>(Real& number) { number = Real(some(random) * (k > S::D ? 0.002 : 0.08)); });
        lbm::StoredMoments<S, Real> image = m;
        lbm::mirror<axis>(image);
        Real h[S::Q], of_image[S::Q];
        lbm::populations_of<S, Collision>(m, force, Real(given.compressibility), h);
        lbm::populations_of<S, Collision>(image, force_of_image, Real(given.compressibility), of_image);
        for (int i = 0; i < S::Q; ++i) {
            CHECK_EQUAL(of_image[lbm::Stencil<S>::mirror(i, axis)], h[i]);
        }
        for (int i = 0; i < S::Q; ++i) {
            h[i] = Real(0.01 * some(random));
            of_image[lbm::Stencil<S>::mirror(i, axis)] = h[i];
        }
        const auto collided = [&](const Real(&f)[S::Q], const lbm::CellForce<S, Real>& own) {
            const auto two = lbm::add_own_layer<S>(lbm::layer_sums<S, 1>(f), lbm::layer_sums<S, 0>(f));
            return lbm::collided<S, Collision>(lbm::add_layer_above<S>(two, lbm::layer_sums<S, -1>(f)), own,
                                               Real(given.compressibility), parameters);
        };
        auto expected = collided(h, force);
        lbm::mirror<axis>(expected);
        check_equal<S>(collided(of_image, force_of_image), expected);
    }
}

template <class S, class Collision, class Real>
void check_images() {
    for (const double smagorinsky : {0.0, 0.7}) {
        for (const bool forced : {false, true}) {
            check_image<S, Collision, Real, 0>({1.6, smagorinsky, 1, forced, false});
            if constexpr (S::D == 3) {  // across the last axis the sums of layers come back instead
                check_image<S, Collision, Real, 1>({1.6, smagorinsky, 1, forced, false});
            }
        }
    }
}

}  // namespace

TEST(moment_state_of_an_image_has_the_bits_of_the_cell) {
    check_images<lbm::D2Q9, lbm::Regularized, float>();
    check_images<lbm::D3Q19, lbm::Regularized, float>();
    check_images<lbm::D3Q27, lbm::Regularized, double>();
    check_images<lbm::D2Q9, lbm::RecursiveRegularized, double>();
    check_images<lbm::D3Q19, lbm::RecursiveRegularized, float>();
    check_images<lbm::D3Q27, lbm::RecursiveRegularized, float>();
}

TEST(moment_state_gives_the_flow_of_the_populations) {
    check_all_cases<lbm::D2Q9, lbm::Regularized>();
    check_all_cases<lbm::D3Q19, lbm::Regularized>();
    check_all_cases<lbm::D3Q27, lbm::Regularized>();
    check_all_cases<lbm::D2Q9, lbm::RecursiveRegularized>();
    check_all_cases<lbm::D3Q19, lbm::RecursiveRegularized>();
    check_all_cases<lbm::D3Q27, lbm::RecursiveRegularized>();
}

TEST(moment_state_keeps_mass_and_momentum) {
    check_drift<lbm::D2Q9, lbm::Regularized>();
    check_drift<lbm::D3Q19, lbm::Regularized>();
    check_drift<lbm::D3Q27, lbm::Regularized>();
    check_drift<lbm::D2Q9, lbm::RecursiveRegularized>();
    check_drift<lbm::D3Q19, lbm::RecursiveRegularized>();
    check_drift<lbm::D3Q27, lbm::RecursiveRegularized>();
}
