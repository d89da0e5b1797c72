// Tests that link formulas and walls at known distances are local: applying them inside a cell's update gives the same
// bits as applying them from the plan's lists between two steps.
#include <map>
#include <vector>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/cpu/host_transfers.h"
#include "../../src/cpp/backend/wall_links.h"
#include "../../src/cpp/engine/boundary_halo_plan.h"
#include "../../src/cpp/lattice/cell_update.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Address;
using lbm::Index;
using lbm::Phase;
using lbm::backend::LinkPlan;
using lbm::backend::WallCell;
using lbm::backend::WallLink;

constexpr double uniform_force[3] = {0.003, -0.002, 0};  // in the plane, as stencils of two dimensions are too

/// A cell whose links have been served: what comes in lies in the lattice.
template <class S, class Real, class Stored>
struct ServedCell {
    using Value = Real;
    static constexpr Real unit = lbm::storage_unit<Stored>;

    const Address& address;
    Phase phase;  // of the last step
    Stored* source;
    Stored* target;
    int x, y, z;

    void load(Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            h[i] = lbm::units_from_storage<Real>(source[lbm::post_streaming_offset<S>(address, phase, x, y, z, i)]);
        }
    }
    Real compressibility() const { return 1; }
    bool force(Real (&force)[S::D]) const {
        std::copy(uniform_force, uniform_force + S::D, force);
        return true;
    }
    void store(const Real (&h)[S::Q]) const {
        for (int i = 0; i < S::Q; ++i) {
            target[lbm::post_collision_offset<S>(address, lbm::next_phase(phase), x, y, z, i)] =
                lbm::Store<Stored>::from_units(h[i]);
        }
    }
};

/// A cell that applies the formulas of its links itself.
template <class S, class Real, class Stored>
struct SelfServedCell : ServedCell<S, Real, Stored> {
    const LinkPlan& plan;
    const WallCell* wall;                                             // null without such links
    const std::map<Index, const lbm::backend::CutLink*>& cut_places;  // cut links by their incoming places

    void load(Real (&h)[S::Q]) const {
        ServedCell<S, Real, Stored>::load(h);
        const lbm::backend::LatticeView<S, Real, Stored> lattice{this->source, this->address, this->phase};
        const auto cell = lattice.cell(this->x, this->y, this->z);
        for (int i = 1; i < S::Q; ++i) {
            const auto cut = cut_places.find(
                lbm::post_streaming_offset<S>(this->address, this->phase, this->x, this->y, this->z, i));
            if (cut != cut_places.end()) {
                const int back = lbm::Stencil<S>::opposite(i);
                const Real off =
                    lbm::backend::rounded<Real>(cut->second->wall)
                        .incoming(cell.post_collision(back), cell.post_collision(i), cell.post_streaming(back));
                h[i] = lbm::units_from_storage<Real>(lbm::Store<Stored>::from(off));
            }
        }
        if (wall == nullptr) {
            return;
        }
        const auto moments = lbm::backend::link_moments(lattice, *wall, uniform_force, {});
        for (int k = wall->first; k < wall->first + wall->count; ++k) {
            const WallLink& link = plan.wall_links[std::size_t(k)];
            const Index outgoing = plan.wall_offsets[this->phase][std::size_t(k)].outgoing;
            const lbm::backend::LinkPopulations<S, Real, Stored> f{cell, link.i,
                                                                   lbm::from_storage<Real>(this->source[outgoing])};
            const Stored stored = lbm::Store<Stored>::from(lbm::backend::incoming<S>(link, moments, f));
            h[link.i] = lbm::units_from_storage<Real>(stored);
        }
    }
};

template <class Stored>
std::vector<Stored> noisy_lattice(const Address& address) {
    std::vector<Stored> numbers(std::size_t(address.x_face_end()));
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        numbers[k] = lbm::Store<Stored>::from(0.02F * float(tests::noise(3, k)));
    }
    return numbers;
}

/// Both ways after a step of `phase`, from the same noise.
template <class S, class Real, class Stored>
void compare(const lbm::engine::Domain& domain, const Address& address, Phase phase) {
    const lbm::engine::BoundaryHaloPlan halo_plan(domain, {{{0, 0, 0}, address}}, 0, {phase});
    const LinkPlan& plan = halo_plan.links();
    CHECK(!plan.wall_links.empty());
    std::vector<Stored> copied = noisy_lattice<Stored>(address);
    for (const lbm::backend::CopyRun& run : plan.copies[phase]) {
        lbm::cpu::copy_run(run, copied.data(), copied.data());
    }
    std::vector<Stored> served = copied;
    std::map<Index, const WallCell*> wall_at;
    for (const WallCell& cell : plan.wall_cells) {
        lbm::backend::serve_wall_links(lbm::backend::LatticeView<S, Real, Stored>{served.data(), address, phase}, cell,
                                       plan.wall_links.data(), plan.wall_offsets[phase].data(), uniform_force, {},
                                       lbm::backend::SteadyValues{});
        wall_at[domain.cell(cell.x, cell.y, cell.z)] = &cell;
    }
    std::map<Index, const lbm::backend::CutLink*> cut_places;
    for (std::size_t k = 0; k < plan.cut_links.size(); ++k) {
        const lbm::backend::CutPlaces& places = plan.cut_places[phase][k];
        lbm::backend::serve_cut_link(served.data(), lbm::backend::rounded<Real>(plan.cut_links[k].wall), places);
        cut_places[places.incoming] = &plan.cut_links[k];
    }
    CHECK(!cut_places.empty());
    const lbm::TRT::Parameters<Real> parameters{{Real(1.7), Real(0)}, Real(1.1), Real(0.2)};
    std::vector<Stored> by_lists(copied.size()), by_cells(copied.size());
    for (Index at = 0; at < domain.cells(); ++at) {
        const int x = int(at % domain.size[0]), y = int(at / domain.size[0] % domain.size[1]);
        const int z = int(at / domain.size[0] / domain.size[1]);
        if (domain.solid(x, y, z)) {
            continue;
        }
        using Served = ServedCell<S, Real, Stored>;
        const Served one{address, phase, served.data(), by_lists.data(), x, y, z};
        lbm::update_cell<S, lbm::TRT>(one, parameters);
        const auto wall = wall_at.find(at);
        const SelfServedCell<S, Real, Stored> other{Served{address, phase, copied.data(), by_cells.data(), x, y, z},
                                                    plan, wall == wall_at.end() ? nullptr : wall->second, cut_places};
        lbm::update_cell<S, lbm::TRT>(other, parameters);
    }
    const bool same = std::equal(by_lists.begin(), by_lists.end(), by_cells.begin(), [](Stored a, Stored b) {
        return lbm::from_storage<Real>(a) == lbm::from_storage<Real>(b);
    });
    CHECK(same);
}

}  // namespace

TEST(link_formulas_inside_an_update_give_the_bits_of_the_lists) {
    std::vector<std::string> kinds;
    lbm::for_types(lbm::boundary::Conditions{}, [&](auto member) {
        using Condition = typename decltype(member)::type;
        if constexpr (lbm::boundary::has_formula<Condition>) {
            kinds.emplace_back(Condition::name);
        }
    });
    const std::vector<std::string>& schemes = lbm::backend::names_of<lbm::boundary::CutWalls>();
    int turn = 0;
    for (const std::string& kind : kinds) {
        tests::for_stencils([&](auto s) {
            using S = decltype(s);
            lbm::engine::Setup setup = tests::small_setup(S::name);
            setup.shape = S::D == 2 ? std::vector{6, 5} : std::vector{6, 5, 4};
            const std::string& other = kinds[std::size_t(++turn) % kinds.size()];
            const auto pair = [](std::string low, const std::string& high) { return low.append("/").append(high); };
            setup.faces = tests::faces_of(S::D, {pair(kind, other), pair("no-slip", kind), pair("free-slip", other)});
            lbm::engine::Domain domain = lbm::engine::make_domain(setup);
            for (int face = 0; face < 2 * S::D; ++face) {
                lbm::engine::with_condition(domain.faces[face], [&](auto c) {
                    using lbm::boundary::Value;
                    constexpr Value value = decltype(c)::value;
                    if constexpr (value == Value::Velocity) {
                        domain.face_value[face] = std::vector<double>(std::size_t(S::D), 0.03);
                    } else if constexpr (value == Value::Number) {
                        domain.face_value[face] = {1.01 * decltype(c)::preset};
                    }
                });
            }
            domain.owner.assign(std::size_t(domain.cells()), lbm::engine::no_body);
            domain.owner[std::size_t(domain.cell(3, 2, 0))] = 0;
            domain.body_velocity = {std::vector<double>(std::size_t(S::D), 0.02)};
            lbm::engine::CutLinks cuts;
            cuts.are_given = true;
            cuts.scheme = lbm::engine::wall_kind(schemes[std::size_t(turn) % schemes.size()]);
            for (Index link = 0; link < domain.cells() * S::Q; ++link) {
                cuts.links.push_back(link);
                cuts.distance.push_back(0.5 + 0.49 * tests::noise(5, std::size_t(link)));
            }
            domain.body_cuts = {cuts};
            for (const Phase phase : {Phase::TwoLattice, Phase::AAEven, Phase::AAOdd}) {
                const auto with = [&]<class Real, class Stored>(Real, Stored) {
                    lbm::backend::BlockSpec spec{};
                    spec.stencil = domain.stencil;
                    spec.storage = lbm::backend::number_kind<Stored>;
                    spec.state = phase == Phase::TwoLattice ? &lbm::backend::state_kind<lbm::TwoLattice>
                                                            : &lbm::backend::state_kind<lbm::InPlace>;
                    std::copy(domain.size, domain.size + 3, spec.size);
                    const Address address = lbm::backend::block_address(spec, lbm::backend::Device::Cpu);
                    compare<S, Real, Stored>(domain, address, phase);
                };
                with(double{}, double{});
                with(float{}, float{});
                with(float{}, lbm::Half{});
            }
        });
    }
}
