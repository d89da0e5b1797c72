// Binds the surfaces of meshes: what is inside of them, and the links that they cut.
#include <pybind11/stl.h>

#include "../backend/surface_lines.h"
#include "../geometry/links.h"
#include "../geometry/parallel.h"
#include "../geometry/rays.h"
#include "../process/fork.h"
#include "arrays.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {
namespace {

using geometry::Closure;
using Bytes = py::array_t<bool, int(py::array::c_style) | int(py::array::forcecast)>;
using Integers = py::array_t<std::int64_t, int(py::array::c_style) | int(py::array::forcecast)>;

/// A surface with the tree over it, which is made when it is first asked for.
class SurfaceTree {
public:
    SurfaceTree(geometry::Mesh mesh, Closure closure) : surface(std::move(mesh), closure) {}

    /// Called without the GIL, which a thread that makes it would wait for.
    const geometry::Tree& tree() const {
        const std::lock_guard<process::Mutex> lock(mutex_);
        if (!tree_) {
            tree_ = std::make_unique<geometry::Tree>(surface);
        }
        return *tree_;
    }

    const geometry::Surface surface;

private:
    mutable process::Mutex mutex_;
    mutable std::unique_ptr<geometry::Tree> tree_;
};

geometry::Mesh mesh_of(const Doubles& vertices, const Integers& triangles) {
    if (vertices.ndim() != 2 || vertices.shape(1) != 3 || triangles.ndim() != 2 || triangles.shape(1) != 3) {
        throw std::invalid_argument("mesh: vertices (n, 3) and triangles (m, 3) are needed");
    }
    if (vertices.shape(0) > INT32_MAX || triangles.shape(0) > INT32_MAX / 3) {
        throw std::invalid_argument("mesh: too many vertices or triangles");
    }
    require_finite("vertices", vertices);
    geometry::Mesh mesh;
    mesh.vertices.resize(std::size_t(vertices.shape(0)));
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
        const double* from = vertices.data() + 3 * i;
        mesh.vertices[i] = {{from[0], from[1], from[2]}};
    }
    mesh.triangles.resize(std::size_t(triangles.shape(0)));
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
            const std::int64_t corner = triangles.data()[3 * i + k];
            if (corner < 0 || corner >= vertices.shape(0)) {
                throw std::invalid_argument("triangles: " + std::to_string(corner) + " given, must be from 0 to " +
                                            std::to_string(vertices.shape(0) - 1));
            }
            mesh.triangles[i][k] = std::int32_t(corner);
        }
    }
    return mesh;
}

py::tuple arrays_of(const geometry::Mesh& mesh) {
    py::array_t<double> vertices({py::ssize_t(mesh.vertices.size()), py::ssize_t(3)});
    py::array_t<std::int32_t> triangles({py::ssize_t(mesh.triangles.size()), py::ssize_t(3)});
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
        std::copy(mesh.vertices[i].x, mesh.vertices[i].x + 3, vertices.mutable_data() + 3 * i);
    }
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
        std::copy(mesh.triangles[i].begin(), mesh.triangles[i].end(), triangles.mutable_data() + 3 * i);
    }
    return py::make_tuple(vertices, triangles);
}

py::tuple clean_mesh(const Doubles& vertices, const Integers& triangles) {
    geometry::Mesh mesh = mesh_of(vertices, triangles);
    geometry::Cleaned found;
    double volume = 0;
    {
        const NoGil released;
        found = geometry::clean(std::move(mesh));
        volume = geometry::volume(found.mesh);
    }
    py::dict report;
    report["closure"] = int(found.closure);
    report["joined"] = found.joined;
    report["dropped"] = found.dropped;
    report["flipped"] = found.flipped;
    report["open_edges"] = found.open_edges;
    report["crowded_edges"] = found.crowded_edges;
    report["volume"] = volume;
    const py::tuple arrays = arrays_of(found.mesh);
    return py::make_tuple(arrays[0], arrays[1], report);
}

geometry::Part part_of(const std::array<std::int64_t, 3>& offset, const std::array<std::int64_t, 3>& size) {
    geometry::Part part{};
    for (int k = 0; k < 3; ++k) {
        part.offset[k] = offset[std::size_t(k)];
        part.size[k] = size[std::size_t(k)];
        if (part.size[k] < 0 || std::abs(double(part.offset[k])) > geometry::max_coordinate ||
            double(part.size[k]) > geometry::max_coordinate) {
            throw std::invalid_argument("part: offsets and sizes of at most 2^31 are needed");
        }
    }
    return part;
}

std::vector<py::ssize_t> shape_of(const geometry::Part& part, py::ssize_t rim) {
    return {py::ssize_t(part.size[0]) + rim, py::ssize_t(part.size[1]) + rim, py::ssize_t(part.size[2]) + rim};
}

py::array_t<bool> solid_cells(const SurfaceTree& s, const std::array<std::int64_t, 3>& offset,
                              const std::array<std::int64_t, 3>& size, int threads, const std::string& device,
                              std::size_t gpu_bytes) {
    const geometry::Part part = part_of(offset, size);
    py::array_t<bool> found(shape_of(part, 0));
    auto* data = reinterpret_cast<std::uint8_t*>(found.mutable_data());
    const NoGil released;
    const geometry::Tree* tree = s.surface.closure() == Closure::Open ? &s.tree() : nullptr;
    backend::follow_lines(s.surface, device, threads, gpu_bytes,
                          [&](geometry::LatticeLines& lines) { geometry::find_solid(lines, tree, part, data); });
    return found;
}

py::tuple surface_links(const SurfaceTree& s, const std::array<std::int64_t, 3>& offset,
                        const std::array<std::int64_t, 3>& size, const std::vector<std::array<int, 3>>& velocities,
                        const Bytes& own, const Bytes& taken, double least, double hidden, int threads,
                        const std::string& device, std::size_t gpu_bytes) {
    const geometry::Part part = part_of(offset, size);
    require_shape("own", own, shape_of(part, 2));
    require_shape("taken", taken, shape_of(part, 0));
    for (const std::array<int, 3>& c : velocities) {
        if (std::any_of(c.begin(), c.end(), [](int k) { return k < -1 || k > 1; })) {
            throw std::invalid_argument("velocities: components of -1, 0 and 1 are needed");
        }
    }
    std::vector<geometry::CutLink> found;
    {
        const NoGil released;
        const auto* inside = reinterpret_cast<const std::uint8_t*>(own.data());
        const auto* no_fluid = reinterpret_cast<const std::uint8_t*>(taken.data());
        backend::follow_lines(s.surface, device, threads, gpu_bytes, [&](geometry::LatticeLines& lines) {
            found = geometry::find_links(lines, part, velocities, inside, no_fluid, least, hidden);
        });
    }
    const auto count = py::ssize_t(found.size());
    py::array_t<std::int64_t> cells({count, py::ssize_t(3)}), directions(count);
    py::array_t<double> q(count);
    for (py::ssize_t i = 0; i < count; ++i) {
        const geometry::CutLink& link = found[std::size_t(i)];
        std::int64_t* cell = cells.mutable_data() + 3 * i;
        cell[2] = link.cell % part.size[2];
        cell[1] = link.cell / part.size[2] % part.size[1];
        cell[0] = link.cell / part.size[2] / part.size[1];
        directions.mutable_data()[i] = link.direction;
        q.mutable_data()[i] = link.q;
    }
    return py::make_tuple(cells, directions, q);
}

/// Calls body(tree, point, its number) for an array (n, 3), in pieces on threads.
template <class Body>
void for_points(const SurfaceTree& s, const Doubles& points, int threads, Body&& body) {
    if (points.ndim() != 2 || points.shape(1) != 3) {
        throw std::invalid_argument("points: shape (n, 3) is needed");
    }
    require_finite("points", points);
    constexpr long piece = 4096;
    const long count = long(points.shape(0));
    const double* data = points.data();
    const NoGil released;
    const geometry::Tree& tree = s.tree();
    geometry::for_pieces((count + piece - 1) / piece, threads, [&](long k) {
        for (long i = k * piece; i < std::min((k + 1) * piece, count); ++i) {
            body(tree, geometry::Vec{{data[3 * i], data[3 * i + 1], data[3 * i + 2]}}, i);
        }
    });
}

py::array_t<bool> contains(const SurfaceTree& s, const Doubles& points, int threads) {
    py::array_t<bool> found(points.ndim() > 0 ? points.shape(0) : 0);
    bool* data = found.mutable_data();
    for_points(s, points, threads, [&](const geometry::Tree& tree, const geometry::Vec& p, long i) {
        bool is_in_bounds = true;
        for (int k = 0; k < 3; ++k) {
            is_in_bounds =
                is_in_bounds && s.surface.bounds().low[k] - 1 <= p[k] && p[k] <= s.surface.bounds().high[k] + 1;
        }
        data[i] = is_in_bounds && geometry::is_inside(s.surface, tree, p);
    });
    return found;
}

py::array_t<bool> near(const SurfaceTree& s, const Doubles& points, double distance, int threads) {
    py::array_t<bool> found(points.ndim() > 0 ? points.shape(0) : 0);
    bool* data = found.mutable_data();
    for_points(s, points, threads, [&](const geometry::Tree& tree, const geometry::Vec& p, long i) {
        data[i] = geometry::is_near(s.surface, tree, p, distance);
    });
    return found;
}

py::array_t<double> winding_numbers(const SurfaceTree& s, const Doubles& points, double beta, int threads) {
    py::array_t<double> found(points.ndim() > 0 ? points.shape(0) : 0);
    double* data = found.mutable_data();
    for_points(s, points, threads, [&](const geometry::Tree& tree, const geometry::Vec& p, long i) {
        data[i] = tree.winding_number(p, beta);
    });
    return found;
}

/// Of each point the number of meetings, and all of them one point after the other.
py::tuple meetings(const SurfaceTree& s, const Doubles& points, const std::array<double, 3>& step, double margin,
                   int threads) {
    std::vector<std::vector<double>> found(points.ndim() > 0 ? std::size_t(points.shape(0)) : 0);
    const geometry::Vec along{{step[0], step[1], step[2]}};
    for_points(s, points, threads, [&](const geometry::Tree& tree, const geometry::Vec& p, long i) {
        geometry::find_meetings(s.surface, tree, p, along, margin, found[std::size_t(i)]);
    });
    py::array_t<std::int64_t> counts(py::ssize_t(found.size()));
    std::vector<double> all;
    for (std::size_t i = 0; i < found.size(); ++i) {
        counts.mutable_data()[i] = std::int64_t(found[i].size());
        all.insert(all.end(), found[i].begin(), found[i].end());
    }
    return py::make_tuple(counts, py::array_t<double>(py::ssize_t(all.size()), all.data()));
}

}  // namespace

void bind_geometry(py::module_& module) {
    module.def("clean_mesh", &clean_mesh, py::arg("vertices"), py::arg("triangles"));
    py::class_<SurfaceTree>(module, "Surface")
        .def(py::init([](const Doubles& vertices, const Integers& triangles, int closure) {
                 if (closure < 0 || closure > 2) {
                     throw std::invalid_argument("closure: " + std::to_string(closure) + " given, must be 0, 1 or 2");
                 }
                 geometry::Mesh mesh = mesh_of(vertices, triangles);
                 const NoGil released;
                 return std::make_unique<SurfaceTree>(std::move(mesh), Closure(closure));
             }),
             py::arg("vertices"), py::arg("triangles"), py::arg("closure"))
        .def("solid", &solid_cells, py::arg("offset"), py::arg("shape"), py::arg("threads"), py::arg("device") = "cpu",
             py::arg("gpu_bytes") = backend::bytes_for_lines)
        .def("links", &surface_links, py::arg("offset"), py::arg("shape"), py::arg("velocities"), py::arg("own"),
             py::arg("taken"), py::arg("least"), py::arg("hidden"), py::arg("threads"), py::arg("device") = "cpu",
             py::arg("gpu_bytes") = backend::bytes_for_lines)
        .def("contains", &contains, py::arg("points"), py::arg("threads"))
        .def("near", &near, py::arg("points"), py::arg("distance"), py::arg("threads"))
        .def("winding_numbers", &winding_numbers, py::arg("points"), py::arg("beta"), py::arg("threads"))
        .def("meetings", &meetings, py::arg("points"), py::arg("step"), py::arg("margin"), py::arg("threads"));
}

}  // namespace lbm::bindings
