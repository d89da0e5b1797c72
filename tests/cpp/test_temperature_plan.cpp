// Tests the temperature plan: the temperatures filled into the halo of blocks, and zero heat flux through adiabatic
// bodies.
#include "../../src/cpp/engine/temperature_plan.h"

#include <algorithm>
#include <cmath>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/wall_heat.h"
#include "../../src/cpp/lattice/temperature.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Index;
using lbm::Phase;
using lbm::engine::BlockPlacement;
using lbm::engine::Domain;
using lbm::engine::Setup;
using lbm::engine::TemperaturePlan;

/// A box that is periodic along y, with isothermal faces across x of 2 and 4, and adiabatic ones across z.
Setup box_setup(std::vector<int> shape) {
    Setup setup = tests::small_setup("D3Q19");
    setup.shape = std::move(shape);
    setup.storage = setup.precision = "float64";
    setup.faces = {"no-slip", "no-slip", "periodic", "periodic", "no-slip", "no-slip"};
    setup.thermal.emplace();
    setup.thermal->diffusivity = 0.1;
    setup.thermal->faces = {"isothermal", "isothermal", "periodic", "periodic", "adiabatic", "adiabatic"};
    return setup;
}

Domain box_of(const Setup& setup) {
    Domain domain = lbm::engine::make_domain(setup);
    domain.face_temperature[0] = {2};
    domain.face_temperature[1] = {4};
    return domain;
}

/// Temperatures of the cells of blocks, some number of their places in the domain, and what a plan makes of them.
class Filled {
public:
    Filled(const Setup& setup, const Domain& domain, const std::vector<lbm::engine::Block>& blocks) : domain_(domain) {
        const lbm::backend::BlockSpec whole = lbm::engine::block_spec(setup);
        for (const lbm::engine::Block& block : blocks) {
            const int(&at)[3] = block.offset;
            const auto address =
                lbm::backend::block_address(lbm::engine::part_of(whole, block), lbm::backend::Device::Cpu);
            placements_.push_back({{at[0], at[1], at[2]}, address});
            numbers_.emplace_back(std::size_t(address.x_face_end()), std::nan(""));
        }
        for (std::size_t k = 0; k < placements_.size(); ++k) {
            const auto& a = placements_[k].address;
            for (int z = 0; z < a.nz; ++z) {
                for (int y = 0; y < a.ny; ++y) {
                    for (int x = 0; x < a.nx; ++x) {
                        const int(&o)[3] = placements_[k].offset;
                        at(k, x, y, z) = of_cell(x + o[0], y + o[1], z + o[2]);
                    }
                }
            }
        }
        for (std::size_t k = 0; k < placements_.size(); ++k) {
            plans_.emplace_back(domain, placements_, int(k));
        }
        for (std::size_t k = 0; k < placements_.size(); ++k) {  // first what comes from other blocks, as in a step
            for (const bool own : {false, true}) {
                for (const TemperaturePlan::Copy& copy : plans_[k].copies) {
                    if ((copy.block == int(k)) == own) {
                        at(k, copy.x, copy.y, copy.z) =
                            at(std::size_t(copy.block), copy.from[0], copy.from[1], copy.from[2]);
                    }
                }
            }
            for (std::size_t g = 0; g < plans_[k].wall_temperatures.size(); ++g) {
                const auto& wall = plans_[k].wall_temperatures[g];
                numbers_[k].at(std::size_t(wall.target)) =
                    wall.sign * numbers_[k].at(std::size_t(wall.source)) + plans_[k].wall_terms.value(g, domain);
            }
        }
    }

    double& at(std::size_t block, int x, int y, int z) {
        return numbers_[block].at(
            std::size_t(lbm::temperature_offset(placements_[block].address, Phase::TwoLattice, x, y, z)));
    }
    double of_cell(int x, int y, int z) const { return std::sin(double(domain_.cell(x, y, z))); }
    const TemperaturePlan& plan(std::size_t block) const { return plans_[block]; }
    std::vector<double>& numbers(std::size_t block) { return numbers_[block]; }

private:
    const Domain& domain_;
    std::vector<BlockPlacement> placements_;
    std::vector<std::vector<double>> numbers_;
    std::vector<TemperaturePlan> plans_;
};

/// What lies at a place of the box or beside it: periodic in y, mirrored in z, mirrored about its wall in x.
double expected(const Filled& filled, const Domain& domain, int x, int y, int z) {
    const int nx = domain.size[0], ny = domain.size[1], nz = domain.size[2];
    const double inside = filled.of_cell(std::clamp(x, 0, nx - 1), (y + ny) % ny, std::clamp(z, 0, nz - 1));
    return x < 0 ? 2 * 2 - inside : x >= nx ? 2 * 4 - inside : inside;
}

void check_around(const std::vector<int>& shape, const std::vector<lbm::engine::Block>& blocks) {
    const Setup setup = box_setup(shape);
    const Domain domain = box_of(setup);
    Filled filled(setup, domain, blocks);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        const int(&size)[3] = blocks[k].size;
        const int(&o)[3] = blocks[k].offset;
        for (int z = -1; z <= size[2]; ++z) {
            for (int y = -1; y <= size[1]; ++y) {
                for (int x = -1; x <= size[0]; ++x) {
                    const int outside =
                        int(x < 0 || x >= size[0]) + int(y < 0 || y >= size[1]) + int(z < 0 || z >= size[2]);
                    if (outside < 3) {  // no velocity leads to the corners
                        const double wanted = expected(filled, domain, o[0] + x, o[1] + y, o[2] + z);
                        CHECK_CLOSE(filled.at(k, x, y, z), wanted, 1e-15);
                    }
                }
            }
        }
    }
}

TEST(temperature_plan_fills_the_places_around_a_block) {
    check_around({5, 4, 3}, {{{0, 0, 0}, {5, 4, 3}, 0, "cpu"}});
    check_around({1, 1, 1}, {{{0, 0, 0}, {1, 1, 1}, 0, "cpu"}});
}

TEST(temperature_plan_fills_the_places_around_many_blocks) {
    std::vector<lbm::engine::Block> blocks;
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 2; ++x) {
                blocks.push_back({{3 * x, y, 2 * z}, {x == 0 ? 3 : 2, y == 0 ? 1 : 3, z == 0 ? 2 : 1}, 0, "cpu"});
            }
        }
    }
    check_around({5, 4, 3}, blocks);
}

/// An edge, a corner, a hole, a plate of one cell, and a body that goes on behind the periodic faces.
TEST(temperature_plan_lets_no_heat_through_adiabatic_bodies) {
    const Setup setup = box_setup({9, 8, 7});
    Domain domain = box_of(setup);
    domain.owner.assign(std::size_t(domain.cells()), lbm::engine::no_body);
    const auto fill = [&](int x0, int x1, int y0, int y1, int z0, int z1, std::uint16_t owner) {
        for (int z = z0; z < z1; ++z) {
            for (int y = y0; y < y1; ++y) {
                for (int x = x0; x < x1; ++x) {
                    domain.owner[std::size_t(domain.cell(x, y, z))] = owner;
                }
            }
        }
    };
    fill(2, 5, 2, 5, 1, 4, 0);
    fill(3, 4, 3, 4, 1, 2, lbm::engine::no_body);
    fill(6, 7, 0, 8, 2, 5, 0);
    fill(3, 6, 7, 8, 5, 6, 0);
    fill(4, 5, 0, 1, 5, 6, 0);
    domain.body_velocity.resize(1);
    domain.body_cuts.resize(1);
    domain.body_temperature.resize(1);
    Filled filled(setup, domain, {{{0, 0, 0}, {9, 8, 7}, 0, "cpu"}});
    const auto& address = lbm::backend::block_address(lbm::engine::block_spec(setup), lbm::backend::Device::Cpu);
    const lbm::backend::TemperatureView<double, double> view(filled.numbers(0).data(), address, Phase::TwoLattice);
    double sum = 0, largest = 0;
    for (const auto& sample : filled.plan(0).body_heat[0].samples) {
        const double heat = lbm::backend::sampled_heat(view, sample);
        sum += heat;
        largest = std::max(largest, std::abs(heat));
    }
    CHECK(largest > 1e-3);
    CHECK_CLOSE(sum, 0, 1e-14);
}

}  // namespace
