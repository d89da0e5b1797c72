// The access of a GPU thread to its cells in an interior that is trimmed in x: cells from some x to before another one,
// both within the row and multiples of the thread's cells.
//
// The cells before and after those of a warp are in the lattice. A warp reads there what enters its cells, and writes
// there what leaves them, number by number: the neighbours may be cells of another warp, of another thread block, or of
// the kernel for the ends of the rows, which runs at the same time.
#pragma once

#include "row_cells.h"

namespace lbm::cuda {

/// `Base` is the RowCells with whole packs, of rows that several thread blocks share.
template <class S, class Stored, int V, class Base, class Arguments>
class InnerCells : public Base {
public:
    __device__ InnerCells(const Arguments& arguments, int x, int y, int z, bool inside)
        : Base(arguments, x, y, z, inside && x < arguments.end_x),
          first_(this->lane() == 0),
          last_(this->lane() == 31 || x + V >= arguments.end_x) {}

    __device__ void fetch(typename Base::Shared& shared) {
        if constexpr (V == 1 || !Base::template moves_before<1>) {
            Base::fetch(shared);
            return;
        } else {
            static_for<S::Q>([&]<int i>() {
                this->h_[i] = *reinterpret_cast<const typename Base::Vector*>(this->template from<i>(0));
            });
            Stored low[Base::through_x_face]{}, high[Base::through_x_face]{};
            if (this->inside_ && first_) {
                this->template fetch_beyond<1>(low);
            }
            if (this->inside_ && last_) {
                this->template fetch_beyond<-1>(high);
            }
            static_for<S::Q>([&]<int i>() {
                if constexpr (S::c[i][0] > 0) {
                    this->h_[i].shift_up(first_, low[Base::template rank<i>]);
                } else if constexpr (S::c[i][0] < 0) {
                    this->h_[i].shift_down(last_, high[Base::template rank<i>]);
                }
            });
        }
    }

    __device__ void put(typename Base::Shared& shared) {
        if constexpr (V == 1 || !Base::template moves_after<1>) {
            Base::put(shared);
            return;
        } else {
            static_for<S::Q>([&]<int i>() { put_shifted<i>(); });
        }
    }

private:
    /// Stores population i in the cells to which it moves: a vector to the thread's own cells, but for those numbers
    /// that the neighbours of a warp write.
    template <int i>
    __device__ void put_shifted() {
        auto& h = this->h_[i];
        constexpr int c = S::c[i][0];
        constexpr int entering = c > 0 ? 0 : V - 1, leaving = V - 1 - entering;
        const bool at_edge =
            c > 0 ? first_ : c < 0 && last_;  // a number enters the thread's cells from beyond the warp
        if constexpr (c != 0) {
            if (this->inside_ && (c > 0 ? last_ : first_)) {
                *this->template to<i>(c > 0 ? V : -1) = h.template get<leaving>();
            }
            if constexpr (c > 0) {
                h.shift_up(first_, Stored{});
            } else {
                h.shift_down(last_, Stored{});
            }
        }
        if (this->inside_ && !at_edge) {
            *reinterpret_cast<typename Base::Vector*>(this->template to<i>(0)) = h;
        } else if (this->inside_) {
            static_for<V>([&]<int l>() {
                if constexpr (l != entering) {
                    *this->template to<i>(l) = h.template get<l>();
                }
            });
        }
    }

    const bool first_, last_;  // of the threads of a warp that have cells
};

}  // namespace lbm::cuda
