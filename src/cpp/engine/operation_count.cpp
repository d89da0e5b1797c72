// Carries out updates with numbers that count.
#include "operation_count.h"

#include <stdexcept>

#include "../backend/moment_kind.h"
#include "../lattice/cell_update.h"
#include "../lattice/moment_collision.h"
#include "../lattice/multispeed.h"

namespace lbm::engine {
namespace {

thread_local Operations counted;

/// A number that counts operations in place of carrying them out. Parameters are plain numbers, and what is computed of
/// them alone is the same for all cells and counts for none.
struct Number {
    using Scalar = double;

    friend Number operator+(Number, Number) { return sum(); }
    friend Number operator+(Number, double) { return sum(); }
    friend Number operator+(double, Number) { return sum(); }
    friend Number operator-(Number, Number) { return sum(); }
    friend Number operator-(Number, double) { return sum(); }
    friend Number operator-(double, Number) { return sum(); }
    friend Number operator-(Number number) { return number; }
    friend Number operator*(Number, Number) { return product(); }
    friend Number operator*(Number, double) { return product(); }
    friend Number operator*(double, Number) { return product(); }
    friend Number operator/(Number, Number) { return quotient(); }
    friend Number operator/(Number, double) { return quotient(); }
    friend Number operator/(double, Number) { return quotient(); }
    friend Number square_root(Number) {
        ++counted.roots;
        return {};
    }
    friend Number magnitude(Number number) { return number; }
    friend Number plus_exact_product(Number, Number, double) {
        ++counted.products;
        return sum();
    }

private:
    static Number sum() {
        ++counted.sums;
        return {};
    }
    static Number product() {
        ++counted.products;
        return {};
    }
    static Number quotient() {
        ++counted.quotients;
        return {};
    }
};

/// A cell of no lattice.
template <class S>
struct CountedCell {
    using Value = Number;
    static constexpr double unit = 1;
    bool forced;

    void load(Number (&)[S::Q]) const {}
    bool force(Number (&)[S::D]) const { return forced; }
    double compressibility() const { return 1; }
    void store(const Number (&)[S::Q]) const {}
};

template <class S, class Collision>
void count_populations(const CountedUpdate& update) {
    using Parameters = typename Collision::template Parameters<double>;
    CountedCell<S> cell{update.forced};
    if constexpr (Stencil<S>::multispeed) {
        const Parameters parameters{};
        with_relaxation_times(update.relaxation_times,
                              [&]<RelaxationTimes times>() { update_multispeed_cell<S, times>(cell, parameters); });
    } else {
        update_cell<S, Collision>(cell, Laminar<Parameters>{});
    }
}

/// The same in the order of the sweep over moments (moment_collision.h).
template <class S, class Collision>
void count_moments(bool forced) {
    using Parameters = typename Collision::template Parameters<double>;
    const CellForce<S, Number> force{{}, forced};
    Number h[S::Q];
    populations_of<S, Collision>(StoredMoments<S, Number>{}, force, 1.0, h);
    const LayerSums<S, Number> below = layer_sums<S, 1>(h);
    const TwoLayers<S, Number> two = add_own_layer<S>(below, layer_sums<S, 0>(h));
    collided<S, Collision>(add_layer_above<S>(two, layer_sums<S, -1>(h)), force, 1.0, Laminar<Parameters>{});
}

}  // namespace

Operations operations_of(const CountedUpdate& update) {
    counted = {};
    backend::with_stencil(update.stencil, [&](auto s) {
        backend::with_collision(update.collision, [&](auto collision) {
            using S = decltype(s);
            using Collision = decltype(collision);
            if constexpr (Collision::template goes_with<S>) {
                if (!update.keeps_moments) {
                    return count_populations<S, Collision>(update);
                }
                if constexpr (backend::may_keep_moments<S, Collision>) {
                    return count_moments<S, Collision>(update.forced);
                }
            }
            throw std::invalid_argument("the update of this collision and stencil is none");
        });
    });
    return counted;
}

}  // namespace lbm::engine
