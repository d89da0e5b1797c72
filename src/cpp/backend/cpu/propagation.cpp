// Propagation on the CPU in layouts of memory, row by row where a layout keeps rows.
#include <algorithm>

#include "../propagation_run.h"
#include "buffer.h"
#include "cpu_block.h"
#include "threads.h"

namespace lbm::cpu {
namespace {

using backend::PropagationBox;

template <class S, class Layout, class T>
void propagate_row(const T* from, T* to, const PropagationBox& box, int y, int z) {
    const T* in[S::Q];
    T* out[S::Q];
    static_for<S::Q>([&]<int i>() {
        in[i] = from + Layout::template offset<S::Q>(box, box.row(y - S::c[i][1], z - S::c[i][2]), 0, i);
        out[i] = to + Layout::template offset<S::Q>(box, box.row(y, z), 0, i);
    });
    if constexpr (Layout::keeps_rows) {
        static_for<S::Q>([&]<int i>() {
            constexpr int cx = S::c[i][0];
            const int first = std::max(0, cx), last = box.nx + std::min(0, cx);
            std::copy(in[i] + (first - cx), in[i] + (last - cx), out[i] + first);
            std::copy(in[i] + (box.nx - first), in[i] + box.nx, out[i]);  // behind the faces the row comes back
            std::copy(in[i], in[i] + (box.nx - last), out[i] + last);
        });
    } else {
        const auto copy = [&](int first, int last, auto upstream) {
            for (int x = first; x < last; ++x) {
                static_for<S::Q>(
                    [&]<int i>() { out[i][Index(x) * S::Q] = in[i][Index(upstream(x - S::c[i][0])) * S::Q]; });
            }
        };
        const auto behind_faces = [&](int x) { return Address::wrapped(x, box.nx); };
        const int first = std::min(S::radius, box.nx), last = std::max(first, box.nx - S::radius);
        copy(0, first, behind_faces);
        copy(first, last, [](int x) { return x; });
        copy(last, box.nx, behind_faces);
    }
}

/// The two lattices of a box in this machine's memory.
template <class S, class Layout, class T>
class Lattices {
public:
    Lattices(const PropagationBox& box, int threads)
        : box_(box),
          threads_(threads),
          from_(std::size_t(box.cells()) * S::Q * sizeof(T)),
          to_(std::size_t(box.cells()) * S::Q * sizeof(T)) {}

    void step() {
        parallel_shares(threads_, box_.rows(), [&](Index first, Index last) {
            for (Index row = first; row < last; ++row) {
                propagate_row<S, Layout>(from_.template as<T>(), to_.template as<T>(), box_, int(row % box_.ny),
                                         int(row / box_.ny));
            }
        });
        std::swap(from_, to_);
    }
    void wait() const {}
    void set(const std::vector<T>& numbers) { std::copy(numbers.begin(), numbers.end(), from_.template as<T>()); }
    std::vector<T> get() const { return {from_.template as<T>(), from_.template as<T>() + box_.cells() * S::Q}; }

private:
    PropagationBox box_;
    int threads_;
    Buffer from_, to_;
};

}  // namespace

double propagation_seconds(const backend::PropagationKind& kind, const PropagationBox& box, int threads,
                           double seconds) {
    double found = 0;
    backend::with_propagation(kind, [&]<class S, class Layout, class T>() {
        found = backend::mean_seconds<S, Layout, T>(
            box, seconds, [&](const PropagationBox& of) { return Lattices<S, Layout, T>(of, threads); });
    });
    return found;
}

}  // namespace lbm::cpu
