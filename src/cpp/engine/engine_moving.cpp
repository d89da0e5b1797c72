// The engine's members for bodies that move: their shapes, which all blocks get, and the forces on them. Where they are
// in a step the factors of that say, as those of values that change in time do.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.h"
#include "force_sampler.h"

namespace lbm::engine {
namespace {

using backend::ShapeKind;
using backend::ShapePart;

/// A range of a shape's numbers or integers from a place on.
template <class T>
class Range {
public:
    Range(const std::vector<T>& all, Index first) : all_(all), first_(first) {}
    T at(Index k) const {
        require(k < 0 ? k : k + 1);
        return all_[std::size_t(first_ + k)];
    }
    void require(Index count) const {
        if (first_ < 0 || count < 0 || first_ > Index(all_.size()) - count) {
            throw std::invalid_argument("shape: a part has fewer numbers than it needs");
        }
    }

private:
    const std::vector<T>& all_;
    Index first_;
};

/// The product of the numbers of bins along so many axes, which are in the table.
Index bins_of(const Range<int>& table, Index at, int axes) {
    Index product = 1;
    for (int d = 0; d < axes; ++d) {
        const int bins = table.at(at + d);
        if (bins < 1 || bins > 1024) {
            throw std::invalid_argument("shape: there must be 1 to 1024 bins along an axis");
        }
        product *= bins;
    }
    return product;
}

/// Throws unless so many bins begin in order, from 0 on; otherwise returns where the last one ends.
int end_of_bins(const Range<int>& table, Index at, Index bins) {
    table.require(at + bins + 1);
    int last = 0;
    for (Index k = 0; k <= bins; ++k) {
        const int begin = table.at(at + k);
        if (begin < last || (k == 0 && begin != 0)) {
            throw std::invalid_argument("shape: bins must be in order");
        }
        last = begin;
    }
    return last;
}

/// Throws unless an item has its numbers, so many of each.
void check_item(int item, const Range<double>& numbers, Index first, Index each) {
    numbers.require(item < 0 ? -1 : first + (Index(item) + 1) * each);
}

/// Throws unless bins list items, of `numbers` numbers each, that there are: `bins` where each begins, then the items.
void check_bins(const Range<int>& table, Index at, Index bins, const Range<double>& numbers, Index first, Index each) {
    const int last = end_of_bins(table, at, bins);
    for (Index k = 0; k < last; ++k) {
        check_item(table.at(at + bins + 1 + k), numbers, first, each);
    }
}

/// The same of the triangles of a mesh, of whose bins the entries, of so many integers each, are elsewhere.
void check_entries(const Range<int>& table, Index at, Index bins, Index entries, Index integers,
                   const Range<double>& numbers, Index first) {
    table.require(at);
    const int last = end_of_bins(table, at, bins);
    table.require(entries % 4 != 0 ? -1 : entries + integers * last);
    for (Index k = 0; k < last; ++k) {
        check_item(table.at(entries + integers * k), numbers, first, 9);
    }
}

void check_region(const ShapePart& part, const backend::MovingBodyData& given) {
    const Index placed = part.is_placed != 0 ? 12 : 0;
    const Range<double> numbers(given.numbers, part.first);
    const Range<int> table(given.table, part.table);
    table.require(part.table % 4 != 0 ? -1 : 0);
    switch (part.kind) {
        case ShapeKind::Sphere: numbers.require(placed + 4); break;
        case ShapeKind::Cylinder: numbers.require(placed + 8); break;
        case ShapeKind::Box:
        case ShapeKind::Plane: numbers.require(placed + 6); break;
        case ShapeKind::Polygon: {
            numbers.require(placed + 4);
            for (int k = 0; k < 3; ++k) {
                if (table.at(k) < 0 || table.at(k) > 2) {
                    throw std::invalid_argument("shape: the axes of a polygon must be 0 to 2");
                }
            }
            check_bins(table, 4, bins_of(table, 3, 1), numbers, placed + 4, 4);
            break;
        }
        case ShapeKind::Mesh: {
            const Index first = placed + backend::shape::mesh_numbers;
            numbers.require(first);
            const Index columns = bins_of(table, 1, 2), boxes = bins_of(table, 3, 3);
            check_entries(table, backend::shape::mesh_integers, columns, table.at(8), 4, numbers, first);
            check_entries(table, table.at(6), boxes, table.at(7), 8, numbers, first);
            table.require(table.at(6) + 2 * boxes + 1);  // their states
            break;
        }
        default: throw std::invalid_argument("shape: a part of unknown kind");
    }
}

/// Throws unless the parts make one region, of numbers that there are.
void check_shape(const backend::MovingBodyData& given) {
    int regions = 0;
    for (const ShapePart& part : given.parts) {
        if (part.kind == ShapeKind::Union || part.kind == ShapeKind::Intersection ||
            part.kind == ShapeKind::Difference) {
            regions -= 1;
        } else {
            check_region(part, given);
            regions += 1;
        }
        if (regions < 1 || regions > 32) {
            throw std::invalid_argument("shape: operations must join two regions each, of 32 at most that wait");
        }
    }
    if (regions != 1) {
        throw std::invalid_argument("shape: its parts must make one region");
    }
}

}  // namespace

void Engine::move_body(int body, backend::MovingBodyData motion) {
    check_shape(motion);
    const backend::MovingBody& given = motion.body;
    for (int d = 0; d < 3; ++d) {
        if (given.size[d] < 1 || given.size[d] > domain_.size[d] || !std::isfinite(given.center[d])) {
            throw std::invalid_argument("size: of the box about a body that moves, must be 1 to the domain's");
        }
    }
    if (given.series < 0 || steps_ > 0 || moves(body)) {
        throw std::invalid_argument("a body must be moved once, before the first step, by factors from 0 on");
    }
    if (domain_.is_hybrid_thermal) {
        throw std::invalid_argument("a body that moves takes no temperature");
    }
    for (backend::BlockState* state : states_) {
        if (state->moving() == nullptr) {
            throw std::invalid_argument("this state of blocks takes no body that moves");
        }
    }
    if (!domain_.sheets.empty()) {
        throw std::invalid_argument("a body that moves goes with no walls between fluid cells");
    }
    std::vector<backend::MovingBodyData> all = moving_;
    all.push_back(std::move(motion));
    for (Part& part : parts_) {
        backend::MovingPlace place{};
        for (int d = 0; d < 3; ++d) {
            place.offset[d] = part.place.offset[d];
            place.domain[d] = domain_.size[d];
            place.periodic[d] = d < domain_.D && is_periodic(domain_.faces[2 * d]);
        }
        part.state->moving()->set_bodies(all, place);
    }
    moving_ = std::move(all);
    moving_number_.resize(std::size_t(bodies()), -1);
    moving_number_[std::size_t(body)] = int(moving_.size()) - 1;
    may_be_late_ = false;  // what comes in around a body must be there before the step
    plan_is_current_ = false;
    scaling_is_new();
}

bool Engine::moves(int body) const {
    return std::size_t(body) < moving_number_.size() && moving_number_[std::size_t(body)] >= 0;
}

std::size_t Engine::moving_number(int body) const {
    if (!moves(body)) {
        throw std::invalid_argument("body " + std::to_string(body) + " does not move");
    }
    return std::size_t(moving_number_[std::size_t(body)]);
}

backend::ForceAndTorque Engine::moving_body_force(int body, const backend::TorqueCenter& center) {
    const std::size_t number = moving_number(body);
    prepare();
    check_factors_of_now();
    supply_incoming();
    return sum_of([&](const Part& part) { return part.state->moving()->force(number, center); });
}

void Engine::check_factors_of_now() const {
    if (!factors_.covers(steps_, 0)) {
        throw std::logic_error("factors: none given of step " + std::to_string(steps_));
    }
}

std::shared_ptr<SeriesSampler> Engine::add_moving_force_sampler(int body, const backend::TorqueCenter& center,
                                                                Index every, Index start) {
    const std::size_t number = moving_number(body);
    prepare();
    auto sampler = std::make_shared<ForceSampler>(every, start, true, comm_);
    for (const Part& part : parts_) {
        sampler->add_block(part.state->moving()->make_force_samples(number, center));
    }
    add_sampler(sampler);
    return sampler;
}

}  // namespace lbm::engine
