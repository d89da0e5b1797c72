// Makes a mesh of triangles as they come out of a file: joins equal corners, turns triangles alike, and says whether
// the surface is closed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vectors.h"

namespace lbm::geometry {

using Triangle = std::array<std::int32_t, 3>;

/// How the inside of a surface is told.
enum class Closure {
    Oriented,  ///< Each edge has as many triangles on one side as on the other: by winding numbers along one line.
    Even,      ///< Each edge has an even number of triangles: by the parity of crossings along one line.
    Open,      ///< Neither: by lines along three axes, and by the winding number where they do not agree.
};

struct Mesh {
    std::vector<Vec> vertices;
    std::vector<Triangle> triangles;
};

struct Cleaned {
    Mesh mesh;
    Closure closure = Closure::Open;
    long joined = 0;         ///< Corners that others were equal to.
    long dropped = 0;        ///< Triangles with two equal corners.
    long flipped = 0;        ///< Triangles turned to agree with their neighbours.
    long open_edges = 0;     ///< Edges of one triangle.
    long crowded_edges = 0;  ///< Edges of more than two triangles.
};

/// Triangles have the indices of vertices, which must be finite, three each, within range.
Cleaned clean(Mesh mesh);

/// The volume that a closed surface encloses; negative if its triangles are turned inwards.
double volume(const Mesh& mesh);

}  // namespace lbm::geometry
