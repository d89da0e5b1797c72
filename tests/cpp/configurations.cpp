// Makes the engines of the tests.
#include "configurations.h"

namespace tests {

using lbm::Index;
using lbm::engine::Engine;
using lbm::engine::face_kind;

std::vector<std::string> faces_of(int D, const std::vector<std::string>& by_axis) {
    std::vector<std::string> faces;
    for (int axis = 0; axis < D; ++axis) {
        const std::string& word = by_axis[std::size_t(axis)];
        const std::size_t slash = word.find('/');
        faces.push_back(word.substr(0, slash));
        faces.push_back(slash == std::string::npos ? word : word.substr(slash + 1));
    }
    return faces;
}

lbm::engine::Setup small_setup(const std::string& stencil) {
    lbm::engine::Setup setup;
    setup.stencil = stencil;
    setup.shape = stencil == "D2Q9" ? std::vector{19, 5} : std::vector{19, 5, 4};
    setup.collision = "bgk";
    setup.parameters["viscosity"] = 0.05;
    setup.precision = setup.storage = "float64";
    setup.device.threads = 2;
    return setup;
}

double noise(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = (seed << 32U) + index + 0x9E3779B97F4A7C15U;  // splitmix64
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    x ^= x >> 31U;
    return double(x >> 11U) * 0x1p-52 - 1;
}

void disturb(Engine& engine, std::uint64_t seed) {
    const lbm::engine::Domain& domain = engine.domain();
    for (int face = 0; face < 2 * domain.D; ++face) {
        const auto cells = std::size_t(domain.face_cells(face));
        if (domain.faces[face] == face_kind<lbm::boundary::MovingWall>) {
            // Along the wall only: one that moves into the fluid would change the mass.
            std::vector<double> along(std::size_t(domain.D), 0.02);
            along[std::size_t(face / 2)] = 0;
            engine.set_face_velocity(face, along);
        } else if (domain.faces[face] == face_kind<lbm::boundary::VelocityInlet>) {
            std::vector<double> profile(cells * std::size_t(domain.D));
            for (std::size_t k = 0; k < profile.size(); ++k) {
                profile[k] = k < cells ? 0.03 + 0.01 * noise(seed, k) : 0;
            }
            engine.set_face_velocity(face, profile);
        } else if (domain.faces[face] == face_kind<lbm::boundary::PressureOutlet>) {
            std::vector<double> density(cells);
            for (std::size_t k = 0; k < cells; ++k) {
                density[k] = 1 + 0.005 * noise(seed, k);
            }
            engine.set_face_number(face, density);
        }
    }
    const bool nonequilibrium = seed % 2 == 0;
    const lbm::engine::Box& box = engine.initial_box(nonequilibrium);
    const auto cells = std::size_t(box.cells());
    std::vector<double> density(cells);
    std::vector<double> velocity(cells * std::size_t(domain.D));
    const auto around = [&](int k, int a) { return (box.offset[a] + k + domain.size[a]) % domain.size[a]; };
    std::size_t at = 0;
    for (int z = 0; z < box.size[2]; ++z) {
        for (int y = 0; y < box.size[1]; ++y) {
            for (int x = 0; x < box.size[0]; ++x, ++at) {
                const auto cell = std::uint64_t(domain.cell(around(x, 0), around(y, 1), around(z, 2)));
                density[at] = 1 + 0.02 * noise(seed + 1, cell);
                for (int d = 0; d < domain.D; ++d) {
                    velocity[std::size_t(d) * cells + at] =
                        0.03 * noise(seed + 2, std::uint64_t(d) * std::uint64_t(domain.cells()) + cell);
                }
            }
        }
    }
    engine.initialize(density.data(), velocity.data(), nonequilibrium);
}

void add_body(Engine& engine, bool moving) {
    const lbm::engine::Domain& domain = engine.domain();
    std::vector<bool> mask(std::size_t(domain.known.cells()));
    const auto make_solid = [&](int x) {
        const lbm::Index at = domain.known_cell(x, domain.size[1] / 2, domain.size[2] / 2);
        if (at >= 0) {
            mask[std::size_t(at)] = true;
        }
    };
    make_solid(moving ? 12 : 5);
    if (!moving) {
        engine.add_body(mask, {});
        return;
    }
    make_solid(13);
    std::vector<double> velocity(std::size_t(domain.D), 0.01);
    engine.add_body(mask, velocity);
}

std::vector<double> density_of(Engine& engine) {
    std::vector<double> out(std::size_t(engine.domain().cells()));
    engine.density(out.data());
    return out;
}

std::vector<double> velocity_of(Engine& engine) {
    std::vector<double> out(std::size_t(engine.domain().cells() * engine.domain().D));
    engine.velocity(out.data());
    return out;
}

std::vector<double> populations_of(Engine& engine) {
    std::vector<double> out(std::size_t(engine.domain().cells() * engine.population_count()));
    engine.populations(out.data());
    return out;
}

std::vector<unsigned char> state_of(Engine& engine) {
    const auto numbers = std::size_t(engine.domain().cells() * engine.population_count());
    std::vector<unsigned char> out(numbers * lbm::backend::size_of(engine.spec().storage));
    engine.get_state(out.data());
    return out;
}

}  // namespace tests
