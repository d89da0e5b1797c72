// Tests of the checks of a layout and of a setup.
#include <limits>
#include <stdexcept>

#include "check.h"
#include "configurations.h"

namespace {

using lbm::engine::Block;
using lbm::engine::Layout;
using lbm::engine::Setup;

constexpr int shape[3] = {6, 4, 2};

Layout layout_of(std::vector<Block> blocks) { return Layout(shape, std::move(blocks)); }

template <class Change>
void refused(const std::string& why, Change&& change) {
    Setup setup = tests::small_setup("D3Q19");
    change(setup);
    CHECK_THROWS(std::invalid_argument, why, lbm::engine::Engine{setup});
}

}  // namespace

TEST(layout_single_block_is_the_domain) {
    const Layout layout = Layout::single(shape, "cpu");
    CHECK_EQUAL(layout.blocks().size(), 1U);
    for (int d = 0; d < 3; ++d) {
        CHECK_EQUAL(layout.blocks()[0].offset[d], 0);
        CHECK_EQUAL(layout.blocks()[0].size[d], shape[d]);
    }
}

TEST(layout_takes_unequal_blocks_that_tile) {
    const Layout layout = layout_of({{{0, 0, 0}, {5, 4, 2}, 0, "cpu"}, {{5, 0, 0}, {1, 4, 2}, 1, "cpu"}});
    CHECK_EQUAL(layout.blocks().size(), 2U);
}

TEST(layout_refuses_what_does_not_tile) {
    CHECK_THROWS(std::invalid_argument, "gap", layout_of({{{0, 0, 0}, {5, 4, 2}, 0, "cpu"}}));
    CHECK_THROWS(std::invalid_argument, "gap", layout_of({}));
    CHECK_THROWS(std::invalid_argument, "overlaps",
                 layout_of({{{0, 0, 0}, {5, 4, 2}, 0, "cpu"}, {{4, 0, 0}, {2, 4, 2}, 0, "cpu"}}));
    CHECK_THROWS(std::invalid_argument, "inside", layout_of({{{0, 0, 0}, {7, 4, 2}, 0, "cpu"}}));
    CHECK_THROWS(std::invalid_argument, "inside", layout_of({{{-1, 0, 0}, {6, 4, 2}, 0, "cpu"}}));
    CHECK_THROWS(std::invalid_argument, "inside", layout_of({{{0, 0, 0}, {6, 4, 0}, 0, "cpu"}}));
}

TEST(layout_setup_refuses_what_cannot_be) {
    refused("'cube' is not one of 'D2Q9'", [](Setup& s) { s.stencil = "cube"; });
    refused("collision: 'srt'", [](Setup& s) { s.collision = "srt"; });
    refused("precision: 'float16' is for storage", [](Setup& s) { s.precision = "float16"; });
    refused("wider", [](Setup& s) { s.precision = "float32"; });
    refused("streaming", [](Setup& s) { s.streaming = "push"; });
    refused("takes 3 sizes, not 2", [](Setup& s) { s.shape = {4, 4}; });
    refused("takes 3 sizes, not 8", [](Setup& s) {  // before the faces of the eighth are looked at
        s.shape = std::vector<int>(8, 4);
        s.faces = std::vector<std::string>(16, "periodic");
    });
    constexpr int huge = std::numeric_limits<int>::max();
    for (const int size : {0, -4, huge, -huge - 1}) {
        refused("shape: " + std::to_string(size) + " cells along an axis given", [&](Setup& s) {
            s.shape = {4, size, 4};
        });
    }
    refused("fewer than 2^50", [](Setup& s) { s.shape = std::vector<int>(3, 1 << 30); });
    refused("viscosity", [](Setup& s) { s.parameters["viscosity"] = double(0); });
    refused("viscosity",
            [](Setup& s) { s.parameters["viscosity"] = double(std::numeric_limits<double>::quiet_NaN()); });
    refused("magic", [](Setup& s) { s.parameters["magic"] = double(-1); });
    refused("smagorinsky", [](Setup& s) { s.parameters["smagorinsky"] = double(-0.1); });
    refused("rates: neither an argument of the engine nor a parameter of collision 'bgk'", [](Setup& s) {
        s.parameters["rates"] = std::map<std::string, double>{{"e", 1.0}};
    });
    refused("rates: 'nu' is not one of", [](Setup& s) {
        s.collision = "mrt";
        s.parameters["rates"] = std::map<std::string, double>{{"nu", 1.0}};
    });
    refused("not between 0 and 2", [](Setup& s) {
        s.collision = "mrt";
        s.parameters["rates"] = std::map<std::string, double>{{"e", 2.0}};
    });
    refused("faces: 6 are needed", [](Setup& s) { s.faces = {"periodic"}; });
    refused("faces: 'wall'", [](Setup& s) { s.faces = std::vector<std::string>(6, "wall"); });
    refused("both faces of an axis", [](Setup& s) {
        s.faces = tests::faces_of(3, {"periodic/no-slip", "no-slip", "no-slip"});
    });
    refused("threads: -1 given", [](Setup& s) { s.device.threads = -1; });
    refused("threads: 2147483647 given", [](Setup& s) { s.device.threads = huge; });
    refused("isa: this build or processor", [](Setup& s) { s.device.isa = "avx1024"; });
}

TEST(layout_sizes_that_cannot_be_counted_are_refused) {
    constexpr int huge = std::numeric_limits<int>::max();
    const int shapes[][3] = {{0, 1, 1}, {huge, huge, huge}, {1 << 30, 1 << 30, 1}, {-1, -1, 1}};
    for (const int(&sizes)[3] : shapes) {
        CHECK_THROWS(std::invalid_argument, "shape: ", Layout(sizes, {}));
        CHECK_THROWS(std::invalid_argument, "shape: ", Layout::single(sizes, "cpu"));
    }
    const int largest[3] = {1 << 30, 1 << 16, 1};
    CHECK_EQUAL(Layout::single(largest, "cpu").blocks()[0].cells(), lbm::Index(1) << 46);
}

TEST(layout_memory_is_known_before_it_is_allocated) {
    Setup setup = tests::small_setup("D3Q19");
    const std::size_t one = lbm::engine::Engine::memory_needed(setup).at("cpu");
    CHECK(one >= std::size_t(19) * 19 * 5 * 4 * 8);
    setup.streaming = "two-lattice";
    const std::size_t two = lbm::engine::Engine::memory_needed(setup).at("cpu");
    CHECK(two <= 2 * one);  // a lattice of two has x-face buffers of one phase, one alone those of two
    CHECK(two > one * 19 / 10);
    setup.shape = {3000, 3000, 3000};
    CHECK(lbm::engine::Engine::memory_needed(setup).at("cpu") > std::size_t(2) * 19 * 27000000000U * 8);
}
