// Tests of the halo plan: after its copies every population that arrives is the one that the conditions say.
#include <tuple>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/engine/boundary_halo_plan.h"
#include "../../src/cpp/engine/link_resolver.h"
#include "../../src/cpp/lattice/links.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Address;
using lbm::Index;
using lbm::Phase;
using lbm::backend::Device;
using lbm::engine::BoundaryHaloPlan;
using lbm::engine::Domain;
using lbm::engine::FaceKind;
using lbm::engine::Setup;

/// A lattice whose numbers name the link that left them: position in a dense array of (cell, velocity), from 1.
template <class S>
class Named {
public:
    Named(const Domain& domain, bool in_place, Phase phase, Device device = Device::Cpu)
        : domain_(domain), phase_(phase) {
        lbm::backend::BlockSpec spec{};
        spec.stencil = domain.stencil;
        spec.storage = lbm::backend::NumberKind::Float64;
        spec.state = in_place ? &lbm::backend::state_kind<lbm::InPlace> : &lbm::backend::state_kind<lbm::TwoLattice>;
        std::copy(domain.size, domain.size + 3, spec.size);
        for (int d = 0; d < domain.D; ++d) {
            spec.self_periodic[d] = lbm::engine::is_periodic(domain.faces[2 * d]);
        }
        address_ = lbm::backend::block_address(spec, device);
        numbers_.assign(std::size_t(address_.x_face_end()), 0);
        for_links([&](int x, int y, int z, int i) {
            numbers_.at(std::size_t(lbm::post_collision_offset<S>(address_, phase_, x, y, z, i))) = name(x, y, z, i);
        });
    }

    void fill(const BoundaryHaloPlan& plan) {
        for (const lbm::backend::CopyRun& run : plan.links().copies[phase_]) {
            for (int k = 0; k < run.count; ++k) {
                numbers_.at(std::size_t(run.target + k * run.target_stride)) =
                    numbers_.at(std::size_t(run.source + k * run.source_stride));
            }
        }
    }

    Index post_streaming(int x, int y, int z, int i) const {
        return numbers_.at(std::size_t(lbm::post_streaming_offset<S>(address_, phase_, x, y, z, i)));
    }

    Index name(int x, int y, int z, int i) const { return domain_.cell(x, y, z) * S::Q + i + 1; }

    template <class Visit>
    void for_links(Visit&& visit) const {
        for (int z = 0; z < domain_.size[2]; ++z) {
            for (int y = 0; y < domain_.size[1]; ++y) {
                for (int x = 0; x < domain_.size[0]; ++x) {
                    for (int i = 0; i < S::Q; ++i) {
                        visit(x, y, z, i);
                    }
                }
            }
        }
    }

    const Address& address() const { return address_; }

private:
    const Domain& domain_;
    Phase phase_;
    Address address_;
    std::vector<Index> numbers_;
};

/// Calls with the stencil, its domain, and each phase of both streamings, laid out for a CPU and, with periodic axes
/// wrapped, for a GPU.
template <class Check>
void for_phases(const std::vector<std::string>& by_axis, const std::vector<int>& size, Check&& check) {
    tests::for_stencils([&](auto s) {
        using S = decltype(s);
        Setup setup = tests::small_setup(S::name);
        setup.shape.assign(size.begin(), size.begin() + S::D);
        setup.faces = tests::faces_of(S::D, by_axis);
        Domain domain = lbm::engine::make_domain(setup);
        for (const Phase phase : {Phase::TwoLattice, Phase::AAEven, Phase::AAOdd}) {
            const bool in_place = phase != Phase::TwoLattice;
            for (const Device device : {Device::Cpu, Device::Gpu}) {
                Named<S> lattice(domain, in_place, phase, device);
                check(s, domain, lattice, phase);
            }
        }
    });
}

int wrapped(int at, int n) { return (at + n) % n; }

}  // namespace

TEST(boundary_halo_plan_periodic_faces_bring_the_other_side) {
    for (const std::vector<int>& size : {std::vector{7, 4, 3}, {1, 1, 1}, {1, 5, 2}, {2, 1, 3}}) {
        for_phases(
            {"periodic", "periodic", "periodic"}, size, [](auto s, const Domain& domain, auto& lattice, Phase phase) {
                using S = decltype(s);
                const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
                CHECK(!lattice.address().self_periodic[0] || plan.links().copies[phase].empty());
                lattice.fill(plan);
                lattice.for_links([&](int x, int y, int z, int i) {
                    const int* c = S::c[i];
                    CHECK_EQUAL(lattice.post_streaming(x, y, z, i),
                                lattice.name(wrapped(x - c[0], domain.size[0]), wrapped(y - c[1], domain.size[1]),
                                             wrapped(z - c[2], domain.size[2]), i));
                });
            });
    }
}

TEST(boundary_halo_plan_walls_return_the_opposite_population) {
    for_phases({"no-slip", "no-slip", "no-slip"}, {7, 4, 3},
               [](auto s, const Domain& domain, auto& lattice, Phase phase) {
                   using S = decltype(s);
                   const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
                   CHECK(plan.links().wall_links.empty());
                   lattice.fill(plan);
                   lattice.for_links([&](int x, int y, int z, int i) {
                       const int from[3] = {x - S::c[i][0], y - S::c[i][1], z - S::c[i][2]};
                       bool outside = false;
                       for (int d = 0; d < 3; ++d) {
                           outside = outside || from[d] < 0 || from[d] >= domain.size[d];
                       }
                       CHECK_EQUAL(lattice.post_streaming(x, y, z, i),
                                   outside ? lattice.name(x, y, z, lbm::Stencil<S>::opposite(i))
                                           : lattice.name(from[0], from[1], from[2], i));
                   });
               });
}

TEST(boundary_halo_plan_free_slip_mirrors) {
    for_phases(
        {"periodic", "free-slip", "periodic"}, {5, 4, 3}, [](auto s, const Domain& domain, auto& lattice, Phase phase) {
            using S = decltype(s);
            const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
            lattice.fill(plan);
            lattice.for_links([&](int x, int y, int z, int i) {
                const int* c = S::c[i];
                const bool outside = y - c[1] < 0 || y - c[1] >= domain.size[1];
                const int from_y = outside ? y : y - c[1];
                const int j = outside ? lbm::Stencil<S>::mirror(i, 1) : i;
                CHECK_EQUAL(lattice.post_streaming(x, y, z, i), lattice.name(wrapped(x - c[0], domain.size[0]), from_y,
                                                                             wrapped(z - c[2], domain.size[2]), j));
            });
        });
}

TEST(boundary_halo_plan_outflow_repeats_the_last_cell) {
    for_phases({"outflow", "periodic", "periodic"}, {5, 4, 3},
               [](auto s, const Domain& domain, auto& lattice, Phase phase) {
                   using S = decltype(s);
                   const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
                   const lbm::backend::LinkPlan& links = plan.links();
                   int through_x_face = 0;
                   for (const lbm::backend::WallCell& cell : links.wall_cells) {
                       CHECK(cell.needs_moments);
                       for (int k = cell.first; k < cell.first + cell.count; ++k, ++through_x_face) {
                           const lbm::backend::WallLink& link = links.wall_links[std::size_t(k)];
                           const int* c = S::c[link.i];
                           CHECK(FaceKind(link.condition) == lbm::engine::face_kind<lbm::boundary::Outflow>);
                           CHECK_EQUAL(link.value, domain.reference_density);
                           const int from_x = std::min(std::max(cell.x - c[0], 0), domain.size[0] - 1);
                           const int from_y = wrapped(cell.y - c[1], domain.size[1]);
                           const int from_z = wrapped(cell.z - c[2], domain.size[2]);
                           const lbm::backend::LinkOffsets& places = links.wall_offsets[phase][std::size_t(k)];
                           const Address& a = lattice.address();
                           CHECK_EQUAL(places.outgoing,
                                       lbm::post_collision_offset<S>(a, phase, from_x, from_y, from_z, link.i));
                           CHECK_EQUAL(places.incoming,
                                       lbm::post_streaming_offset<S>(a, phase, cell.x, cell.y, cell.z, link.i));
                       }
                   }
                   CHECK_EQUAL(through_x_face, int(2 * lbm::Stencil<S>::through_x_face * domain.face_cells(0)));
               });
}

TEST(boundary_halo_plan_every_link_is_copied_or_reflected_once) {
    const std::vector<std::vector<std::string>> conditions = {
        {"velocity-inlet/pressure-outlet", "no-slip/moving-wall", "free-slip"},
        {"outflow/velocity-inlet", "periodic", "moving-wall/no-slip"},
        {"pressure-outlet", "free-slip/outflow", "pressure-outlet/velocity-inlet"}};
    for (const auto& by_axis : conditions) {
        for_phases(by_axis, {6, 5, 3}, [](auto s, const Domain& given, auto& lattice, Phase phase) {
            using S = decltype(s);
            Domain domain = given;
            domain.owner.assign(std::size_t(domain.cells()), lbm::engine::no_body);
            domain.owner[std::size_t(domain.cell(2, 2, domain.size[2] / 2))] = 0;
            domain.owner[std::size_t(domain.cell(4, 0, 0))] = 1;
            domain.body_velocity = {{}, std::vector<double>(std::size_t(S::D), 0.02)};
            domain.body_cuts.resize(2);
            const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
            const lbm::engine::LinkResolver<S> resolver(domain);
            std::vector<int> reflected(std::size_t(domain.cells() * S::Q));
            for (const lbm::backend::WallCell& cell : plan.links().wall_cells) {
                for (int k = cell.first; k < cell.first + cell.count; ++k) {
                    const int i = plan.links().wall_links[std::size_t(k)].i;
                    ++reflected[std::size_t(domain.cell(cell.x, cell.y, cell.z) * S::Q + i)];
                }
            }
            lattice.fill(plan);
            lattice.for_links([&](int x, int y, int z, int i) {
                const Index at = domain.cell(x, y, z);
                if (domain.solid(x, y, z)) {
                    return;
                }
                using Kind = lbm::engine::LinkSource::Kind;
                const lbm::engine::LinkSource source = resolver.resolve(x, y, z, i);
                bool wall = false;
                Index expected = lattice.name(x, y, z, lbm::Stencil<S>::opposite(i));
                if (source.kind == Kind::Face) {
                    wall = domain.faces[source.owner] != lbm::engine::face_kind<lbm::boundary::NoSlip>;
                } else if (source.kind == Kind::Body) {
                    wall = !domain.body_velocity[std::size_t(source.owner)].empty();
                } else {
                    wall = source.kind == Kind::Passed;
                    expected = lattice.name(source.x, source.y, source.z, source.i);
                }
                CHECK_EQUAL(reflected[std::size_t(at * S::Q + i)], wall ? 1 : 0);
                if (!wall) {
                    CHECK_EQUAL(lattice.post_streaming(x, y, z, i), expected);
                }
            });
        });
    }
}

TEST(boundary_halo_plan_cuts_long_runs_for_the_threads) {
    Setup setup = tests::small_setup("D2Q9");
    setup.shape = {5000, 3};
    const Domain domain = lbm::engine::make_domain(setup);
    const Named<lbm::D2Q9> lattice(domain, true, Phase::AAEven);
    const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {Phase::AAEven});
    for (const lbm::backend::CopyRun& run : plan.links().copies[Phase::AAEven]) {
        CHECK(run.count >= 1 && run.count <= 1024);
    }
    CHECK_EQUAL(plan.links().copies.size(), 1U);
    CHECK(plan.bytes() > 0);
}

TEST(boundary_halo_plan_takes_over_changed_values) {
    Setup setup = tests::small_setup("D2Q9");
    setup.faces = tests::faces_of(2, {"periodic", "no-slip/moving-wall"});
    Domain domain = lbm::engine::make_domain(setup);
    const Named<lbm::D2Q9> lattice(domain, true, Phase::AAEven);
    BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {Phase::AAEven});
    for (const double speed : {0.0, 0.1}) {
        domain.face_value[3] = {speed, 0.0};
        plan.refresh_values(domain);
        for (const lbm::backend::WallLink& link : plan.links().wall_links) {
            const double cu = lbm::D2Q9::c[link.i][0] * speed;
            CHECK_CLOSE(link.value, 6 * lbm::Stencil<lbm::D2Q9>::w(link.i) * cu, 1e-16);
        }
    }
}

TEST(boundary_halo_plan_plain_cells_stream_from_fluid_cells_of_the_block_and_come_last) {
    for (const char* sides : {"no-slip", "periodic"}) {
        for_phases({"regularized-inlet/nonequilibrium-inlet", sides, "periodic"}, {5, 7, 6},
                   [&](auto s, Domain& domain, auto& lattice, Phase phase) {
                       using S = decltype(s);
                       const int body[3] = {1, 3, S::D == 3 ? 3 : 0};
                       domain.known = {{0, 0, 0}, {domain.size[0], domain.size[1], domain.size[2]}};
                       domain.owner.assign(std::size_t(domain.cells()), lbm::engine::no_body);
                       domain.owner[std::size_t(domain.cell(body[0], body[1], body[2]))] = 0;
                       domain.body_velocity.resize(1);
                       domain.body_scaled.resize(1);
                       domain.body_cuts.resize(1);
                       const BoundaryHaloPlan plan(domain, {{{0, 0, 0}, lattice.address()}}, 0, {phase});
                       const auto& cells = plan.links().boundary_cells;
                       CHECK_EQUAL(Index(cells.size()), 2 * lattice.address().x_face_stride());
                       bool before = false;
                       for (const lbm::backend::BoundaryCell& cell : cells) {
                           bool plain = true;
                           for (int i = 0; i < S::Q; ++i) {
                               int from[3] = {cell.x - S::c[i][0], cell.y - S::c[i][1], cell.z - S::c[i][2]};
                               for (int axis = 1; axis < S::D; ++axis) {
                                   const int n = domain.size[axis];
                                   const bool outside = from[axis] != wrapped(from[axis], n);
                                   const bool enters = from[0] < 0 || from[0] >= domain.size[0];
                                   plain = plain && (enters || !outside || lattice.address().self_periodic[axis]);
                                   from[axis] = wrapped(from[axis], n);
                               }
                               plain = plain && !std::equal(from, from + 3, body);
                           }
                           CHECK_EQUAL(cell.is_plain, plain);
                           CHECK(cell.is_plain || !before);
                           before = cell.is_plain;
                       }
                   });
    }
}
