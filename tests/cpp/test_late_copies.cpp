// Tests late interiors: which rows they have, and which copies are made after them.
#include <algorithm>
#include <map>
#include <utility>

#include "../../src/cpp/backend/devices.h"
#include "../../src/cpp/engine/boundary_halo_plan.h"
#include "../../src/cpp/engine/interior.h"
#include "../../src/cpp/engine/late_copies.h"
#include "../../src/cpp/lattice/links.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::D3Q19;
using lbm::Index;
using lbm::Phase;
using lbm::post_streaming_offset;
using lbm::backend::BlockSpec;
using lbm::backend::CopyRun;
using lbm::backend::Interior;
using lbm::backend::RowBox;
using lbm::backend::Shell;
using lbm::engine::Block;
using lbm::engine::BlockPlacement;
using lbm::engine::BoundaryHaloPlan;
using lbm::engine::Domain;
using lbm::engine::LateCopies;

/// A domain in blocks on GPUs, with the placements that the engine gives them.
struct Whole {
    Domain domain;
    BlockSpec spec;
    std::vector<Block> blocks;
    std::vector<BlockPlacement> placements{};
    std::vector<Phase> phases = lbm::backend::phases_of(spec);

    Interior interior_of(const Block& block) const { return lbm::engine::interior_of(domain, spec, block, true); }
    void place() {
        for (const Block& block : blocks) {
            const int(&offset)[3] = block.offset;
            placements.push_back({{offset[0], offset[1], offset[2]},
                                  lbm::backend::block_address(lbm::engine::part_of(spec, block), block.device)});
            const Interior interior = interior_of(block);
            placements.back().late_rows = interior.defers_ends ? interior.rows : RowBox{};
        }
    }
    BoundaryHaloPlan plan(int block) const { return {domain, placements, block, phases}; }
    LateCopies late(const BoundaryHaloPlan& plan, int to, const BoundaryHaloPlan::Import& import) const {
        return {import.copies, phases, placements[std::size_t(import.from)], placements[std::size_t(to)], plan.links()};
    }
    /// Whether late interiors are possible for all imports of all blocks.
    bool is_possible() const {
        bool all = true;
        for (int to = 0; to < int(blocks.size()); ++to) {
            const BoundaryHaloPlan own = plan(to);
            for (const BoundaryHaloPlan::Import& import : own.imports()) {
                all = late(own, to, import).are_possible && all;
            }
        }
        return all;
    }
};

Whole whole_of(const std::string& stencil, const std::string& streaming, std::vector<int> shape,
               const std::vector<std::string>& by_axis, const std::vector<Block>& blocks) {
    lbm::engine::Setup setup = tests::small_setup(stencil);
    setup.streaming = streaming;
    setup.shape = std::move(shape);
    setup.faces = tests::faces_of(int(setup.shape.size()), by_axis);
    Whole whole{lbm::engine::make_domain(setup), lbm::engine::block_spec(setup), blocks};
    whole.place();
    return whole;
}

/// The blocks of a cut into equal parts.
std::vector<Block> cut(const std::vector<int>& shape, const std::vector<int>& parts) {
    std::vector<Block> blocks;
    const int size[3] = {shape[0] / parts[0], shape[1] / parts[1], shape[2] / parts[2]};
    for (int z = 0; z < parts[2]; ++z) {
        for (int y = 0; y < parts[1]; ++y) {
            for (int x = 0; x < parts[0]; ++x) {
                blocks.push_back({{x * size[0], y * size[1], z * size[2]}, {size[0], size[1], size[2]}, 0, "cuda:0"});
            }
        }
    }
    return blocks;
}

/// The source of each target of a list of copies.
std::map<Index, Index> each(const std::vector<CopyRun>& runs) {
    std::map<Index, Index> sources;
    for (const CopyRun& run : runs) {
        for (Index k = 0; k < run.count; ++k) {
            CHECK(sources.emplace(run.target + k * run.target_stride, run.source + k * run.source_stride).second);
        }
    }
    return sources;
}

void check_rows(const RowBox& found, const RowBox& expected) {
    CHECK_EQUAL(found.y, expected.y);
    CHECK_EQUAL(found.z, expected.z);
    CHECK_EQUAL(found.ny, expected.ny);
    CHECK_EQUAL(found.nz, expected.nz);
}

/// Checks what the first comment of late_copies.h says of the copies of an import.
void check_copies(const Whole& whole, int to, const BoundaryHaloPlan::Import& import, const LateCopies& parts) {
    const BlockPlacement &own = whole.placements[std::size_t(to)], &other = whole.placements[std::size_t(import.from)];
    const RowBox waiting = own.late_rows.grown(own.address.ny, own.address.nz);
    for (const Phase phase : whole.phases) {
        std::map<Index, Index> all = each(import.copies[phase]);
        const std::map<Index, Index> early = each(parts.early[phase]), late = each(parts.late[phase]);
        CHECK_EQUAL(early.size() + late.size(), all.size());
        for (const auto& [target, source] : early) {
            CHECK_EQUAL(all.at(target), source);
            CHECK(!other.is_at_end_of(other.late_rows, source));
            CHECK(!own.is_at_end_of(own.late_rows, target));
        }
        for (const auto& [target, source] : late) {
            CHECK_EQUAL(all.at(target), source);
            CHECK(own.is_at_end_of(waiting, target));
            CHECK(other.is_at_end_of({0, 0, other.address.ny, other.address.nz}, source));
        }
    }
}

}  // namespace

TEST(late_copies_of_half_of_the_layers) {
    const auto interior = [](const std::vector<std::string>& by_axis, const Block& block) {
        return whole_of("D3Q19", "in-place", {40, 20, 24}, by_axis, {block}).interior_of(block);
    };
    const auto late_rows = [&](const std::vector<std::string>& by_axis, const Block& block) {
        return interior(by_axis, block).rows;
    };
    const std::vector<std::string> walls = {"no-slip", "no-slip", "no-slip"}, periodic(3, "periodic");
    check_rows(late_rows(walls, {{0, 0, 0}, {20, 20, 24}, 0, "cuda:0"}), {0, 12, 20, 12});
    check_rows(late_rows(walls, {{0, 0, 0}, {20, 10, 12}, 0, "cuda:0"}), {0, 5, 9, 6});
    // All but the last layer before a periodic face, which is beside the first one.
    check_rows(late_rows(periodic, {{0, 0, 0}, {20, 20, 24}, 0, "cuda:0"}), {0, 12, 20, 11});
    check_rows(late_rows(periodic, {{0, 10, 12}, {20, 10, 12}, 0, "cuda:0"}), {1, 6, 8, 5});
    // Rows of a layer where there are few layers, none where there are few of either, whole ones where none are cut.
    check_rows(late_rows(walls, {{0, 0, 0}, {20, 20, 8}, 0, "cuda:0"}), {10, 0, 10, 7});
    check_rows(late_rows(walls, {{0, 0, 0}, {20, 8, 8}, 0, "cuda:0"}), {0, 0, 0, 0});
    check_rows(late_rows(walls, {{0, 0, 0}, {40, 20, 12}, 0, "cuda:0"}), {0, 0, 20, 11});
    CHECK(interior(walls, {{0, 0, 0}, {20, 20, 24}, 0, "cuda:0"}).defers_ends);
    CHECK(!interior(walls, {{0, 0, 0}, {40, 20, 12}, 0, "cuda:0"}).defers_ends);
    CHECK(!interior(walls, {{0, 0, 0}, {20, 20, 24}, 0, "cpu"}).defers_ends);
}

TEST(late_copies_leave_all_rows_to_shell_rows_beside_and_interior_once) {
    for (const int ny : {1, 2, 5}) {
        for (const int nz : {9, 12}) {
            for (const RowBox& late : {RowBox{0, 4, ny, nz - 4}, RowBox{0, 5, ny, nz - 6}, RowBox{ny / 2, 4, 1, 3}}) {
                const Interior interior{late, 0, 7, true};
                const RowBox nearby = interior.with_adjacent_rows(ny, nz);
                std::vector<int> count(std::size_t(ny) * std::size_t(nz));
                const auto add = [&](const RowBox& box) {
                    for (int l = 0; l < box.nz; ++l) {
                        for (int k = 0; k < box.ny; ++k) {
                            ++count[std::size_t(box.z + l * box.step_z) * std::size_t(ny) +
                                    std::size_t(box.y + k * box.step_y)];
                        }
                    }
                };
                for (const Shell& shell : {Shell(ny, nz, nearby), Shell(nearby, late)}) {
                    std::for_each(shell.boxes, shell.boxes + shell.count, add);
                }
                add(late);
                CHECK(std::all_of(count.begin(), count.end(), [](int times) { return times == 1; }));
            }
        }
    }
    CHECK_EQUAL(Shell({2, 3, 4, 5}, {2, 3, 4, 5}).count, 0);
    CHECK_EQUAL(Shell(RowBox{}, RowBox{}).count, 0);
}

TEST(late_copies_are_those_at_the_ends_of_late_rows) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        for (const std::string& streaming : tests::all_streamings) {
            for (const char* const across : {"periodic", "free-slip", "no-slip", "moving-wall"}) {
                for (const std::vector<int>& parts : {std::vector{2, 1, 1}, {2, 2, 1}, {2, 1, 2}, {3, 2, 2}}) {
                    const bool flat = S::D == 2;
                    const std::vector<int> shape = {12, 24, flat ? 1 : 22};
                    const std::vector<Block> blocks = cut(shape, {parts[0], parts[1], flat ? 1 : parts[2]});
                    const Whole whole = whole_of(S::name, streaming, {shape.begin(), shape.begin() + S::D},
                                                 {"periodic", across, "periodic"}, blocks);
                    bool any = false;
                    for (int to = 0; to < int(blocks.size()); ++to) {
                        const BoundaryHaloPlan plan = whole.plan(to);
                        for (const BoundaryHaloPlan::Import& import : plan.imports()) {
                            const LateCopies found = whole.late(plan, to, import);
                            CHECK(found.are_possible);
                            check_copies(whole, to, import, found);
                            any = any || !found.late[whole.phases.front()].empty();
                        }
                    }
                    CHECK(any);
                }
            }
        }
    });
}

TEST(late_copies_are_not_possible_where_boundaries_or_other_rows_need_them) {
    const auto is_possible = [](const std::string& across, const std::vector<Block>& blocks) {
        return whole_of("D3Q19", "in-place", {24, 24, 24}, {"no-slip", across, "no-slip"}, blocks).is_possible();
    };
    const std::vector<Block> halves = cut({24, 24, 24}, {2, 1, 1});
    CHECK(is_possible("no-slip", halves));
    CHECK(is_possible("velocity-inlet/pressure-outlet", halves));
    CHECK(!is_possible("velocity-inlet/outflow", halves));  // formulas take numbers of the other block
    const std::vector<Block> uneven = {{{0, 0, 0}, {12, 24, 24}, 0, "cuda:0"},
                                       {{12, 0, 0}, {12, 24, 10}, 0, "cuda:0"},
                                       {{12, 0, 10}, {12, 24, 14}, 0, "cuda:0"}};
    CHECK(!is_possible("no-slip", uneven));
}

TEST(late_copies_are_not_possible_where_cells_at_the_ends_of_late_rows_read_what_has_streamed_in) {
    const Whole whole =
        whole_of("D3Q19", "two-lattice", {24, 24, 24}, {"no-slip", "no-slip", "no-slip"}, cut({24, 24, 24}, {2, 1, 1}));
    const BoundaryHaloPlan plan = whole.plan(0);
    const BoundaryHaloPlan::Import& import = plan.imports().front();
    const auto is_possible = [&](int x, int y, int z) {
        const auto with = [&](auto add) {
            lbm::backend::LinkPlan boundaries = plan.links();
            add(boundaries);
            return LateCopies(import.copies, whole.phases, whole.placements[1], whole.placements[0], boundaries)
                .are_possible;
        };
        const bool first = with([&](auto& all) {
            for (const Phase phase : whole.phases) {
                for (int i = 1; i < D3Q19::Q; ++i) {
                    const Index streamed = post_streaming_offset<D3Q19>(whole.placements[0].address, phase, x, y, z, i);
                    all.cut_places[phase].push_back({-1, -1, streamed, -1});
                }
            }
        });
        const bool second = with([&](auto& all) {
            lbm::backend::BoundaryCell cell{};
            cell.x = x, cell.y = y, cell.z = z;
            all.boundary_cells.push_back(cell);
        });
        const bool third = with([&](auto& all) {
            lbm::backend::SpongeCell cell{};
            cell.x = x, cell.y = y, cell.z = z;
            all.sponge_cells.push_back(cell);
        });
        CHECK_EQUAL(first, second);
        CHECK_EQUAL(first, third);
        return first;
    };
    CHECK(!is_possible(11, 0, 20));
    CHECK(!is_possible(11, 23, 11));  // beside late rows
    CHECK(is_possible(10, 0, 20));
    CHECK(is_possible(0, 0, 20));  // at the end where there is no other block
    CHECK(is_possible(11, 0, 10));
}
