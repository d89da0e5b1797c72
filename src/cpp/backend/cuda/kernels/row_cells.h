// The access of a GPU thread to its cells: V neighbours in a row, loaded and stored as vectors.
//
// If a phase moves populations along x, a thread needs one value of each from the next thread. It gets it by a warp
// shuffle; between the warps of a thread block through shared memory, or by reading the lattice again if waiting for
// the other warps costs more; at the ends of the cells of a thread block from the lattice; and at the ends of a row
// from the x-face buffers, unless x is a self-periodic axis. Threads beyond the end of a row compute numbers that
// nothing reads.
#pragma once

#include "../../row_end_columns.h"
#include "arguments.h"
#include "factor_clock.h"
#include "pack.h"
#include "prefetch.h"

namespace lbm::cuda {

/// V cells of a row. Bits 0, 1, 2 of `self_periodic` say whether x, y, z are self-periodic axes. With `whole_packs` the
/// length of a row is a multiple of V. With `end_sums` the sums of the cells at the ends of a row are stored;
/// `row_ends` says what there are columns of (row_end_columns.h). `pitch` is the number of elements from a population
/// to the next one, which saves the computation of most addresses; with 0 it is in the arguments.
template <class S, class Real, class Stored, int V, int self_periodic, Phase phase, Forcing forcing, bool end_sums,
          int row_ends, int threads, RowSpan span, bool whole_packs, int pitch, class Arguments>
class RowCells {
public:
    /// The populations that enter the cells of each warp of a thread block from the neighbouring cells.
    struct Edges {
        Stored low[threads / 32][Stencil<S>::through_x_face];   // from lower x, into the warp's first cell
        Stored high[threads / 32][Stencil<S>::through_x_face];  // from higher x, into the last cell of warp or row
    };
    struct Shared {
        Edges incoming, outgoing;
    };

    /// Takes the cells x .. x + V - 1 of row (y, z). The threads of a block along x are in one row, in the order of x.
    /// `inside` is false for a thread beyond the last row.
    __device__ RowCells(const Arguments& arguments, int x, int y, int z, bool inside)
        : a_(arguments),
          x_(x),
          y_(y),
          z_(z),
          inside_(inside && x < a_.address.nx),
          starts_row_(inside_ && x == 0),
          ends_row_(inside_ && x + V >= a_.address.nx) {
        const Index own = a_.address.row(y, z, 0) + (inside_ ? x : 0);
        source_ = reinterpret_cast<const char*>(static_cast<const Stored*>(a_.source) + own);
        target_ = reinterpret_cast<char*>(static_cast<Stored*>(a_.target) + own);
        const Index rows = a_.address.row_stride * Index(sizeof(Stored));
        const Index layers = rows * (a_.address.ny + 2 * a_.address.halo_y);
        const bool around_y = (self_periodic & 2) != 0, around_z = (self_periodic & 4) != 0;
        up_[0] = !around_y || y + 1 < a_.address.ny ? rows : -rows * (a_.address.ny - 1);
        down_[0] = !around_y || y > 0 ? -rows : rows * (a_.address.ny - 1);
        up_[1] = !around_z || z + 1 < a_.address.nz ? layers : -layers * (a_.address.nz - 1);
        down_[1] = !around_z || z > 0 ? -layers : layers * (a_.address.nz - 1);
    }

    /// Loads the incoming populations of all V cells, whose latency is waited for once. Every thread must call it.
    __device__ void fetch(Shared& shared) {
        if constexpr (scales_force) {
            force_factor_ = a_.scaled_force.clock->force[a_.scaled_force.turn];
        }
        static_for<S::Q>([&]<int i>() {
            if constexpr (V == 1 && moves_before<i>) {
                h_[i].template set<0>(*beyond<i>());
            } else {
                h_[i] = *reinterpret_cast<const Vector*>(from<i>(0));
            }
        });
        [[maybe_unused]] ReplacedCell<0> first_replaced;
        [[maybe_unused]] ReplacedCell<1> last_replaced;
        if constexpr (row_ends != 0) {
            first_replaced.fetch(*this, starts_row_);
            last_replaced.fetch(*this, ends_row_);
        }
        if constexpr (V > 1 && moves_before<1>) {
            fetch_shifted(shared.incoming);
        } else if constexpr (!self_periodic_x && !moves_before<1>) {
            Stored low[through_x_face]{}, high[through_x_face]{};
            if (starts_row_) {
                fetch_beyond<1>(low);
            }
            if (ends_row_) {
                fetch_beyond<-1>(high);
            }
            if (starts_row_) {
                for_moving<1>([&]<int i>() { h_[i].template set<0>(low[rank<i>]); });
            }
            if (ends_row_) {
                for_moving<-1>([&]<int i>() { set_last_of_row<i>(high[rank<i>]); });
            }
        }
        if constexpr (row_ends != 0) {
            first_replaced.put(*this);
            last_replaced.put(*this);
        }
        if constexpr (scales_force) {
            set_force_of_update_after(a_.scaled_force);
        }
    }

    /// Asks for the populations of the cells of another row, `bytes` ahead of this one.
    __device__ void prefetch_ahead(Index bytes) const {
        static_for<S::Q>([&]<int i>() { prefetch(reinterpret_cast<const char*>(from<i>(0)) + bytes); });
    }
    __device__ void prefetch_row_ahead(Index bytes) const {  // for that whole row, with the other threads of this one
        const int length = S::Q * int(pitch > 0 ? pitch : a_.address.population_stride) * int(sizeof(Stored));
        const char* row = source_ - (inside_ ? x_ : 0) * int(sizeof(Stored)) + bytes;
        prefetch_lines(row, length, x_ / V, (a_.address.nx + V - 1) / V);
    }

    /// Stores the post-collision populations of all V cells; every thread of the block must call it.
    __device__ void put(Shared& shared) {
        if constexpr (!self_periodic_x) {
            put_sides();
        }
        if constexpr (end_sums) {
            put_end_sums();
        }
        if constexpr (V == 1 || !moves_after<1>) {
            static_for<S::Q>([&]<int i>() {
                constexpr int shift = moves_after<i> ? S::c[i][0] : 0;
                const bool leaves = shift < 0 ? starts_row_ : shift > 0 && ends_row_;
                if (inside_ && !leaves) {
                    *reinterpret_cast<Vector*>(to<i>(shift)) = h_[i];
                } else if (inside_ && self_periodic_x) {
                    *to<i>(shift < 0 ? a_.address.nx - 1 : -x_) = h_[i].template get<0>();
                }
            });
        } else {
            put_shifted(shared.outgoing);
        }
    }

    /// Rotates the cells by n: cell n becomes the first.
    template <int n>
    __device__ void rotate() {
        static_for<S::Q>([&]<int i>() { h_[i].template rotate<n>(); });
        rotated_ += n;
    }

    /// One of the V cells, as the argument of update_cell.
    template <int l>
    struct Lane {
        using Value = Real;
        static constexpr Real unit = storage_unit<Stored>;
        RowCells& cells;

        __device__ void load(Real (&h)[S::Q]) const {
            static_for<S::Q>([&]<int i>() { h[i] = units_from_storage<Real>(cells.h_[i].template get<l>()); });
        }
        __device__ bool force(Real (&force)[S::D]) const {
            static_for<S::D>([&]<int d>() { force[d] = cells.template force_on<l>(d); });
            return forcing != Forcing::None;
        }
        __device__ Real compressibility() const { return cells.a_.compressibility; }
        __device__ void store(const Real (&h)[S::Q]) const {
            static_for<S::Q>([&]<int i>() { cells.h_[i].template set<l>(Store<Stored>::from_units(h[i])); });
            if constexpr (row_ends != 0) {
                cells.template keep_at_ends<l>(h);
            }
        }
    };

private:
    using Vector = Pack<Stored, V>;
    static constexpr int through_x_face = Stencil<S>::through_x_face;
    using Columns = backend::RowEndColumns<S, Real, Stored>;
    template <int face>
    static constexpr backend::RowEnd end = backend::row_end(row_ends, face);

    static constexpr bool scales_force = forcing == Forcing::ScaledUniform || forcing == Forcing::ScaledField;
    static constexpr bool self_periodic_x = (self_periodic & 1) != 0;
    static constexpr bool whole_rows = span != RowSpan::Several;
    static constexpr bool closes_rows = self_periodic_x && whole_rows;  // a row's ends are neighbours within the block

    /// Whether loading or storing population i moves it along x.
    template <int i>
    static constexpr bool moves_before = S::c[i][0] != 0 && incoming_slot<S>(phase, i).shift != 0;
    template <int i>
    static constexpr bool moves_after = S::c[i][0] != 0 && outgoing_slot<S>(phase, i).shift != 0;
    template <int i>
    static constexpr int rank = Stencil<S>::rank_through_x_face(i);

    /// The slot from which population i of cell x + shift is loaded, or to which it is stored, without the shift of
    /// population i along x.
    template <int i>
    __device__ const Stored* from(int shift) const {
        constexpr NeighborSlot place = incoming_slot<S>(phase, i);
        return reinterpret_cast<const Stored*>(
                   source_ + (rows_to<i, place.shift>() + bytes_to<place.slot>(a_.incoming_offset[i]))) +
               shift;
    }
    template <int i>
    __device__ Stored* to(int shift) const {
        constexpr NeighborSlot place = outgoing_slot<S>(phase, i);
        return reinterpret_cast<Stored*>(target_ +
                                         (rows_to<i, place.shift>() + bytes_to<place.slot>(a_.outgoing_offset[i]))) +
               shift;
    }
    /// Bytes to a slot of the same cell. The table of the arguments also has the way to the rows of other cells, but
    /// for those along self-periodic axes.
    template <int slot>
    __device__ static constexpr Index bytes_to(const Index& given) {
        return pitch > 0 ? slot * Index(pitch) * Index(sizeof(Stored)) : given;
    }
    /// Bytes to the row of the cell at x + shift c_i, without what bytes_to() has.
    template <int i, int shift>
    __device__ Index rows_to() const {
        constexpr int dy = S::c[i][1] * shift, dz = S::c[i][2] * shift;
        const Index y = (pitch == 0 && (self_periodic & 2) == 0) || dy == 0 ? 0 : dy > 0 ? up_[0] : down_[0];
        const Index z = (pitch == 0 && (self_periodic & 4) == 0) || dz == 0 ? 0 : dz > 0 ? up_[1] : down_[1];
        return y + z;
    }

    __device__ static bool first_of_block() { return threadIdx.x == 0; }
    __device__ static bool last_of_block() { return threadIdx.x == blockDim.x - 1; }
    __device__ static int lane() { return int(threadIdx.x & 31U); }
    __device__ static int warp() { return int((threadIdx.y * blockDim.x + threadIdx.x) / 32); }
    /// Calls visit<i>() for the populations that move in this direction along x.
    template <int direction, class Visit>
    __device__ static void for_moving(Visit&& visit) {
        static_for<S::Q>([&]<int i>() {
            if constexpr (S::c[i][0] == direction) {
                visit.template operator()<i>();
            }
        });
    }

    /// The slot of population i, which moves along x, in the cell before or after the thread's cells: in the lattice,
    /// or in the x-face buffers at the end of a row that is not self-periodic.
    template <int i>
    __device__ const Stored* beyond() const {
        constexpr bool upward = S::c[i][0] > 0;
        const bool is_at_end = upward ? starts_row_ : ends_row_;
        if (self_periodic_x || !is_at_end) {
            return from<i>(upward ? (is_at_end ? a_.address.nx - 1 : -1) : is_at_end ? -x_ : V);
        }
        return static_cast<const Stored*>(a_.source) + a_.address.x_face_in(upward ? 0 : 1, rank<i>, y_, z_);
    }
    template <int direction>
    __device__ void fetch_beyond(Stored (&numbers)[through_x_face]) const {
        for_moving<direction>([&]<int i>() { numbers[rank<i>] = *beyond<i>(); });
    }

    /// Shifts the loaded populations along x, after each thread has loaded the vectors of its own cells. Values that
    /// enter a warp are read from the lattice if a row has only one warp, and in double precision, where waiting for
    /// other warps costs more. Single float16 numbers are expensive to read, so that a self-periodic row of one warp
    /// gets them by shuffles.
    __device__ void fetch_shifted(Edges& edges) {
        if constexpr (span == RowSpan::Warp && self_periodic_x && sizeof(Stored) == sizeof(Half)) {
            shift_warp();
            return;
        }
        if constexpr (span == RowSpan::Warp || sizeof(Real) == sizeof(double)) {
            Stored low[through_x_face]{}, high[through_x_face]{};
            if (inside_ && lane() == 0) {
                fetch_beyond<1>(low);
            }
            if (inside_ && (lane() == 31 || ends_row_)) {
                fetch_beyond<-1>(high);
            }
            shift_up(low);
            shift_down(high);
            return;
        }
        if (inside_ && (starts_row_ ? !closes_rows : !whole_rows && first_of_block())) {
            fetch_beyond<1>(edges.low[warp()]);
        }
        if (inside_ && (ends_row_ ? !closes_rows : !whole_rows && last_of_block())) {
            fetch_beyond<-1>(edges.high[warp()]);
        }
        shift(edges);
    }

    /// Shifts all populations that move along x by one cell, within the thread block.
    __device__ void shift(Edges& edges) {
        if constexpr (span == RowSpan::Warp) {
            shift_warp();
            return;
        }
        const int warps = int(blockDim.x) / 32;
        if (ends_row_ ? closes_rows : inside_ && lane() == 31 && !last_of_block()) {
            Stored* next = edges.low[ends_row_ ? warp() + 1 - warps : warp() + 1];
            for_moving<1>([&]<int i>() { next[rank<i>] = last_of_row<i>(); });
        }
        if (starts_row_ ? closes_rows : inside_ && lane() == 0 && !first_of_block()) {
            Stored* previous = edges.high[starts_row_ ? warp() + warps - 1 : warp() - 1];
            for_moving<-1>([&]<int i>() { previous[rank<i>] = h_[i].template get<0>(); });
        }
        __syncthreads();
        Stored entering[through_x_face]{};
        if (lane() == 0) {
            static_for<through_x_face>([&]<int k>() { entering[k] = edges.low[warp()][k]; });
        }
        shift_up(entering);
        if (lane() == 31 || ends_row_) {
            static_for<through_x_face>([&]<int k>() { entering[k] = edges.high[warp()][k]; });
        }
        shift_down(entering);
    }

    /// The same for a row of one warp; the ends of a self-periodic row are neighbours.
    __device__ void shift_warp() {
        Stored low[through_x_face]{}, high[through_x_face]{};
        if constexpr (self_periodic_x) {
            const int last = (a_.address.nx - 1) / V;
            for_moving<1>([&]<int i>() { low[rank<i>] = from_thread(last_of_row<i>(), last); });
            for_moving<-1>([&]<int i>() { high[rank<i>] = from_thread(h_[i].template get<0>(), 0); });
        }
        shift_up(low);
        shift_down(high);
    }

    /// Shifts populations with c_x = 1 by one cell; `entering` is used at the start of a warp.
    __device__ void shift_up(const Stored (&entering)[through_x_face]) {
        for_moving<1>([&]<int i>() { h_[i].shift_up(lane() == 0, entering[rank<i>]); });
    }
    /// Shifts populations with c_x = -1 by one cell; `entering` is used at the end of a warp or row.
    __device__ void shift_down(const Stored (&entering)[through_x_face]) {
        for_moving<-1>([&]<int i>() {
            h_[i].shift_down(lane() == 31 || (whole_packs && ends_row_), entering[rank<i>]);
            if (!whole_packs && ends_row_) {
                set_last_of_row<i>(entering[rank<i>]);
            }
        });
    }

    template <int i>
    __device__ void set_last_of_row(Stored number) {
        static_for<V>([&]<int l>() {
            if (whole_packs ? l == V - 1 : x_ + l == a_.address.nx - 1) {
                h_[i].template set<l>(number);
            }
        });
    }

    /// Stores the populations that leave through the ends of the row in the x-face buffers.
    __device__ void put_sides() const {
        if (starts_row_) {
            Stored* side = static_cast<Stored*>(a_.target) + a_.address.x_face_out(0, 0, y_, z_, phase_index(phase));
            for_moving<-1>([&]<int i>() { side[rank<i> * a_.address.x_face_stride()] = h_[i].template get<0>(); });
        }
        if (ends_row_) {
            Stored* side = static_cast<Stored*>(a_.target) + a_.address.x_face_out(1, 0, y_, z_, phase_index(phase));
            for_moving<1>([&]<int i>() { side[rank<i> * a_.address.x_face_stride()] = last_of_row<i>(); });
        }
    }

    /// Stores the moments of the cells at the ends of the row, of post-collision populations as rounded for storage.
    __device__ void put_end_sums() const {
        if (starts_row_) {
            put_sums_of(0, [&]<int i>() { return h_[i].template get<0>(); });
        }
        if (ends_row_) {
            put_sums_of(1, [&]<int i>() { return last_of_row<i>(); });
        }
    }
    template <class Numbers>
    __device__ void put_sums_of(int face, Numbers&& numbers) const {
        Real f[S::Q], deviation, momentum[3];
        static_for<S::Q>([&]<int i>() { f[i] = from_storage<Real>(numbers.template operator()<i>()); });
        add_up<S>(f, deviation, momentum);
        a_.end_sums.template put<S::D>(a_.address, face, y_, z_, deviation, momentum);
    }

    /// Stores what is kept of a cell near an end of the row in columns, of post-collision populations as rounded for
    /// storage: while a cell's populations are in registers, it does not matter which of the thread's cells it is.
    template <int l>
    __device__ void keep_at_ends(const Real (&h)[S::Q]) const {
        const int x = x_ + rotated_ + l;
        if (inside_ && x < a_.address.nx) {
            keep_before<0>(x, h);
            keep_before<1>(a_.address.nx - 1 - x, h);
        }
    }
    template <int face>
    __device__ void keep_before(int distance, const Real (&h)[S::Q]) const {
        constexpr int cells = end<face>.cells, depth = end<face>.populations && cells < 2 ? 2 : cells;
        if (distance >= depth) {
            return;
        }
        const Columns columns(a_.end_sums.numbers, a_.address);
        Real f[S::Q];
        static_for<S::Q>([&]<int i>() { f[i] = from_storage<Real>(Store<Stored>::from_units(h[i])); });
        if (cells == depth || distance < cells) {
            Real deviation, momentum[3];
            add_up<S>(f, deviation, momentum);
            columns.put_sums(face, distance, y_, z_, deviation, momentum);
        }
        static_for<S::Q>([&]<int i>() {
            constexpr int outwards = face == 0 ? -S::c[i][0] : S::c[i][0];
            if constexpr (end<face>.populations && outwards >= 0) {
                if (distance == outwards) {
                    columns.population(face, i, y_, z_) = f[i];
                }
            }
        });
    }

    /// The populations that replace those of the cell at an end of the row.
    template <int face, bool any = backend::row_end(row_ends, face).replaced>
    struct ReplacedCell {
        bool is_replaced = false;
        Stored f[S::Q];

        __device__ void fetch(const RowCells& cells, bool is_at_end) {
            if (is_at_end) {
                const Columns columns(cells.a_.end_sums.numbers, cells.a_.address);
                is_replaced = columns.is_replaced(face, cells.y_, cells.z_);
                static_for<S::Q>([&]<int i>() { f[i] = columns.replaced(face, i, cells.y_, cells.z_); });
            }
        }
        __device__ void put(RowCells& cells) const {
            if (is_replaced) {
                static_for<S::Q>([&]<int i>() {
                    if constexpr (face == 0) {
                        cells.h_[i].template set<0>(f[i]);
                    } else {
                        cells.template set_last_of_row<i>(f[i]);
                    }
                });
            }
        }
    };
    template <int face>
    struct ReplacedCell<face, false> {
        __device__ void fetch(const RowCells&, bool) {}
        __device__ void put(RowCells&) const {}
    };

    /// Population i of the row's last cell, which must be one of this thread's.
    template <int i>
    __device__ Stored last_of_row() const {
        Stored number = h_[i].template get<V - 1>();
        static_for<V - 1>([&]<int l>() {
            if (!whole_packs && x_ + l == a_.address.nx - 1) {
                number = h_[i].template get<l>();
            }
        });
        return number;
    }

    /// Stores populations that move along x: each thread writes the vectors of its own cells after the shift, except at
    /// the ends of the cells of a thread block, where another block writes a part of them.
    __device__ void put_shifted(Edges& edges) {
        const bool others_low = !whole_rows && inside_ && (starts_row_ ? self_periodic_x : first_of_block());
        const bool others_high = !whole_rows && inside_ && (ends_row_ ? self_periodic_x : last_of_block());
        if (others_high) {  // into the next block
            for_moving<1>([&]<int i>() { *to<i>(ends_row_ ? -x_ : V) = last_of_row<i>(); });
        }
        if (others_low) {  // into the previous block
            for_moving<-1>([&]<int i>() { *to<i>(starts_row_ ? a_.address.nx - 1 : -1) = h_[i].template get<0>(); });
        }
        shift(edges);
        if (inside_ && !others_low && !others_high) {
            static_for<S::Q>([&]<int i>() { *reinterpret_cast<Vector*>(to<i>(0)) = h_[i]; });
        } else if (inside_) {
            static_for<S::Q>([&]<int i>() {
                static_for<V>([&]<int l>() {
                    const bool ends = ends_row_ ? x_ + l == a_.address.nx - 1 : l == V - 1;
                    const bool others =
                        (S::c[i][0] > 0 && l == 0 && others_low) || (S::c[i][0] < 0 && ends && others_high);
                    if (!others) {
                        *to<i>(l) = h_[i].template get<l>();
                    }
                });
            });
        }
    }

    template <int l>
    __device__ Real force_on(int d) const {
        if constexpr (forcing == Forcing::None) {
            return Real(0);
        } else if constexpr (forcing == Forcing::Uniform) {
            return a_.force[d];
        } else if constexpr (forcing == Forcing::ScaledUniform) {
            return Real(a_.scaled_force.uniform[d] * force_factor_);
        } else {
            const Index at = ((Index(z_) * a_.address.ny + y_) * S::D + d) * a_.force_pitch + x_ + rotated_ + l;
            if constexpr (forcing == Forcing::Field) {
                return inside_ ? a_.force_field[at] : Real(0);
            } else {
                return inside_ ? Real(a_.scaled_force.field[at] * force_factor_) : Real(0);
            }
        }
    }

    const Arguments& a_;
    const int x_, y_, z_;
    const bool inside_, starts_row_, ends_row_;
    const char* source_;
    char* target_;
    Index up_[2], down_[2];  // bytes to the next and previous row in y and z, around the ends of self-periodic axes
    Vector h_[S::Q];
    int rotated_ = 0;          // by how many cells
    double force_factor_ = 1;  // of a scaled force
};

}  // namespace lbm::cuda
