// The working memory of a sweep over rows of cells whose state is moments (moment_rows.h): rings of populations, sums
// and kept populations of its stages, and what rows and cells of them lie behind walls, are solid, or images.
#pragma once

#include <algorithm>

#include "../../lattice/moment_state.h"
#include "moment_kernels.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;

template <class Real, int W>
class MomentRings {
public:
    static constexpr bool solid = S::D == 3;
    static constexpr int kept_rows = solid ? 3 : 1;

    explicit MomentRings(const MomentArguments& arguments)
        : a_(arguments),
          memory_(S::D, S::Q, end_cell() - first_cell(), a_.steps, a_.end_y - a_.first_y,
                  a_.walls != nullptr && a_.walls->weights != nullptr),
          first_row_(solid ? a_.first_y : 0),
          end_row_(solid ? a_.end_y : 1),
          first_layer_(solid ? a_.first_z : a_.first_y),
          end_layer_(solid ? a_.end_z : a_.end_y),
          has_end_{first_cell() == 0, end_cell() == a_.address.nx},
          wraps_(a_.address.self_periodic[0] && has_end_[0] && has_end_[1]),
          is_part_of_periodic_(a_.address.self_periodic[0] && !wraps_) {
        if (a_.walls != nullptr) {
            const int last = 2 * (S::D - 1), layers = solid ? a_.address.nz : a_.address.ny;
            const int before = a_.walls->cells_to_mirror[last], behind = a_.walls->cells_to_mirror[last + 1];
            first_real_ = before < none ? -before : first_real_;
            end_real_ = behind < none ? layers + behind : end_real_;
            for (int side = 0; side < 2; ++side) {
                is_closed_[side] =
                    has_end_[side] && (a_.walls->cells_to_wall[side] == 0 || a_.walls->cells_to_mirror[side] == 0);
            }
        }
    }

protected:
    template <class Cell>
    struct Range {
        const Cell *first, *end;
    };
    static constexpr int none = 1 << 29;  // more than there are layers
    static constexpr Index pitch = MomentScratch::pitch;

    /// The cells of the tile along rows; in three dimensions it has these whole.
    int first_cell() const { return solid ? 0 : a_.first_x; }
    int end_cell() const { return solid ? a_.address.nx : a_.end_x; }
    Index at(int x) const { return memory_.at(x - first_cell()); }
    /// Calls visit(x, at(x)) for the packs of cells from `first` to before `end`.
    template <class Visit>
    void for_packs(int first, int end, Visit&& visit) const {
        constexpr int block = int(MomentScratch::block);
        for (int x = first; x < end;) {
            const int next = x + block - (x - first_cell() + memory_.left) % block, stop = next < end ? next : end;
            for (Index place = at(x); x < stop; x += W, place += W) {
                visit(x, place);
            }
        }
    }

    Real* stage(int s) const { return static_cast<Real*>(a_.scratch) + MomentScratch::line + s * memory_.of_stage(); }
    /// The populations of a row of a stage; population i of a cell is at(x) + i * pitch behind.
    Real* populations(int s, int row) const {
        const int slot = solid ? (row + kept_rows * 1024) % kept_rows : 0;
        return stage(s) + slot * S::Q * pitch;
    }
    /// The sums of a target row of a stage.
    Real* sums(int s, int row) const {
        const int place = solid ? row - (first_row_ - (a_.steps - 1 - s)) : 0;
        return stage(s) + memory_.ring + place * memory_.sums;
    }
    /// The populations of a target row of a stage that come off walls above it; of each a row.
    Real* kept(int s, int row) const {
        const int place = solid ? row - (first_row_ - (a_.steps - 1 - s)) : 0;
        return stage(s) + memory_.ring + memory_.targets * memory_.sums + place * memory_.kept;
    }
    /// The cells of a row of a stage, whose populations the next step reads: those around the tile too, but where it is
    /// a row that follows itself, or ends at a wall or a face with free slip, behind which close_row() says what there
    /// is.
    int first_x(int s) const { return first_cell() - (wraps_ || is_closed_[0] ? 0 : (a_.steps - s + W - 1) / W * W); }
    int end_x(int s) const { return end_cell() + (wraps_ || is_closed_[1] ? 0 : a_.steps - s); }
    /// Where the cells from x on of a row lie in memory: those beyond the ends of a periodic row lie before the other
    /// end.
    int in_row(int x) const {
        const int nx = a_.address.nx;
        return solid || !is_part_of_periodic_ ? x : x < 0 ? x + nx : x >= nx ? x - nx : x;
    }

    /// Offset of the first number of cell (0, y, z) of a row of a layer.
    Index offset(int row, int layer) const {
        const auto within = [](int at, int n, bool wraps) { return wraps ? (at % n + n) % n : at; };
        const Address& address = a_.address;
        const int y = within(solid ? row : layer, address.ny, address.self_periodic[1]);
        const int z = solid ? within(layer, address.nz, address.self_periodic[2]) : 0;
        return address.row(y, z, 0);
    }

    /// The row of which a row is an image across y, itself if it is none.
    CellImage image_of_row(int row) const {
        if (!solid || a_.walls == nullptr) {
            return {row, false};
        }
        const int* const cells = a_.walls->cells_to_mirror + 2;
        return image_of(row, a_.address.ny, cells[0], cells[1]);
    }

    /// Completes the populations of a row of a layer: nothing comes from solid cells, or from behind walls across x;
    /// and where a row follows itself, what leaves it at one end lies before the other one.
    void close_row(Real* row, int y, int layer) const {
        if (a_.walls != nullptr) {
            clear_solid_cells(row, y, layer);
        }
        if (wraps_) {
            const Index before = at(-1), first = at(0), last = at(a_.address.nx - 1), behind = at(a_.address.nx);
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                if constexpr (S::c[i][0] > 0) {
                    row[i * pitch + before] = row[i * pitch + last];
                } else if constexpr (S::c[i][0] < 0) {
                    row[i * pitch + behind] = row[i * pitch + first];
                }
            });
        }
        if (a_.walls != nullptr) {
            if (has_end_[0]) {
                close_end<0>(row);
            }
            if (has_end_[1]) {
                close_end<1>(row);
            }
        }
        for (Index k = 1; k < memory_.blocks; ++k) {
            const Index first = k * memory_.of_block(), end = first - memory_.of_block() + MomentScratch::block;
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                if constexpr (S::c[i][0] > 0) {
                    row[i * pitch + first - 1] = row[i * pitch + end - 1];
                } else if constexpr (S::c[i][0] < 0) {
                    row[i * pitch + end] = row[i * pitch + first];
                }
            });
        }
    }

    /// The same at the low or the high end of a row. Right behind an end that is closed no cells are computed, so that
    /// only what would come in from there is cleared.
    template <int side>
    void close_end(Real* row) const {
        const int to_wall = a_.walls->cells_to_wall[side], to_mirror = a_.walls->cells_to_mirror[side];
        const auto cell = [&](int beyond) { return side == 0 ? -1 - beyond : a_.address.nx + beyond; };
        if (to_wall == 0) {
            clear_incoming<side == 0 ? 1 : -1>(row, cell(0));
            return;
        }
        for (int beyond = 0; beyond <= a_.walls->around; ++beyond) {
            if (beyond >= to_wall) {
                clear_cell(row, cell(beyond));
            } else if (beyond >= to_mirror) {
                mirror_cell(row, cell(beyond), cell(2 * to_mirror - 1 - beyond));
            }
        }
    }

    /// Whether a row of a layer lies behind a wall, or is an image of one there: nothing comes in from it.
    bool is_behind_wall(int row, int layer) const {
        if (a_.walls == nullptr) {
            return false;
        }
        const int(&to_wall)[6] = a_.walls->cells_to_wall;
        const int y = solid ? image_of_row(row).at : layer, z = solid ? layer : 0;
        return -1 - y >= to_wall[2] || y - a_.address.ny >= to_wall[3] || -1 - z >= to_wall[4] ||
               z - a_.address.nz >= to_wall[5];
    }
    void clear_cell(Real* row, int x) const {
        const Index place = at(x);
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { row[i * pitch + place] = 0; });
    }
    /// Clears what comes in from a cell in a direction along x.
    template <int direction>
    void clear_incoming(Real* row, int x) const {
        const Index place = at(x);
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if constexpr (S::c[i][0] == direction) {
                row[i * pitch + place] = 0;
            }
        });
    }
    /// Makes a cell the image of another one across x.
    void mirror_cell(Real* row, int x, int image) const {
        const Index to = at(x), from = at(image);
        static_for<S::Q>([&]<int i>()
                             LBM_INLINE_LAMBDA { row[i * pitch + to] = row[Stencil<S>::mirror(i, 0) * pitch + from]; });
    }
    void clear_row(Real* row) const {
        for (Index k = 0; k < memory_.blocks; ++k) {
            Real* const numbers = row + k * memory_.of_block();
            std::fill(numbers, numbers + S::Q * pitch, Real(0));
        }
    }

    void clear_solid_cells(Real* row, int y, int layer) const {
        const MomentWalls& walls = *a_.walls;
        const int around = walls.around + 1;
        const Index at = listed_row(y, layer, around);
        const auto [first, end] =
            of_tile(walls.solid + walls.first_solid[at], walls.solid + walls.first_solid[at + 1], around);
        for (const int* x = first; x < end; ++x) {
            clear_cell(row, *x);
        }
    }
    /// The cells of a list of a row that the tile and so many cells around it have.
    template <class Cell>
    Range<Cell> of_tile(const Cell* first, const Cell* end, int around) const {
        if (has_end_[0] && has_end_[1]) {
            return {first, end};
        }
        const auto is_before = [](const Cell& cell, int x) { return x_of(cell) < x; };
        first = std::lower_bound(first, end, first_cell() - around, is_before);
        return {first, std::lower_bound(first, end, end_cell() + around, is_before)};
    }
    /// The place of a row of a layer in a list with `around` rows beside the block.
    Index listed_row(int row, int layer, int around) const {
        const Index y = (solid ? row : layer) + around, z = solid ? layer + around : 0;
        return z * (a_.address.ny + 2 * around) + y;
    }

    /// Calls visit(cell) for the cells of a row of a layer that have walls next to them.
    template <class Visit>
    void for_wall_cells(int row, int layer, Visit&& visit) const {
        const auto [first, end] = wall_cells(row, layer);
        for (const MomentWallCell* cell = first; cell < end; ++cell) {
            visit(*cell);
        }
    }
    Range<MomentWallCell> wall_cells(int row, int layer) const {
        const MomentWalls& walls = *a_.walls;
        const Index at = listed_row(row, layer, walls.around);
        return of_tile(walls.cells + walls.first[at], walls.cells + walls.first[at + 1], walls.around);
    }

    const MomentArguments& a_;
    MomentScratch memory_;
    int first_row_, end_row_, first_layer_, end_layer_;
    bool has_end_[2];                           // whether the tile has the low, the high end of rows
    bool wraps_;                                // whether it has periodic rows whole
    bool is_part_of_periodic_;                  // whether it has parts of them
    bool is_closed_[2] = {false, false};        // whether it ends at a wall or a face with free slip
    int first_real_ = -none, end_real_ = none;  // layers, but images behind faces with free slip
};

}  // namespace
}  // namespace lbm::cpu
