// The simulated domain: its size, the boundary conditions of its faces, and the solid bodies inside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../backend/kinds.h"
#include "../backend/link_data.h"
#include "../lattice/boundary/all.h"
#include "../lattice/portability.h"

namespace lbm::engine {

/// A boundary condition of the flow, by its position in boundary::Conditions.
enum class FaceKind : int {};
template <class Condition>
constexpr FaceKind face_kind = FaceKind(position_in<boundary::Conditions, Condition>);

/// Calls `visitor` with an object of the condition's type.
template <class Visitor>
decltype(auto) with_condition(FaceKind kind, Visitor&& visitor) {
    return backend::with_type<boundary::Conditions>(
        int(kind), [&](auto c) -> decltype(auto) { return visitor(typename decltype(c)::type{}); });
}

/// A scheme of walls at known distances, by its position in boundary::CutWalls.
enum class CutWallKind : int {};
/// The weights of the populations of a link that such a wall cuts at a distance.
inline boundary::LinearWeights weights_of(CutWallKind kind, double distance) {
    return backend::with_type<boundary::CutWalls>(int(kind),
                                                  [&](auto w) { return decltype(w)::type::weights(distance); });
}
inline bool is_periodic(FaceKind kind) { return kind == face_kind<boundary::Periodic>; }

inline std::string face_name(int face) { return {"-+"[face % 2], "xyz"[face / 2]}; }

/// The boundary condition of the temperature on a face.
enum class ThermalKind { Periodic, Adiabatic, Isothermal };

/// A box of the domain's cells. Along a periodic axis a box of known cells may begin before the domain or end behind
/// it.
struct Box {
    int offset[3];
    int size[3];

    Index cells() const { return Index(size[0]) * size[1] * size[2]; }
};

constexpr std::uint16_t no_body = 0xFFFF;
constexpr int max_bodies = no_body;

/// A layer of cells before a face in which populations are damped (lattice/sponge.h). Rates are those at the face; they
/// fall with the square of the distance to 0 where the sponge begins.
struct Sponge {
    int face;
    int thickness;   // in cells
    double damping;  // largest share of the non-equilibrium part that is removed in a step
    double pull;     // largest share of the difference from the target that is removed in a step
    double density;  // the target
    double velocity[3];
};

/// A value of a face or a body that changes in time: `part`, in the form of the values beside it, times a factor; or
/// numbers that are factors themselves.
struct ScaledValue {
    std::vector<double> part;
    int series = -1;  // index of the factor, or of the first, among those of a step; -1: the value does not change
    /// Without a part: how many numbers there are, those of one component after the other, in the order of the places.
    Index numbers = 0;
    /// The places of these numbers in a body, in rising order; empty where all places have one.
    std::vector<Index> places{};

    bool has_numbers() const { return numbers > 0; }
    /// Whether the value at a place changes in time.
    bool changes(Index place) const {
        return series >= 0 && (places.empty() || std::binary_search(places.begin(), places.end(), place));
    }
    /// The index behind that of the last factor; 0 if the value does not change.
    int end() const { return series < 0 ? 0 : series + (has_numbers() ? int(numbers) : 1); }
    /// Sets `values` for the factors of a step, of a product less `offset`. Where places have no number they keep
    /// theirs.
    void set(std::vector<double>& values, const double* factors, double offset) const;
    /// The value at a place of `count`.
    backend::ScaledVector at(int components, Index place, Index count) const;
};

/// The links that the surface of a body cuts, from fluid cells, in rising order: those that lead to its cells, and from
/// both ends those that lead to other fluid cells (SheetWall). Walls on other links are half-way.
struct CutLinks {
    /// Whether the body has distances, here or in the part of another process. Else links are those between two fluid
    /// cells alone, and all walls are half-way.
    bool are_given = false;
    CutWallKind scheme{};          // of the walls
    std::vector<Index> links;      // index of the fluid cell among the known ones times Q plus the velocity to the wall
    std::vector<double> distance;  // of each, from the cell's centre to the wall, as a fraction of the link
    std::vector<double> velocity;  // of the wall there, D numbers for each link; empty where cells give it
    ScaledValue scaled;            // of that
    /// Whether the temperature has its wall there too (temperature_wall.h, adiabatic_wall.h), and not half-way.
    bool hold_temperature = false;
    std::vector<double> temperature;  // of the wall there, a number for each link; empty where cells give it

    Index count() const { return Index(links.size()); }
    std::size_t bytes() const {
        return links.capacity() * sizeof(Index) +
               (distance.capacity() + velocity.capacity() + temperature.capacity()) * sizeof(double);
    }
    /// The place of a link in the lists; -1 if the surface does not cut it.
    Index find(Index link) const {
        const auto at = std::lower_bound(links.begin(), links.end(), link);
        return at != links.end() && *at == link ? at - links.begin() : -1;
    }
};

/// A wall between two fluid cells, of a thin sheet or of a part of a body that is thinner than a cell, seen from one of
/// them.
struct SheetWall {
    Index key;        // Domain::key_of the cell and the vector to the other one
    double distance;  // of the link; of several walls on it the nearest counts
    int body;
};

struct Domain {
    backend::StencilKind stencil;
    int D;
    int size[3];        // nz = 1 in two dimensions
    FaceKind faces[6];  // -x, +x, -y, +y, -z, +z
    /// The values of the faces' conditions: the D components of a velocity, or one number. Each is uniform (one value)
    /// or given for every cell of the face; empty where the user gave none.
    std::vector<double> face_value[6];
    ScaledValue face_scaled[6];
    std::vector<Sponge> sponges;
    double reference_density = 1;  // density of the wall momentum term; outflows relax to it
    double compressibility = 1;    // 0 with the incompressible equilibrium, whose wall momentum terms have density 1
    /// The cells of which this process knows whether they are solid: those of its window and some around it.
    Box known{};
    std::vector<std::uint16_t> owner;  // the body of each known cell, no_body for fluid; empty without bodies
    /// Wall velocity of each body: empty at rest, D values, or D values for each known cell.
    std::vector<std::vector<double>> body_velocity;
    std::vector<ScaledValue> body_scaled;
    std::vector<CutLinks> body_cuts;
    std::vector<SheetWall> sheets;  // of all bodies, sorted

    bool is_hybrid_thermal = false;  // whether the hybrid thermal model adds a temperature, which the rest describes
    double diffusivity = 0;
    double heat_weight[2] = {};  // weights of neighbours along axes and diagonals in the Laplacian
    ThermalKind face_thermal[6] = {};
    /// Temperature of each isothermal face: uniform (one value) or one for each cell of the face.
    std::vector<double> face_temperature[6];
    /// Temperature of each body: empty for an adiabatic one, one value, or one for each known cell.
    std::vector<std::vector<double>> body_temperature;

    Index cells() const { return Index(size[0]) * size[1] * size[2]; }
    Index cell(int x, int y, int z) const { return (Index(z) * size[1] + y) * size[0] + x; }
    /// The index of a cell among the known ones, as arrays of them have it; -1 if it is none of them.
    Index known_cell(int x, int y, int z) const {
        const int at[3] = {x, y, z};
        Index index = 0;
        for (int a = 2; a >= 0; --a) {
            int k = at[a] - known.offset[a];
            k = k < 0 ? k + size[a] : k >= size[a] ? k - size[a] : k;
            if (k >= known.size[a]) {
                return -1;
            }
            index = index * known.size[a] + k;
        }
        return index;
    }
    /// Whether a cell is known to be solid.
    bool solid(int x, int y, int z) const {
        if (owner.empty()) {
            return false;
        }
        const Index at = known_cell(x, y, z);
        return at >= 0 && owner[std::size_t(at)] != no_body;
    }
    bool solid(const int (&at)[3]) const { return solid(at[0], at[1], at[2]); }
    /// The body of a solid cell.
    int body_of(int x, int y, int z) const { return owner[std::size_t(known_cell(x, y, z))]; }

    /// The number of a known cell and a vector of -1, 0 and 1.
    static Index key_of(Index known_cell, const int (&to)[3]) {
        return 27 * known_cell + (to[0] + 1) + 3 * (to[1] + 1) + 9 * (to[2] + 1);
    }
    /// Calls visit(cell, vector) with what has a key.
    template <class Visit>
    void with_key(Index key, Visit&& visit) const {
        const int code = int(key % 27);
        Index at = key / 27;
        int cell[3];
        for (int a = 0; a < 3; ++a) {
            const int k = known.offset[a] + int(at % known.size[a]);
            cell[a] = k < 0 ? k + size[a] : k >= size[a] ? k - size[a] : k;
            at /= known.size[a];
        }
        const int to[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        visit(cell, to);
    }
    /// Memory of what there is for each cell that is known, and for links.
    std::size_t bytes() const {
        std::size_t sum = owner.capacity() * sizeof(std::uint16_t) + sheets.capacity() * sizeof(SheetWall);
        for (const CutLinks& cuts : body_cuts) {
            sum += cuts.bytes();
        }
        return sum;
    }
    /// Lists the walls between fluid cells that the links of a new body, the last one, are; throws
    /// std::invalid_argument unless such links are given from both ends.
    void add_sheets();
    /// The wall between a fluid cell and the next one along a vector, where that is fluid too; null for none.
    const SheetWall* sheet(const int (&cell)[3], const int (&to)[3]) const {
        if (sheets.empty()) {
            return nullptr;
        }
        const Index key = key_of(known_cell(cell[0], cell[1], cell[2]), to);
        const auto at = std::lower_bound(sheets.begin(), sheets.end(), key,
                                         [](const SheetWall& wall, Index wanted) { return wall.key < wanted; });
        return at != sheets.end() && at->key == key ? &*at : nullptr;
    }
    /// Whether a cell has a wall towards some other fluid cell.
    bool has_sheets(const int (&cell)[3]) const {
        const Index first = 27 * known_cell(cell[0], cell[1], cell[2]);
        const auto at = std::lower_bound(sheets.begin(), sheets.end(), first,
                                         [](const SheetWall& wall, Index wanted) { return wall.key < wanted; });
        return at != sheets.end() && at->key < first + 27;
    }
    /// The body whose wall a fluid cell has towards the next one along a vector, which is `other`, or that of which it
    /// is the image: one with that cell, or with a sheet before it. -1: none.
    int wall_before(const int (&cell)[3], const int (&to)[3], const int (&other)[3]) const {
        if (solid(other)) {
            return body_of(other[0], other[1], other[2]);
        }
        const SheetWall* wall = sheet(cell, to);
        return wall == nullptr ? -1 : wall->body;
    }

    /// The components of the value that a face's condition takes.
    int components_of(int face) const {
        return with_condition(faces[face],
                              [this](auto c) { return decltype(c)::value == boundary::Value::Velocity ? D : 1; });
    }
    Index face_cells(int face) const { return cells() / size[face / 2]; }
    /// Index of cell (x, y, z) among the cells of a face, the lower axis fastest.
    Index face_cell(int face, int x, int y, int z) const {
        switch (face / 2) {
            case 0: return Index(z) * size[1] + y;
            case 1: return Index(z) * size[0] + x;
            default: return Index(y) * size[0] + x;
        }
    }
};

/// Component d at a place of a vector of D components, which is uniform (D numbers) or given for each of `count` places
/// (D * count numbers); 0 if `values` is empty.
inline double component(const std::vector<double>& values, int D, int d, Index place, Index count) {
    if (values.empty()) {
        return 0;
    }
    return values.size() == std::size_t(D) ? values[d] : values[d * count + place];
}

}  // namespace lbm::engine
