// The box of fluid that is simulated: its size, what holds on its faces, the solid bodies inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../backend/kinds.h"
#include "../lattice/boundary/all.h"
#include "../lattice/portability.h"

namespace lbm::engine {

/// The place of a condition in boundary::Conditions.
enum class FaceKind : int {};
template <class Condition>
constexpr FaceKind face_kind = FaceKind(position_in<boundary::Conditions, Condition>);

/// Calls visitor with an object of the condition's type.
template <class Visitor>
decltype(auto) with_condition(FaceKind kind, Visitor&& visitor) {
    return backend::with_type<boundary::Conditions>(
        int(kind), [&](auto c) -> decltype(auto) { return visitor(typename decltype(c)::type{}); });
}
inline bool is_periodic(FaceKind kind) { return kind == face_kind<boundary::Periodic>; }

inline std::string face_name(int face) { return {"-+"[face % 2], "xyz"[face / 2]}; }

enum class ThermalKind { Periodic, Adiabatic, Isothermal };

constexpr std::uint16_t no_body = 0xFFFF;
constexpr int max_bodies = no_body;

struct Domain {
    backend::StencilKind stencil;
    int D;
    int size[3];        // nz = 1 in two dimensions
    FaceKind faces[6];  // -x, +x, -y, +y, -z, +z
    /// What the conditions of faces are given: D components of a velocity, or one of a number, uniform (one value each)
    /// or one a face cell; empty where nothing was.
    std::vector<double> face_value[6];
    double reference_density = 1;      // that moving walls push with and outflows relax to
    std::vector<std::uint16_t> owner;  // the body of each cell, no_body for fluid; empty without bodies
    /// Wall velocity of each body: empty at rest, D values, or D a cell of the domain.
    std::vector<std::vector<double>> body_velocity;

    bool heated = false;  // has a temperature, and what follows
    double diffusivity = 0;
    double heat_weight[2] = {};  // of neighbours along axes and diagonals, in the Laplacian
    ThermalKind face_thermal[6] = {};
    /// Of an isothermal face: uniform (one value) or one a face cell.
    std::vector<double> face_temperature[6];
    /// Of each body: empty for an adiabatic one, one value, or one a cell of the domain.
    std::vector<std::vector<double>> body_temperature;

    Index cells() const { return Index(size[0]) * size[1] * size[2]; }
    Index cell(int x, int y, int z) const { return (Index(z) * size[1] + y) * size[0] + x; }
    bool solid(Index at) const { return !owner.empty() && owner[at] != no_body; }

    Index face_cells(int face) const { return cells() / size[face / 2]; }
    /// Position of cell (x, y, z) on a face, the lower axis fastest.
    Index face_cell(int face, int x, int y, int z) const {
        switch (face / 2) {
            case 0: return Index(z) * size[1] + y;
            case 1: return Index(z) * size[0] + x;
            default: return Index(y) * size[0] + x;
        }
    }
};

/// Value d of D * count numbers that are uniform (D numbers) or given for each of `count` places; 0 when not given.
inline double component(const std::vector<double>& values, int D, int d, Index place, Index count) {
    if (values.empty()) {
        return 0;
    }
    return values.size() == std::size_t(D) ? values[d] : values[d * count + place];
}

}  // namespace lbm::engine
