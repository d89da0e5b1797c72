// Tests of the stencils, the streaming rules, and the address of every link.
#include <algorithm>
#include <set>
#include <vector>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/moment_kind.h"
#include "../../src/cpp/lattice/boundary/all.h"
#include "../../src/cpp/lattice/collisions/mrt_rates.h"
#include "../../src/cpp/lattice/links.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Address;
using lbm::Index;
using lbm::Phase;
using lbm::Stencil;

template <class S>
Address address_of(int nx, int ny, int nz, bool in_place = true) {
    lbm::backend::BlockSpec spec{};
    spec.stencil = tests::kind_of<S>();
    spec.storage = lbm::backend::NumberKind::Float32;
    spec.state = in_place ? &lbm::backend::state_kind<lbm::InPlace> : &lbm::backend::state_kind<lbm::TwoLattice>;
    spec.size[0] = nx;
    spec.size[1] = ny;
    spec.size[2] = S::D == 3 ? nz : 1;
    return lbm::backend::block_address(spec, lbm::backend::Device::Cpu);
}

template <class Visit>
void for_cells(const Address& a, Visit&& visit) {
    for (int z = 0; z < a.nz; ++z) {
        for (int y = 0; y < a.ny; ++y) {
            for (int x = 0; x < a.nx; ++x) {
                visit(x, y, z);
            }
        }
    }
}

}  // namespace

TEST(lattice_stencils_pair_opposite_velocities) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        using T = Stencil<S>;
        double mass = 0;
        for (int i = 0; i < S::Q; ++i) {
            mass += T::w(i);
            CHECK_EQUAL(T::opposite(T::opposite(i)), i);
            for (int axis = 0; axis < 3; ++axis) {
                CHECK_EQUAL(S::c[T::opposite(i)][axis], -S::c[i][axis]);
            }
            for (int axis = 0; axis < S::D; ++axis) {
                const int mirrored = T::mirror(i, axis);
                CHECK_EQUAL(T::mirror(mirrored, axis), i);
                for (int d = 0; d < 3; ++d) {
                    CHECK_EQUAL(S::c[mirrored][d], d == axis ? -S::c[i][d] : S::c[i][d]);
                }
            }
        }
        CHECK_CLOSE(mass, 1, 1e-15);
    });
}

TEST(lattice_crossing_ranks_count_each_direction) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        for (const int direction : {-1, 1}) {
            int next = 0;
            for (int i = 0; i < S::Q; ++i) {
                if (S::c[i][0] == direction) {
                    CHECK_EQUAL(Stencil<S>::rank_through_x_face(i), next++);
                }
            }
            CHECK_EQUAL(next, Stencil<S>::through_x_face);
        }
    });
}

TEST(lattice_mrt_bases_name_and_group_every_moment) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        using Basis = lbm::MomentBasis<S>;
        std::set<std::string> names;
        int conserved = 0;
        for (int k = 0; k < S::Q; ++k) {
            names.insert(Basis::name[k]);
            CHECK(Basis::group_of[k] >= 0 && Basis::group_of[k] < Basis::groups);
            conserved += lbm::Moment<S>::conserved(k) ? 1 : 0;
        }
        CHECK_EQUAL(names.size(), std::size_t(S::Q));
        CHECK_EQUAL(conserved, S::D + 1);
    });
}

TEST(lattice_every_population_has_a_place_of_its_own) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        for (const int nx : {1, 2, 33}) {
            const Address a = address_of<S>(nx, 3, 2);
            const Index elements = a.x_face_end();
            for (const Phase phase : {Phase::TwoLattice, Phase::AAEven, Phase::AAOdd}) {
                std::set<Index> left;
                std::set<Index> found;
                for_cells(a, [&](int x, int y, int z) {
                    for (int i = 0; i < S::Q; ++i) {
                        for (const Index at : {lbm::post_collision_offset<S>(a, phase, x, y, z, i),
                                               lbm::post_streaming_offset<S>(a, phase, x, y, z, i)}) {
                            CHECK(at >= 0 && at < elements);
                        }
                        left.insert(lbm::post_collision_offset<S>(a, phase, x, y, z, i));
                        found.insert(lbm::post_streaming_offset<S>(a, phase, x, y, z, i));
                    }
                });
                CHECK_EQUAL(left.size(), std::size_t(a.nx) * a.ny * a.nz * S::Q);
                CHECK_EQUAL(found.size(), left.size());
            }
        }
    });
}

TEST(lattice_inside_a_block_streaming_moves_nothing_twice) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        const Address a = address_of<S>(5, 4, 3);
        for (const Phase phase : {Phase::TwoLattice, Phase::AAEven, Phase::AAOdd}) {
            for_cells(a, [&](int x, int y, int z) {
                for (int i = 0; i < S::Q; ++i) {
                    const int from[3] = {x - S::c[i][0], y - S::c[i][1], z - S::c[i][2]};
                    if (from[0] < 0 || from[0] >= a.nx || from[1] < 0 || from[1] >= a.ny || from[2] < 0 ||
                        from[2] >= a.nz) {
                        continue;
                    }
                    CHECK_EQUAL(lbm::post_streaming_offset<S>(a, phase, x, y, z, i),
                                lbm::post_collision_offset<S>(a, phase, from[0], from[1], from[2], i));
                }
            });
        }
    });
}

TEST(lattice_rows_are_aligned_and_avoid_powers_of_two) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        for (const int nx : {1, 31, 32, 33, 255, 256, 257, 1024}) {
            const Address a = address_of<S>(nx, 3, 2);
            CHECK(a.pitch >= nx);
            CHECK_EQUAL(a.pitch * 4 % 128, 0);
            CHECK(a.pitch * 4 % 1024 != 0);
            for (int i = 0; i < S::Q; ++i) {
                CHECK_EQUAL(a.row(1, 0, i) * 4 % 128, 0);
            }
        }
    });
}

TEST(lattice_moments_lie_in_aligned_pairs_apart_from_those_of_all_other_cells) {
    using lbm::backend::Device;
    using lbm::backend::NumberKind;
    constexpr int vector_bytes = 16;
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        for (const Device device : {Device::Cpu, Device::Gpu}) {
            for (const NumberKind precision : {NumberKind::Float32, NumberKind::Float64}) {
                for (const int nx : {1, 20, 52, 64}) {
                    lbm::backend::BlockSpec spec{};
                    spec.stencil = tests::kind_of<S>();
                    spec.precision = spec.storage = precision;
                    spec.state = S::D == 3 ? &lbm::backend::moment_state : &lbm::backend::moment_state_2d;
                    const int size[3] = {nx, 3, S::D == 3 ? 2 : 1};
                    std::copy(size, size + 3, spec.size);
                    const Address a = lbm::backend::block_address(spec, device);
                    const auto element = Index(lbm::backend::size_of(precision));
                    const Index end = Index(lbm::backend::lattice_bytes(spec, device)) / element;
                    std::set<Index> places;
                    Index count = 0;
                    for (int z = -a.halo_z; z < a.nz + a.halo_z; ++z) {
                        for (int y = -a.halo_y; y < a.ny + a.halo_y; ++y) {
                            for (int x = -a.halo_x; x < a.nx + a.halo_x; ++x) {
                                for (int k = 0; k < lbm::moment_count<S>; ++k) {
                                    const Index at = a.row(y, z, 0) + lbm::moment_place(k, x, a.population_stride);
                                    CHECK(at >= 0 && at < end);
                                    const bool begins_vector = k % 2 == 0 && 2 * x * element % vector_bytes == 0;
                                    CHECK(!begins_vector || at * element % vector_bytes == 0);
                                    places.insert(at);
                                    ++count;
                                }
                            }
                        }
                    }
                    CHECK_EQUAL(Index(places.size()), count);
                }
            }
        }
    });
}

TEST(lattice_parts_of_the_cube_relax_as_the_moments_do) {
    tests::for_stencils([](auto s) {
        using S = decltype(s);
        using M = lbm::Moment<S>;
        constexpr int pairs = lbm::Stencil<S>::pairs;
        double rate[S::Q];
        for (int k = 0; k < S::Q; ++k) {
            rate[k] = 1 + 0.1 * M::Basis::group_of[k];
        }
        double n[S::Q];
        for (int i = 0; i < S::Q; ++i) {
            n[i] = tests::noise(7, std::uint64_t(i));
        }
        // Without mass and momentum.
        double relaxed[S::Q] = {};
        for (int k = 0; k < S::Q; ++k) {
            double moment = 0;
            for (int i = 0; i < S::Q; ++i) {
                moment += M::value(k, i) * n[i];
            }
            for (int i = 0; i < S::Q; ++i) {
                const double part = moment * M::value(k, i) / M::norm2(k);
                n[i] -= M::conserved(k) ? part : 0;
                relaxed[i] += M::conserved(k) ? 0 : rate[k] * part;
            }
        }
        lbm::PairSums<S, double> sums;
        for (int p = 0; p < pairs; ++p) {
            sums.even[p] = n[2 * p + 1] + n[2 * p + 2];
            sums.odd[p] = n[2 * p + 1] - n[2 * p + 2];
        }
        lbm::PairChange<S, double> change = lbm::relax_parts(sums, lbm::cubic_rates<S>(rate));
        const double no_momentum[S::D] = {};
        lbm::enforce_conservation<S>(change, no_momentum);
        CHECK_CLOSE(change.rest, -relaxed[0], 1e-14);
        for (int p = 0; p < pairs; ++p) {
            CHECK_CLOSE(change.even[p] + change.odd[p], -relaxed[2 * p + 1], 1e-14);
            CHECK_CLOSE(change.even[p] - change.odd[p], -relaxed[2 * p + 2], 1e-14);
        }
    });
}

TEST(lattice_offsets_hold_more_than_2_to_the_32_elements) {
    const Address a = address_of<lbm::D3Q27>(1000, 1000, 1000);
    CHECK(a.row(999, 999, 26) > Index(27) * 1000 * 1000 * 1000);
}

TEST(lattice_walls_reflect_what_theory_says) {
    struct PostCollision {
        double towards_the_wall;
        double outgoing() const { return towards_the_wall; }
    };
    using S = lbm::D3Q19;
    namespace boundary = lbm::boundary;
    const boundary::CellMoments<double> rest{1.5, {0, 0, 0}, 0, 1}, incompressible{1.5, {0, 0, 0}, 0, 0};
    CHECK_EQUAL(boundary::VelocityInlet::incoming<S>(boundary::Link<double>{1, 0.0}, rest, PostCollision{0.25}), 0.25);
    CHECK_CLOSE(boundary::VelocityInlet::incoming<S>(boundary::Link<double>{1, 0.1}, rest, PostCollision{0.25}), 0.4,
                1e-15);
    CHECK_CLOSE(
        boundary::VelocityInlet::incoming<S>(boundary::Link<double>{1, 0.1}, incompressible, PostCollision{0.25}), 0.35,
        1e-15);
    CHECK_CLOSE(boundary::MovingWall::incoming<S>(boundary::Link<double>{1, 0.1}, rest, PostCollision{0.25}), 0.35,
                1e-15);
    // A fluid at rest at the wall's density reflects its own deviation.
    const double w = 1.0 / 18;
    CHECK_CLOSE(boundary::PressureOutlet::incoming<S>(boundary::Link<double>{1, 1.1}, rest, PostCollision{w * 0.1}),
                w * 0.1, 1e-16);
}
