// Cuts the fields of an initial state into layers of cells that a GPU is given one after the other.
#pragma once

#include <algorithm>

#include "../initial_state.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// Calls visit(fields of some layers, the rows of the block in them, index of their first cell in the fields given) for
/// all layers along the last axis, each time for so few that their numbers take 256 MiB or are one layer. All cells are
/// visited at once where nothing is given for each cell, and where gradients are wanted, which need the next layers
/// too.
template <class Visit>
void for_initial_layers(const backend::InitialFields& fields, const Address& address, Visit&& visit) {
    const bool any = fields.density != nullptr || fields.velocity != nullptr || fields.temperature != nullptr;
    if (!any || fields.periodic != nullptr) {
        visit(fields, RowRange{0, Index(address.ny) * address.nz}, Index(0));
        return;
    }
    constexpr Index most_cells = (Index(256) << 20) / Index(5 * sizeof(double));
    const int axis = fields.size[2] > 1 ? 2 : 1;
    const int layers = axis == 2 ? address.nz : address.ny;
    const Index rows_of_layer = axis == 2 ? address.ny : 1;
    const Index cells_of_layer = Index(fields.size[0]) * (axis == 2 ? fields.size[1] : 1);
    const int step = int(std::clamp<Index>(most_cells / cells_of_layer, 1, layers));
    for (int first = 0; first < layers; first += step) {
        const int count = std::min(step, layers - first);
        backend::InitialFields part = fields;
        part.corner[axis] = 0;
        part.size[axis] = count;
        visit(part, RowRange{first * rows_of_layer, (first + count) * rows_of_layer},
              (fields.corner[axis] + first) * cells_of_layer);
    }
}

}  // namespace lbm::cuda
