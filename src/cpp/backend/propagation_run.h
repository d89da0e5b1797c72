// How a device times propagation: the check of one step, and the repeats.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "propagation_time.h"

namespace lbm::backend {

/// Calls visitor.operator()<S, Layout, T>() with the types of a kind.
template <class Visitor>
void with_propagation(const PropagationKind& kind, Visitor&& visitor) {
    with_stencil(kind.stencil, [&](auto stencil) {
        with_type<MemoryLayouts>(kind.layout, [&](auto layout) {
            with_stored(kind.number, [&](auto number) {
                visitor.template operator()<decltype(stencil), typename decltype(layout)::type, decltype(number)>();
            });
        });
    });
}

/// Throws std::runtime_error unless a step in a small box brings each population to where it belongs. `make(box)`
/// makes the lattices of a box, see mean_seconds().
template <class S, class Layout, class T, class Make>
void check_propagation(const Make& make) {
    const PropagationBox box{16, 8, S::D == 3 ? 8 : 1};
    const auto number = [&](Index row, int x, int i) { return T((row * box.nx + x) * S::Q + i); };
    const auto for_all = [&](auto&& visit) {
        for (int z = 0; z < box.nz; ++z) {
            for (int y = 0; y < box.ny; ++y) {
                for (int x = 0; x < box.nx; ++x) {
                    for (int i = 0; i < S::Q; ++i) {
                        visit(x, y, z, i, Layout::template offset<S::Q>(box, box.row(y, z), x, i));
                    }
                }
            }
        }
    };
    std::vector<T> numbers(std::size_t(box.cells()) * S::Q);
    for_all([&](int x, int y, int z, int i, Index at) { numbers[std::size_t(at)] = number(box.row(y, z), x, i); });
    auto lattices = make(box);
    lattices.set(numbers);
    lattices.step();
    const std::vector<T> found = lattices.get();
    for_all([&](int x, int y, int z, int i, Index at) {
        const Index row = box.row(y - S::c[i][1], z - S::c[i][2]);
        if (found[std::size_t(at)] != number(row, Address::wrapped(x - S::c[i][0], box.nx), i)) {
            throw std::runtime_error(std::string("propagation in the layout ") + Layout::name + " of " + S::name +
                                     ": a population came from a wrong place");
        }
    });
}

/// The seconds of a step in a box, the mean of as many as take `seconds`. The lattices that `make` makes have step(),
/// which need not wait for the step, wait(), and set() and get() for the numbers of the lattice that is read next.
template <class S, class Layout, class T, class Make>
double mean_seconds(const PropagationBox& box, double seconds, const Make& make) {
    using Clock = std::chrono::steady_clock;
    check_propagation<S, Layout, T>(make);
    auto lattices = make(box);
    for (int k = 0; k < 2; ++k) {  // both lattices are written then, before which a system may have no memory for them
        lattices.step();
    }
    lattices.wait();
    const auto start = Clock::now();
    double passed = 0;
    long long steps = 0;
    do {
        for (int k = 0; k < 4; ++k) {
            lattices.step();
        }
        lattices.wait();
        steps += 4;
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    } while (passed < seconds);
    return passed / double(steps);
}

}  // namespace lbm::backend
