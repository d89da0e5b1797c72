// Tests the slabs in which a block is updated whose two lattices overlap: none overwrites layers that another one still
// reads, in whatever order those that may be updated side by side are.
#include <algorithm>
#include <string>
#include <vector>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/moment_kind.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Address;
using lbm::backend::BlockSpec;
using lbm::backend::Device;
using lbm::backend::RowBox;
using lbm::backend::Slabs;

BlockSpec spec_of(const std::string& stencil, int layers, bool overlap) {
    const bool plane = stencil == "D2Q9";
    lbm::engine::Setup setup = tests::small_setup(stencil);
    setup.collision = "regularized";
    setup.shape = plane ? std::vector{20, layers} : std::vector{20, 10, layers};
    const auto& solid = overlap ? lbm::backend::moment_state_in_place : lbm::backend::moment_state;
    const auto& flat = overlap ? lbm::backend::moment_state_in_place_2d : lbm::backend::moment_state_2d;
    setup.state = plane ? &flat : &solid;
    return lbm::engine::block_spec(setup);
}

/// The first layer of a slab, and the one behind its last one.
struct Span {
    int first, end;
};
std::vector<Span> spans_of(const Slabs& slabs, int D, int layers) {
    std::vector<Span> spans;
    for (int k = 0; k < slabs.count; ++k) {
        const RowBox rows = slabs.rows(k, D, D == 3 ? 10 : layers, D == 3 ? layers : 1);
        spans.push_back(D == 3 ? Span{rows.z, rows.z + rows.nz} : Span{rows.y, rows.y + rows.ny});
    }
    return spans;
}

/// Whether spans have a layer in common.
bool meet(const Span& one, const Span& other) { return one.first < other.end && other.first < one.end; }

}  // namespace

TEST(slabs_overwrite_nothing_that_others_read) {
    for (const std::string& stencil : {std::string("D2Q9"), std::string("D3Q19")}) {
        const int D = stencil == "D2Q9" ? 2 : 3, depth = D == 2 ? 6 : 2;
        for (int layers = 1; layers < 700; layers += layers < 150 ? 1 : 13) {
            for (const Device device : {Device::Cpu, Device::Gpu}) {
                const Slabs slabs = slabs_of(spec_of(stencil, layers, true), device);
                const std::vector<Span> spans = spans_of(slabs, D, layers);
                CHECK_EQUAL(spans.front().first, 0);
                CHECK_EQUAL(spans.back().end, layers);
                CHECK(slabs.at_once <= slabs.count);
                for (std::size_t k = 0; k < spans.size(); ++k) {
                    CHECK(spans[k].first < spans[k].end);
                    CHECK(k == 0 || spans[k].first == spans[k - 1].end);
                }
                for (const bool ascends : {true, false}) {
                    // The source begins as many layers behind the target, or before it.
                    const int shift = ascends ? slabs.shift : -slabs.shift;
                    const auto in_order = [&](int k) { return spans[std::size_t(ascends ? k : slabs.count - 1 - k)]; };
                    for (int writer = 0; writer < slabs.count; ++writer) {
                        // All later ones, itself and those beside which it is updated have not read all yet.
                        for (int reader = std::max(writer - slabs.at_once + 1, 0); reader < slabs.count; ++reader) {
                            const Span from = in_order(reader);
                            const Span read{from.first - depth + shift, from.end + depth + shift};
                            CHECK(!meet(in_order(writer), read));
                        }
                    }
                }
            }
        }
    }
}

TEST(slabs_take_little_more_memory_than_one_lattice) {
    for (const std::string& stencil : {std::string("D2Q9"), std::string("D3Q19")}) {
        const double most = stencil == "D2Q9" ? 1.28 : 1.19;
        for (const int layers : {512, 700, 1024}) {
            for (const Device device : {Device::Cpu, Device::Gpu}) {
                const double two = double(block_bytes(spec_of(stencil, layers, false), device));
                CHECK(double(block_bytes(spec_of(stencil, layers, true), device)) < most * two / 2);
            }
        }
    }
}

TEST(slabs_have_halo_layers_along_their_axis_alone) {
    const Address a = block_address(spec_of("D3Q19", 40, true), Device::Gpu);
    CHECK(a.self_periodic[0] && a.self_periodic[1] && !a.self_periodic[2]);
    const Address flat = block_address(spec_of("D2Q9", 40, true), Device::Cpu);
    CHECK(flat.self_periodic[0] && !flat.self_periodic[1]);
}
