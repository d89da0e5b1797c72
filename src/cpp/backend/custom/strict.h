// What a user's text may use and has to have, asked by the compilers for CPUs and for GPUs in the same way, so that
// both take the same texts. Included before the text, in which no standard header is.
#pragma once

#include "../../lattice/collisions/all.h"
#include "../../lattice/parameters.h"
#include "../../lattice/stencils/all.h"
#include "padded.h"

namespace lbm {

/// What `std` is for a text: nothing. For CPUs headers of the kernels bring parts of it, for GPUs none do.
namespace std {}

// The last digits of most of these differ between processors, and GPUs have the others as functions of floats alone.
// The templates hide those of the compilers; a text's own functions of these names come before them.
#define LBM_LEFT_OUT(name)          \
    template <class... Numbers>     \
    void name(Numbers...) = delete; \
    template <class... Numbers>     \
    void name##f(Numbers...) = delete;
LBM_LEFT_OUT(pow)
LBM_LEFT_OUT(exp)
LBM_LEFT_OUT(exp2)
LBM_LEFT_OUT(exp10)
LBM_LEFT_OUT(expm1)
LBM_LEFT_OUT(log)
LBM_LEFT_OUT(log2)
LBM_LEFT_OUT(log10)
LBM_LEFT_OUT(log1p)
LBM_LEFT_OUT(sin)
LBM_LEFT_OUT(cos)
LBM_LEFT_OUT(tan)
LBM_LEFT_OUT(asin)
LBM_LEFT_OUT(acos)
LBM_LEFT_OUT(atan)
LBM_LEFT_OUT(atan2)
LBM_LEFT_OUT(sinh)
LBM_LEFT_OUT(cosh)
LBM_LEFT_OUT(tanh)
LBM_LEFT_OUT(asinh)
LBM_LEFT_OUT(acosh)
LBM_LEFT_OUT(atanh)
LBM_LEFT_OUT(cbrt)
LBM_LEFT_OUT(rcbrt)
LBM_LEFT_OUT(hypot)
LBM_LEFT_OUT(sqrt)
LBM_LEFT_OUT(rsqrt)
LBM_LEFT_OUT(fma)
LBM_LEFT_OUT(fmod)
LBM_LEFT_OUT(remainder)
LBM_LEFT_OUT(erf)
LBM_LEFT_OUT(erfc)
LBM_LEFT_OUT(tgamma)
LBM_LEFT_OUT(lgamma)
LBM_LEFT_OUT(abs)
LBM_LEFT_OUT(fabs)
LBM_LEFT_OUT(min)
LBM_LEFT_OUT(max)
LBM_LEFT_OUT(fmin)
LBM_LEFT_OUT(fmax)
LBM_LEFT_OUT(floor)
LBM_LEFT_OUT(ceil)
LBM_LEFT_OUT(trunc)
LBM_LEFT_OUT(round)
LBM_LEFT_OUT(rint)
#undef LBM_LEFT_OUT

/// A number of the arithmetic type, Scalar<V>, that mixes with nothing that would be computed in another type on a CPU
/// than on a GPU, such as a double. Only compiled, never computed with.
class StrictNumber {
public:
    StrictNumber() = default;
    LBM_HD constexpr StrictNumber(double value) : value_{value} {}
    template <class Number>
    LBM_HD constexpr explicit operator Number() const {
        return Number(value_[0]);
    }

    LBM_HD friend constexpr StrictNumber operator+(StrictNumber a, StrictNumber) { return a; }
    LBM_HD friend constexpr StrictNumber operator-(StrictNumber a, StrictNumber) { return a; }
    LBM_HD friend constexpr StrictNumber operator*(StrictNumber a, StrictNumber) { return a; }
    LBM_HD friend constexpr StrictNumber operator/(StrictNumber a, StrictNumber) { return a; }
    LBM_HD friend constexpr StrictNumber operator+(StrictNumber a) { return a; }
    LBM_HD friend constexpr StrictNumber operator-(StrictNumber a) { return a; }
    LBM_HD friend constexpr bool operator==(StrictNumber a, StrictNumber b) { return a.value_[0] == b.value_[0]; }
    LBM_HD friend constexpr bool operator!=(StrictNumber a, StrictNumber b) { return a.value_[0] != b.value_[0]; }
    LBM_HD friend constexpr bool operator<(StrictNumber a, StrictNumber b) { return a.value_[0] < b.value_[0]; }
    LBM_HD friend constexpr bool operator>(StrictNumber a, StrictNumber b) { return a.value_[0] > b.value_[0]; }
    LBM_HD friend constexpr bool operator<=(StrictNumber a, StrictNumber b) { return a.value_[0] <= b.value_[0]; }
    LBM_HD friend constexpr bool operator>=(StrictNumber a, StrictNumber b) { return a.value_[0] >= b.value_[0]; }
    LBM_HD constexpr StrictNumber& operator+=(StrictNumber) { return *this; }
    LBM_HD constexpr StrictNumber& operator-=(StrictNumber) { return *this; }
    LBM_HD constexpr StrictNumber& operator*=(StrictNumber) { return *this; }
    LBM_HD constexpr StrictNumber& operator/=(StrictNumber) { return *this; }
    LBM_HD friend StrictNumber square_root(StrictNumber a) { return a; }

private:
    double value_[3] = {};  // of a size that no number has, by which members of another type are found
};

/// A number of a cell, V: on a CPU a pack of several cells' numbers, which have + - * / and square_root in common.
class StrictCells {
public:
    using Scalar = StrictNumber;

    LBM_HD friend StrictCells operator+(StrictCells a, StrictCells) { return a; }
    LBM_HD friend StrictCells operator-(StrictCells a, StrictCells) { return a; }
    LBM_HD friend StrictCells operator*(StrictCells a, StrictCells) { return a; }
    LBM_HD friend StrictCells operator/(StrictCells a, StrictCells) { return a; }
    LBM_HD friend StrictCells operator+(StrictCells a, StrictNumber) { return a; }
    LBM_HD friend StrictCells operator-(StrictCells a, StrictNumber) { return a; }
    LBM_HD friend StrictCells operator*(StrictCells a, StrictNumber) { return a; }
    LBM_HD friend StrictCells operator/(StrictCells a, StrictNumber) { return a; }
    LBM_HD friend StrictCells operator+(StrictNumber, StrictCells a) { return a; }
    LBM_HD friend StrictCells operator-(StrictNumber, StrictCells a) { return a; }
    LBM_HD friend StrictCells operator*(StrictNumber, StrictCells a) { return a; }
    LBM_HD friend StrictCells operator/(StrictNumber, StrictCells a) { return a; }
    LBM_HD friend StrictCells operator-(StrictCells a) { return a; }
    LBM_HD friend StrictCells square_root(StrictCells a) { return a; }

private:
    StrictNumber value_;
};

template <>
struct ScalarOf<StrictNumber> {
    using type = StrictNumber;
};

template <class T>
concept Floating = IsSame<T, float>::value || IsSame<T, double>::value;
template <class T>
concept Strict = IsSame<T, StrictNumber>::value || IsSame<T, StrictCells>::value;

// Of a double and a float the result is a double on a GPU, where a pack of a CPU makes it a float; both are written as
// Scalar<V>(0.1), or Real(0.1).
template <Floating A, Strict B>
void operator+(A, B) = delete;
template <Floating A, Strict B>
void operator-(A, B) = delete;
template <Floating A, Strict B>
void operator*(A, B) = delete;
template <Floating A, Strict B>
void operator/(A, B) = delete;
template <Strict A, Floating B>
void operator+(A, B) = delete;
template <Strict A, Floating B>
void operator-(A, B) = delete;
template <Strict A, Floating B>
void operator*(A, B) = delete;
template <Strict A, Floating B>
void operator/(A, B) = delete;

}  // namespace lbm

namespace lbm::custom {

template <class C>
concept NotOfTheEngine = position_in<Collisions, C> < 0;

template <class C>
concept HasName = requires {
    static_cast<const char*>(C::name);
};

template <class C>
concept HasStencils = requires {
    bool(C::template goes_with<D2Q9>);
    bool(C::template goes_with<D3Q19>);
    bool(C::template goes_with<D3Q27>);
};

template <class C>
concept HasParameters = requires {
    typename C::template Parameters<double>;
};

template <class C>
concept BeginsWithRelaxation = HasParameters<C> && requires(typename C::template Parameters<double> p) {
    static_cast<const double&>(p.omega);
    static_cast<const double&>(p.smagorinsky_factor);
};

/// Whether all members of the parameters follow the type of numbers: one that does not changes the size for three types
/// of different sizes in different ways.
template <class C>
constexpr bool holds_only_reals() {
    using P = typename C::template Parameters<double>;
    constexpr unsigned long numbers = number_count<P>;
    return sizeof(P) == numbers * sizeof(double) &&
           sizeof(typename C::template Parameters<float>) == numbers * sizeof(float) &&
           sizeof(typename C::template Parameters<StrictNumber>) == numbers * sizeof(StrictNumber);
}

template <class C>
concept HoldsOnlyReals = BeginsWithRelaxation<C> && holds_only_reals<C>();

template <class C>
concept HoldsFewNumbers = HoldsOnlyReals<C> && number_count<typename C::template Parameters<double>> < most_numbers;

/// The first stencil that a collision goes with.
template <HasStencils C>
constexpr auto first_stencil() {
    if constexpr (C::template goes_with<D2Q9>) {
        return Type<D2Q9>{};
    } else if constexpr (C::template goes_with<D3Q19>) {
        return Type<D3Q19>{};
    } else if constexpr (C::template goes_with<D3Q27>) {
        return Type<D3Q27>{};
    } else {
        return Type<void>{};
    }
}

template <class C>
using StencilOf = typename decltype(first_stencil<C>())::type;

template <class C>
concept GoesWithAStencil = HasStencils<C> && !IsSame<StencilOf<C>, void>::value;

template <class C>
concept MakesParameters = HoldsFewNumbers<C> && GoesWithAStencil<C> && requires(const Given& given) {
    static_cast<typename C::template Parameters<double>>(C::template parameters<StencilOf<C>>(given));
};

template <class C>
using StrictParameters = Laminar<Padded<typename C::template Parameters<StrictNumber>>>;

template <class C>
concept Relaxes =
    HoldsFewNumbers<C> && GoesWithAStencil<C> && is_linear<C, StencilOf<C>, StrictCells, StrictParameters<C>>;

template <class C>
concept Collides = HoldsFewNumbers<C> && GoesWithAStencil<C> &&
    requires(StrictCells (&h)[StencilOf<C>::Q], const PairSums<StencilOf<C>, StrictCells>& sums,
             const Moments<StencilOf<C>, StrictCells>& moments, const StrictParameters<C>& parameters) {
    C::template collide<StencilOf<C>>(h, sums, moments, true, parameters, NoCoupling{});
};

/// All that kernels ask of a collision; what is missing of it messages() of collision.h say.
template <class C>
concept Whole = NotOfTheEngine<C> && HasName<C> && MakesParameters<C> &&(Relaxes<C> || Collides<C>);

/// A cell's collision, whatever its numbers are.
template <class S, class C, class V, class Parameters, class Coupling>
LBM_HD void collide_once(V* f, const Parameters& parameters, const Coupling& coupling) {
    V h[S::Q], force[S::D];
    for (int i = 0; i < S::Q; ++i) {
        h[i] = f[i];
    }
    for (int d = 0; d < S::D; ++d) {
        force[d] = f[d];
    }
    const PairSums<S, V> sums = pair_sums<S>(h);
    const Moments<S, V> moments = compute_moments<S>(h[0], sums, force, true, Scalar<V>(1), Scalar<V>(1));
    collide<S, C>(h, sums, moments, true, parameters, coupling);
    for (int i = 0; i < S::Q; ++i) {
        f[i] = h[i];
    }
}

/// Compiles the collision with strict numbers where its type is asked for, into no code.
template <class S, class C>
LBM_HD auto collide_strictly(StrictCells* f) {
    collide_once<S, C>(f, StrictParameters<C>{}, NoCoupling{});
    return 0;
}

}  // namespace lbm::custom
