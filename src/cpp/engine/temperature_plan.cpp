// Maps every place around a block back into the domain, face by face, and lists the copies, wall temperatures and
// samples that result.
#include "temperature_plan.h"

#include <algorithm>

#include "../lattice/temperature.h"
#include "../lattice/temperature_wall.h"
#include "adiabatic_wall.h"
#include "cell_heat.h"

namespace lbm::engine {

using backend::HeatSample;

namespace {

using Term = WallTerms::Term;

template <class S>
class Builder {
public:
    Builder(TemperaturePlan& plan, const Domain& domain, const std::vector<BlockPlacement>& blocks, int own)
        : plan_(plan), domain_(domain), blocks_(blocks), own_(own), holder_(blocks, own) {}

    void build(PlanOf part) {
        add_places_across_x();
        add_places_across_yz();
        if (part == PlanOf::Imports) {
            return;
        }
        if (!domain_.owner.empty()) {
            add_body_links();
        }
        for (int face = 0; face < 2 * S::D; ++face) {
            add_face_samples(face);
        }
    }

private:
    /// The temperature of a place: `sign` times that of a cell, plus the sum of the terms.
    struct Folded {
        int inside[3];  // the cell relative to the block's corner, reflected by walls only: it may lie in the halo
        int cell[3];    // the cell of the domain, mapped back through periodic faces too
        int sign = 1;
        std::vector<Term> terms{};
    };

    const BlockPlacement& here() const { return blocks_[std::size_t(own_)]; }
    const Address& address() const { return here().address; }
    Index place(const int (&at)[3]) const {
        return temperature_offset(address(), Phase::TwoLattice, at[0], at[1], at[2]);
    }
    bool solid(const Folded& at) const { return domain_.solid(at.cell); }

    /// Walls are applied axis by axis, the last axis first: behind two walls lies the reflection, by the wall of the
    /// first axis, of the cell that the wall of the last axis reflects.
    Folded fold(int x, int y, int z) const {
        Folded to{{x, y, z}, {}};
        for (int a = 0; a < 3; ++a) {
            to.cell[a] = to.inside[a] + here().offset[a];
        }
        for (int a = S::D - 1; a >= 0; --a) {
            const int n = domain_.size[a];
            if (to.cell[a] >= 0 && to.cell[a] < n) {
                continue;
            }
            const int face = 2 * a + (to.cell[a] < 0 ? 0 : 1);
            if (domain_.face_thermal[face] == ThermalKind::Periodic) {
                continue;
            }
            const int inwards = to.cell[a] < 0 ? 1 : -1;
            to.inside[a] += inwards;
            to.cell[a] += inwards;
            if (domain_.face_thermal[face] == ThermalKind::Isothermal) {
                to.terms.push_back({face, -1, place_on(face, to.cell), 2.0 * to.sign});
                to.sign = -to.sign;
            }
        }
        for (int a = 0; a < S::D; ++a) {
            const int n = domain_.size[a];
            to.cell[a] = to.cell[a] < 0 ? to.cell[a] + n : to.cell[a] >= n ? to.cell[a] - n : to.cell[a];
        }
        return to;
    }

    /// The index on a face of a cell that may lie one beyond the domain along the face: then the last cell counts.
    Index place_on(int face, const int (&cell)[3]) const {
        int at[3];
        for (int a = 0; a < 3; ++a) {
            const int n = domain_.size[a];
            const bool periodic = domain_.face_thermal[2 * a] == ThermalKind::Periodic;
            at[a] = periodic ? (cell[a] + n) % n : std::clamp(cell[a], 0, n - 1);
        }
        return domain_.face_cell(face, at[0], at[1], at[2]);
    }

    /// The offset in this block of the temperature of a folded place: that of its own cell, or of the halo place that
    /// is copied from another block.
    Index source_of(const Folded& at) const {
        if (!here().holds(at.cell)) {
            return place(at.inside);
        }
        const int own[3] = {at.cell[0] - here().offset[0], at.cell[1] - here().offset[1],
                            at.cell[2] - here().offset[2]};
        return place(own);
    }

    void add_place(int x, int y, int z) {
        const int at[3] = {x, y, z};
        const Folded from = fold(x, y, z);
        if (from.terms.empty()) {
            const int block = holder_(from.cell);
            const int(&corner)[3] = blocks_[std::size_t(block)].offset;
            plan_.copies.push_back(
                {x, y, z, block, {from.cell[0] - corner[0], from.cell[1] - corner[1], from.cell[2] - corner[2]}});
            return;
        }
        plan_.wall_temperatures.push_back({place(at), source_of(from), 0, from.sign});
        plan_.wall_terms.add(from.terms);
    }

    /// Whether some velocity leads to a place that is outside along so many axes: no velocity has three components.
    static bool is_neighbor(int outside_axes) { return outside_axes > 0 && outside_axes <= 2; }
    int outside(int a, int at) const { return at < 0 || at >= size_[a] ? 1 : 0; }

    /// Places before and behind the rows; runs go along y.
    void add_places_across_x() {
        for (const int x : {-1, size_[0]}) {
            for (int z = 0; z < size_[2]; ++z) {
                for (int y = 0; y < size_[1]; ++y) {
                    add_place(x, y, z);
                }
            }
        }
    }

    /// Places in the halo rows; runs go along x.
    void add_places_across_yz() {
        const int around_z = S::D == 3 ? 1 : 0;
        for (int z = -around_z; z < size_[2] + around_z; ++z) {
            for (int y = -1; y <= size_[1]; ++y) {
                if (outside(1, y) + outside(2, z) == 0) {
                    continue;
                }
                for (int x = -1; x <= size_[0]; ++x) {
                    if (is_neighbor(outside(0, x) + outside(1, y) + outside(2, z))) {
                        add_place(x, y, z);
                    }
                }
            }
        }
    }

    void add_body_links() {
        for (int z = 0; z < size_[2]; ++z) {
            for (int y = 0; y < size_[1]; ++y) {
                for (int x = 0; x < size_[0]; ++x) {
                    const int cell[3] = {x + here().offset[0], y + here().offset[1], z + here().offset[2]};
                    if (!domain_.solid(cell) && (has_solid_neighbor(cell) || domain_.has_sheets(cell))) {
                        add_links(x, y, z);
                    }
                }
            }
        }
    }

    /// Whether any surrounding cell is solid; cheap, as it is evaluated for every cell.
    bool has_solid_neighbor(const int (&cell)[3]) const {
        const int radius_z = S::D == 3 ? 1 : 0;
        for (int dz = -radius_z; dz <= radius_z; ++dz) {
            for (int dy = -1; dy <= 1; ++dy) {
                for (int dx = -1; dx <= 1; ++dx) {
                    const int at[3] = {wrapped(0, cell[0] + dx), wrapped(1, cell[1] + dy), wrapped(2, cell[2] + dz)};
                    if (domain_.solid(at)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
    int wrapped(int a, int at) const {
        const int n = domain_.size[a];
        return domain_.face_thermal[2 * a] == ThermalKind::Periodic ? (at + n) % n : std::clamp(at, 0, n - 1);
    }

    /// The body whose wall is between a fluid cell and the place that is folded from one next to it; -1: none.
    int wall_before(const Folded& from, const Folded& to) const {
        int along[3];
        for (int a = 0; a < 3; ++a) {
            along[a] = to.inside[a] - from.inside[a];
        }
        return domain_.wall_before(from.cell, along, to.cell);
    }

    /// Adds the links of a fluid cell to its solid neighbours, and to those behind a sheet.
    void add_links(int x, int y, int z) {
        backend::ThermalCell cell{x, y, z, int(plan_.thermal_links.size()), 0};
        const int own[3] = {x, y, z};
        const Folded centre = fold(x, y, z);
        heat_.begin(domain_.cell(x + here().offset[0], y + here().offset[1], z + here().offset[2]), place(own));
        for (int i = 1; i < S::Q; ++i) {
            const int* c = S::c[i];
            const Folded to = fold(x + c[0], y + c[1], z + c[2]);
            if (const int body = wall_before(centre, to); body >= 0) {
                add_link(i, own, body, to);
                ++cell.count;
            }
        }
        heat_.end();
        if (cell.count > 0) {
            plan_.thermal_cells.push_back(cell);
        }
    }

    /// The cell whose temperature an adiabatic body shows to a fluid cell along velocity i. It is the fluid cell
    /// itself, except for a diagonal at a flat wall: if exactly one of the two cells that the diagonal passes is fluid,
    /// it is that one, as at a flat face. For each such link there is one in the opposite direction, so that an
    /// adiabatic body neither takes nor gives heat. Of a sheet that ends nearby there may be none: then the fluid cell
    /// itself is taken.
    Folded adiabatic_source(int i, int x, int y, int z) const {
        const Folded own = fold(x, y, z), end = fold(x + S::c[i][0], y + S::c[i][1], z + S::c[i][2]);
        Folded found = own, behind = own;
        int fluid = 0;
        for (int a = 0; a < S::D; ++a) {
            if (S::c[i][a] != 0 && !is_axis(i)) {
                int at[3] = {x, y, z};
                at[a] += S::c[i][a];
                const Folded passed = fold(at[0], at[1], at[2]);
                if (wall_before(own, passed) < 0) {
                    found = ++fluid == 1 ? passed : own;
                } else {
                    behind = passed;
                }
            }
        }
        const bool is_mutual = fluid == 1 && wall_before(found, behind) >= 0 && wall_before(found, end) >= 0;
        return is_mutual ? found : own;
    }

    using Beyond = CellHeat::Beyond;

    /// Adds the temperature of a folded place.
    void add(Beyond& beyond, const Folded& from, double weight) const {
        beyond.temperatures.push_back({source_of(from), weight * from.sign});
        beyond.sum += weight * from.sign;
        for (Term term : from.terms) {
            term.factor *= weight;
            beyond.terms.push_back(term);
        }
    }

    void add_link(int i, const int (&own)[3], int body, const Folded& body_cell) {
        const Beyond beyond = behind_wall(i, own, body, body_cell);
        const std::size_t first = plan_.thermal_terms.size(), count = beyond.temperatures.size();
        plan_.thermal_links.push_back(
            {0, int(first), static_cast<unsigned char>(count), static_cast<unsigned char>(i)});
        plan_.thermal_terms.insert(plan_.thermal_terms.end(), beyond.temperatures.begin(), beyond.temperatures.end());
        plan_.thermal_terms[first].weight = beyond.sum;  // as the others are of differences from it
        plan_.link_values.add(beyond.terms);
        const double weight = domain_.heat_weight[is_axis(i) ? 0 : 1];
        heat_.add(body, beyond, weight * domain_.diffusivity, weight);
    }

    Beyond behind_wall(int i, const int (&own)[3], int body, const Folded& body_cell) {
        const Index cut = cut_of(i, own, body, body_cell);
        if (cut >= 0 && is_isothermal(body)) {
            const Folded behind = fold(own[0] - S::c[i][0], own[1] - S::c[i][1], own[2] - S::c[i][2]);
            if (wall_before(fold(own[0], own[1], own[2]), behind) < 0) {
                return behind_isothermal_cut(own, body, body_cell, cut, behind);
            }
        } else if (cut >= 0 && solid(body_cell)) {  // adiabatic sheets are half-way
            const CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
            Beyond found = behind_adiabatic_cut(i, own, body, cuts.distance[std::size_t(cut)]);
            if (!found.temperatures.empty()) {
                return found;
            }
        }
        return behind_halfway_wall(i, own, body, body_cell);
    }

    bool is_isothermal(int body) const { return !domain_.body_temperature[std::size_t(body)].empty(); }

    /// A wall half-way to the solid neighbour.
    Beyond behind_halfway_wall(int i, const int (&own)[3], int body, const Folded& body_cell) const {
        const Folded from = adiabatic_source(i, own[0], own[1], own[2]);
        Beyond beyond;
        add(beyond, from, is_isothermal(body) ? -1 : 1);
        if (is_isothermal(body)) {
            const int(&cell)[3] = body_cell.cell;
            beyond.terms.push_back({-1, body, domain_.known_cell(cell[0], cell[1], cell[2]), 2});
        }
        return beyond;
    }

    /// A wall with a temperature where the surface of the body cuts the link; `behind` is the cell's neighbour on the
    /// other side.
    Beyond behind_isothermal_cut(const int (&own)[3], int body, const Folded& body_cell, Index cut,
                                 const Folded& behind) const {
        const CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
        const BeyondWall weights = beyond_wall(cuts.distance[std::size_t(cut)]);
        const int(&solid_cell)[3] = body_cell.cell;
        const bool of_link = !cuts.temperature.empty();
        const Index at = of_link ? cut : domain_.known_cell(solid_cell[0], solid_cell[1], solid_cell[2]);
        Beyond beyond{{{place(own), weights.cell}}, {}, weights.cell};
        add(beyond, behind, weights.opposite);
        beyond.terms.push_back({-1, body, at, weights.wall, of_link});
        return beyond;
    }

    /// A wall without heat where the surface cuts the link; no temperatures where there is no fit of it.
    Beyond behind_adiabatic_cut(int i, const int (&own)[3], int body, double q) {
        find_neighborhood(own, body);
        const std::vector<double> weights =
            weights_behind_adiabatic_wall(S::D, S::c[i], q, neighborhood_.cuts, neighborhood_.places);
        Beyond beyond;
        double mirrored = 0;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const Folded& from = neighborhood_.cells[k];
            add(beyond, from, weights[k]);
            mirrored += from.sign < 0 ? weights[k] : 0;
        }
        beyond.sum = 1 - 2 * mirrored;  // as all weights have the sum 1, but for rounding
        beyond.is_fit = true;
        return beyond;
    }

    /// The fluid cells that the links of a fluid cell lead to, itself the first, and where the surface of a body cuts
    /// links of theirs.
    struct Neighborhood {
        int own[3] = {-1, -1, -1};
        int body = -1;
        std::vector<Folded> cells{};
        std::vector<Place> places{}, cuts{};
    };

    void find_neighborhood(const int (&own)[3], int body) {
        if (neighborhood_.body == body && std::equal(own, own + 3, neighborhood_.own)) {
            return;
        }
        neighborhood_ = {{own[0], own[1], own[2]}, body};
        const CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
        const Folded centre = fold(own[0], own[1], own[2]);
        for (int j = 0; j < S::Q; ++j) {
            const int* to = S::c[j];
            const int at[3] = {own[0] + to[0], own[1] + to[1], own[2] + to[2]};
            const Folded cell = fold(at[0], at[1], at[2]);
            if (wall_before(centre, cell) >= 0) {
                continue;
            }
            neighborhood_.cells.push_back(cell);
            neighborhood_.places.push_back({{double(to[0]), double(to[1]), double(to[2])}});
            if (!std::equal(at, at + 3, cell.inside)) {
                continue;  // an image behind a face, whose links are none of the domain
            }
            const Index first = domain_.known_cell(cell.cell[0], cell.cell[1], cell.cell[2]) * S::Q;
            for (int d = 1; d < S::Q; ++d) {
                const Index cut = cuts.find(first + d);
                if (cut >= 0) {
                    const double q = cuts.distance[std::size_t(cut)];
                    const int* c = S::c[d];
                    neighborhood_.cuts.push_back({{to[0] + q * c[0], to[1] + q * c[1], to[2] + q * c[2]}});
                }
            }
        }
    }

    /// The place of a link to a solid neighbour among the cut links of its body, if the temperature has its wall there
    /// and the link crosses no face but periodic ones. Else -1.
    Index cut_of(int i, const int (&own)[3], int body, const Folded& body_cell) const {
        const CutLinks& cuts = domain_.body_cuts[std::size_t(body)];
        const int* c = S::c[i];
        for (int a = 0; a < 3; ++a) {
            if (!cuts.hold_temperature || body_cell.inside[a] != own[a] + c[a]) {
                return -1;
            }
        }
        const int(&o)[3] = here().offset;
        return cuts.find(domain_.known_cell(own[0] + o[0], own[1] + o[1], own[2] + o[2]) * S::Q + i);
    }

    static bool is_axis(int i) { return Stencil<S>::squared_speed(i) == 1; }

    /// Adds the samples of the temperature gradient at an isothermal face. The gradient is of second order where there
    /// are two fluid cells before the wall, else of first order.
    void add_face_samples(int face) {
        if (domain_.face_thermal[face] != ThermalKind::Isothermal) {
            return;
        }
        WallHeat& heat = plan_.face_heat[std::size_t(face)];
        const int axis = face / 2, wall = face % 2 == 0 ? 0 : domain_.size[axis] - 1;
        const int inwards = face % 2 == 0 ? 1 : -1;
        int first[3] = {0, 0, 0}, last[3] = {size_[0], size_[1], size_[2]};
        first[axis] = wall - here().offset[axis];
        last[axis] = first[axis] + 1;
        if (first[axis] < 0 || first[axis] >= size_[axis]) {
            return;
        }
        for (int z = first[2]; z < last[2]; ++z) {
            for (int y = first[1]; y < last[1]; ++y) {
                for (int x = first[0]; x < last[0]; ++x) {
                    const int at[3] = {x, y, z};
                    int behind[3] = {x, y, z};
                    behind[axis] += inwards;
                    add_sample(heat, face, at, behind, domain_.size[axis] > 1);
                }
            }
        }
    }

    void add_sample(WallHeat& heat, int face, const int (&at)[3], const int (&behind)[3], bool has_behind) {
        int cell[3], next[3];
        for (int a = 0; a < 3; ++a) {
            cell[a] = at[a] + here().offset[a];
            next[a] = behind[a] + here().offset[a];
        }
        if (domain_.solid(cell)) {
            return;
        }
        int inwards[3];
        for (int a = 0; a < 3; ++a) {
            inwards[a] = next[a] - cell[a];
        }
        const bool second = has_behind && domain_.wall_before(cell, inwards, next) < 0;
        const double k = domain_.diffusivity;
        const Index own = place(at);
        heat.samples.push_back(
            {{own, second ? place(behind) : own}, {second ? -3 * k : -2 * k, second ? k / 3 : 0}, 0});
        const Index on_face = domain_.face_cell(face, cell[0], cell[1], cell[2]);
        heat.values.add({{face, -1, on_face, (second ? 8.0 / 3 : 2) * k}});
        heat.places.push_back(on_face);
        heat.areas.push_back(1);
    }

    TemperaturePlan& plan_;
    const Domain& domain_;
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    const int size_[3] = {address().nx, address().ny, address().nz};
    BlockFinder holder_;
    Neighborhood neighborhood_{};
    CellHeat heat_{plan_.body_heat};
};

}  // namespace

TemperaturePlan::TemperaturePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own, PlanOf part)
    : face_heat(2 * std::size_t(domain.D)), body_heat(domain.body_temperature.size()) {
    backend::with_stencil(domain.stencil,
                          [&](auto s) { Builder<decltype(s)>(*this, domain, blocks, own).build(part); });
}

std::size_t TemperaturePlan::bytes() const {
    std::size_t sum = wall_terms.bytes() + link_values.bytes();
    for (const auto* walls : {&face_heat, &body_heat}) {
        for (const WallHeat& wall : *walls) {
            sum += wall.samples.capacity() * sizeof(HeatSample) + wall.values.bytes() +
                   wall.places.capacity() * sizeof(Index) + wall.areas.capacity() * sizeof(double);
        }
    }
    return sum;
}

}  // namespace lbm::engine
