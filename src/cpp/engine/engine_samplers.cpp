// The engine's samplers of series: of fields at points, and of the force on a body or on the wall of a face.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "engine.h"
#include "face_links.h"
#include "force_sampler.h"
#include "series_sampler.h"

namespace lbm::engine {
namespace {

/// Makes room for so many more numbers. What grows by one chunk after the other is copied rarely that way.
template <class T>
void make_room(std::vector<T>& numbers, std::size_t more) {
    if (numbers.capacity() - numbers.size() < more) {
        numbers.reserve(std::max(numbers.size() + more, 2 * numbers.capacity()));
    }
}

/// The numbers of a block's cells, and where they are in a sample of all cells.
struct PointsOfBlock {
    std::vector<backend::Cell> cells;
    std::vector<Index> place;
};

class PointSampler final : public SeriesSampler {
public:
    PointSampler(Index every, Index start, PointSetup setup, int D, std::shared_ptr<const comm::Communicator> comm)
        : SeriesSampler(every, start, chunk_of(Index(setup.cells.size()) * setup.fields.numbers(D))),
          setup_(std::move(setup)),
          components_(setup_.fields.numbers(D)),
          comm_(std::move(comm)) {}

    void add_block(backend::BlockState& block, PointsOfBlock points) {
        blocks_.push_back(block.make_point_samples(points.cells, setup_.fields));
        places_.push_back(std::move(points.place));
    }

private:
    void append_rows(Index samples, std::vector<double>& values) override {
        const auto cells = Index(setup_.cells.size()), points = Index(setup_.first.size()) - 1;
        const Index rows = samples * components_;
        const double* all = numbers_of_cells(samples);
        const std::size_t before = values.size();
        values.resize(before + std::size_t(rows * points));
        double* out = values.data() + before;
        for (Index row = 0; row < rows; ++row, all += cells) {
            for (Index p = 0; p < points; ++p) {
                *out++ = interpolated(p, all);
            }
        }
    }

    /// The numbers of so many samples, each component for all cells, until the next call. Its memory is kept, as fresh
    /// pages for each chunk would cost more than what is computed of them.
    const double* numbers_of_cells(Index samples) {
        const auto cells = Index(setup_.cells.size());
        const Index rows = samples * components_;
        if (comm_->size() == 1 && blocks_.size() == 1) {  // which has all of them, in their order
            blocks_.front()->collect(samples, own_);
            check_count(own_, rows * cells);
            return own_.data();
        }
        // Each number is known to one rank. The others add -0, which changes nothing, not even the sign of 0.
        all_.assign(std::size_t(rows * cells), -0.0);
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            blocks_[b]->collect(samples, own_);
            const std::vector<Index>& place = places_[b];
            const auto count = Index(place.size());
            check_count(own_, rows * count);
            for (Index row = 0; row < rows; ++row) {
                for (Index k = 0; k < count; ++k) {
                    all_[std::size_t(row * cells + place[std::size_t(k)])] = own_[std::size_t(row * count + k)];
                }
            }
        }
        comm_->sum(all_.data(), int(all_.size()));
        return all_.data();
    }

    double interpolated(Index point, const double* of_cells) const {
        const Index begin = setup_.first[std::size_t(point)], end = setup_.first[std::size_t(point) + 1];
        if (end == begin + 1 && setup_.weights[std::size_t(begin)] == 1) {
            return of_cells[setup_.number[std::size_t(begin)]];
        }
        double sum = begin == end ? std::numeric_limits<double>::quiet_NaN() : 0;
        for (Index k = begin; k < end; ++k) {
            sum += setup_.weights[std::size_t(k)] * of_cells[setup_.number[std::size_t(k)]];
        }
        return sum;
    }

    PointSetup setup_;
    int components_;
    std::shared_ptr<const comm::Communicator> comm_;
    std::vector<std::vector<Index>> places_;  // of the cells of each block
    std::vector<double> own_, all_;           // numbers of a chunk, of a block and of all
};

}  // namespace

void check_count(const std::vector<double>& numbers, Index expected) {
    if (Index(numbers.size()) != expected) {
        throw std::logic_error("samples: a block has others than the engine asked for");
    }
}

void SeriesSampler::sample(Index step) {
    std::size_t taken = 0;
    try {
        for (; taken < blocks_.size(); ++taken) {
            blocks_[taken]->take();
        }
        steps_.push_back(step);
    } catch (...) {  // a sample is there of all blocks, or of none
        for (std::size_t k = 0; k < taken; ++k) {
            blocks_[k]->forget_last();
        }
        throw;
    }
    if (pending() - sent_ == samples_of_chunk_) {
        complete(sent_);
        for (const auto& block : blocks_) {
            block->send();
        }
        sent_ = pending();
    }
}

void SeriesSampler::complete(Index samples) {
    if (samples == 0) {
        return;
    }
    rows_.clear();
    try {
        append_rows(samples, rows_);
        make_room(series_.values, rows_.size());
        series_.steps.insert(series_.steps.end(), steps_.begin(), steps_.begin() + samples);
    } catch (...) {  // the blocks that have been read cannot be read again
        for (const auto& block : blocks_) {
            block->forget();
        }
        steps_.clear();
        sent_ = 0;
        throw;
    }
    steps_.erase(steps_.begin(), steps_.begin() + samples);
    sent_ = std::max<Index>(sent_ - samples, 0);
    series_.values.insert(series_.values.end(), rows_.begin(), rows_.end());
}

Series SeriesSampler::take() {
    complete(pending());
    return std::exchange(series_, {});
}

std::shared_ptr<SeriesSampler> Engine::add_point_sampler(PointSetup setup, Index every, Index start) {
    if (setup.fields.temperature) {
        check_temperature();
    }
    const auto cells = Index(setup.cells.size());
    const std::size_t terms = setup.number.size();
    if (setup.first.empty() || setup.first.front() != 0 || setup.first.back() != Index(terms) ||
        !std::is_sorted(setup.first.begin(), setup.first.end()) || setup.weights.size() != terms ||
        std::any_of(setup.number.begin(), setup.number.end(), [&](Index k) { return k < 0 || k >= cells; })) {
        throw std::invalid_argument("points: their cells and weights do not fit together");
    }
    for (const backend::Cell& cell : setup.cells) {
        const int at[3] = {cell.x, cell.y, cell.z};
        for (int d = 0; d < 3; ++d) {
            if (at[d] < 0 || at[d] >= domain_.size[d]) {
                throw std::invalid_argument("points: a cell lies outside the domain");
            }
        }
    }
    auto sampler = std::make_shared<PointSampler>(every, start, setup, domain_.D, comm_);
    for (const Part& part : parts_) {
        const int(&low)[3] = part.place.offset, (&size)[3] = part.place.size;
        PointsOfBlock own;
        for (Index k = 0; k < cells; ++k) {
            const backend::Cell& cell = setup.cells[std::size_t(k)];
            const backend::Cell inside{cell.x - low[0], cell.y - low[1], cell.z - low[2]};
            if (inside.x >= 0 && inside.y >= 0 && inside.z >= 0 && inside.x < size[0] && inside.y < size[1] &&
                inside.z < size[2]) {
                own.cells.push_back(inside);
                own.place.push_back(k);
            }
        }
        if (!own.cells.empty()) {
            sampler->add_block(*part.state, std::move(own));
        }
    }
    add_sampler(sampler);
    return sampler;
}

std::shared_ptr<SeriesSampler> Engine::add_force_sampler(int body, const double (&center)[3], Index every,
                                                         Index start) {
    prepare();
    auto sampler = std::make_shared<ForceSampler>(every, start, domain_.body_cuts[std::size_t(body)].are_given, comm_);
    for (const Part& part : parts_) {
        const BoundaryHaloPlan* plan = &part.plan;
        sampler->add_block(part.state->make_force_samples(
            [plan, body]() -> const std::vector<backend::BodyLink>& { return plan->body_links(body); }, center));
    }
    add_sampler(sampler);
    return sampler;
}

std::shared_ptr<SeriesSampler> Engine::add_face_force_sampler(int face, const double (&center)[3], Index every,
                                                              Index start) {
    auto sampler = make_face_force_sampler(face, center, every, start);
    add_sampler(sampler);
    return sampler;
}

std::shared_ptr<SeriesSampler> Engine::make_face_force_sampler(int face, const double (&center)[3], Index every,
                                                               Index start) {
    if (!bounces_back(domain_, face) || backend::is_multispeed(spec_)) {
        throw std::invalid_argument("face " + face_name(face) + ": no wall off which populations bounce half-way");
    }
    prepare();
    auto sampler = std::make_shared<ForceSampler>(every, start, false, comm_);
    for (const Part& part : parts_) {
        if (part.place.is_at(face, domain_.size)) {
            const auto links = std::make_shared<FaceLinks>(domain_, part.place, face);
            sampler->add_block(part.state->make_force_samples(
                [links]() -> const std::vector<backend::BodyLink>& { return links->now(); }, center));
        }
    }
    return sampler;
}

backend::ForceAndTorque Engine::face_force(int face, const double (&center)[3]) {
    const auto sampler = make_face_force_sampler(face, center, 1, 0);
    sampler->sample(steps_);
    const std::vector<double> values = sampler->take().values;
    backend::ForceAndTorque sum{};
    std::copy(values.begin(), values.begin() + 3, sum.force);
    std::copy(values.begin() + 3, values.end(), sum.torque);
    return sum;
}

void Engine::take_sample(SeriesSampler& sampler, Index step) {
    prepare();
    if (sampler.reads_incoming()) {
        supply_incoming();
    }
    sampler.sample(step);
}

}  // namespace lbm::engine
