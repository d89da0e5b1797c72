// Samples statistics of an engine's cells, and reads, sets and adds them up for the local subdomain.
#include "statistics_sampler.h"

#include <stdexcept>
#include <string>

namespace lbm::engine {

StatisticsSampler::StatisticsSampler(Engine& engine, Index every, Index start)
    : Sampler(every, start), engine_(engine) {
    for (const Engine::Part& part : engine.parts_) {
        parts_.push_back(part.state->make_cell_statistics());
    }
}

void StatisticsSampler::sample(Index /*step*/) {
    if (slots_ == 0) {
        return;
    }
    ++samples_;
    for (const auto& part : parts_) {
        part->sample(samples_);
    }
}

void StatisticsSampler::set_samples(Index samples) {
    if (samples < 0) {
        throw std::invalid_argument("samples: " + std::to_string(samples) + " given, must be at least 0");
    }
    samples_ = samples;
}

void StatisticsSampler::choose(backend::SlotMask slots) {
    if (!backend::is_complete(slots)) {
        throw std::invalid_argument("slots: unknown ones, or co-moments without the means of both quantities, given");
    }
    for (const auto& part : parts_) {
        part->choose(slots);
    }
    slots_ = slots;
}

void StatisticsSampler::reset() {
    samples_ = 0;
    for (const auto& part : parts_) {
        part->reset();
    }
}

void StatisticsSampler::check_slot(int slot) const {
    if (slot < 0 || slot >= backend::statistics_slots || !backend::has_slot(slots_, slot)) {
        throw std::invalid_argument("slot: " + std::to_string(slot) + " given, which was not chosen");
    }
}

void StatisticsSampler::get(int slot, double* out) const {
    check_slot(slot);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        put_part(out, engine_.window_, engine_.parts_[k].place, 1, [&](double* data) { parts_[k]->get(slot, data); });
    }
}

void StatisticsSampler::set(int slot, const double* values) {
    check_slot(slot);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        const Block& place = engine_.parts_[k].place;
        std::vector<double> scratch(place.cells() == engine_.window_.cells() ? 0 : std::size_t(place.cells()));
        parts_[k]->set(slot, part_of_field(values, engine_.window_, place, 1, scratch));
    }
}

std::vector<Index> StatisticsSampler::sums(int slot, const backend::SummedAxes& over) const {
    check_slot(slot);
    constexpr int words = backend::FixedPoint::words;
    const Box& window = engine_.window_;
    Index stride[3], elements = 1;
    for (int d = 0; d < 3; ++d) {
        stride[d] = over.axis[d] ? 0 : elements;
        elements *= over.axis[d] ? 1 : window.size[d];
    }
    std::vector<Index> all(std::size_t(words * elements));
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        const std::vector<Index> own = parts_[k]->sums(slot, over);
        const Block& place = engine_.parts_[k].place;
        const auto count = [&](int d) { return over.axis[d] ? 1 : place.size[d]; };
        const auto first = [&](int d) { return Index(place.offset[d] - window.offset[d]) * stride[d]; };
        std::size_t from = 0;
        for (int z = 0; z < count(2); ++z) {
            for (int y = 0; y < count(1); ++y) {
                for (int x = 0; x < count(0); ++x) {
                    const Index to = first(0) + first(1) + first(2) + x * stride[0] + y * stride[1] + z * stride[2];
                    for (int w = 0; w < words; ++w) {
                        all[std::size_t(words * to + w)] += own[from++];
                    }
                }
            }
        }
    }
    return all;
}

std::size_t StatisticsSampler::bytes() const {
    std::size_t sum = 0;
    for (const auto& part : parts_) {
        sum += part->bytes();
    }
    return sum;
}

}  // namespace lbm::engine
