// Chooses the channels of the links and lists what each block copies.
#include "halo_exchange.h"

#include <algorithm>
#include <stdexcept>

#include "../backend/devices.h"

namespace lbm::engine {
namespace {

using backend::CopyRun;
using backend::Transfer;

Channel channel_between(const std::string& from, const std::string& to, const std::string& only) {
    if (!only.empty() && only != "direct" && only != "staged") {
        throw std::invalid_argument("channel: '" + only + "' is not one of 'direct', 'staged'");
    }
    if (only == "staged") {
        return Channel::Staged;
    }
    const bool direct = backend::reaches(to, from);
    if (!direct && only == "direct") {
        throw std::invalid_argument("channel: '" + to + "' does not reach the memory of '" + from + "'");
    }
    return direct ? Channel::Direct : Channel::Staged;
}

/// The copies of a transfer in two halves: into a buffer, one run after the other, and out of it.
struct Halves {
    std::vector<CopyRun> pack[3], unpack[3];
    Index largest = 0;  // elements
};

Halves through_buffer(const std::vector<CopyRun> (&copies)[3]) {
    Halves halves;
    for (int phase = 0; phase < 3; ++phase) {
        Index at = 0;
        for (const CopyRun& run : copies[phase]) {
            halves.pack[phase].push_back({at, run.source, 1, run.source_stride, run.count});
            halves.unpack[phase].push_back({run.target, at, run.target_stride, 1, run.count});
            at += run.count;
        }
        halves.largest = std::max(halves.largest, at);
    }
    return halves;
}

/// Elements a step, the mean of the phases that there are.
double mean_elements(const std::vector<CopyRun> (&copies)[3]) {
    double sum = 0;
    int phases = 0;
    for (const auto& runs : copies) {
        phases += runs.empty() ? 0 : 1;
        for (const CopyRun& run : runs) {
            sum += run.count;
        }
    }
    return sum / std::max(phases, 1);
}

/// Whether links between two blocks leave them through faces of the x axis.
bool beside_along_x(const Block& a, const Block& b) { return a.offset[0] != b.offset[0] || a.size[0] != b.size[0]; }

template <class T>
void add_once(std::vector<T>& all, T one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) {
        all.push_back(one);
    }
}

}  // namespace

HaloExchange::HaloExchange(const std::vector<Member>& members, backend::NumberKind storage, const std::string& only) {
    const std::size_t element = backend::size_of(storage);
    std::vector<std::vector<Transfer>> first(members.size()), second(members.size());
    for (const Member& member : members) {
        roles_.push_back({&member.state, {}, {}, nullptr, nullptr});
    }
    for (std::size_t to = 0; to < members.size(); ++to) {
        for (const HaloPlan::Import& import : members[to].plan.imports()) {
            const auto from = std::size_t(import.from);
            backend::BlockState& source = members[from].state;
            backend::BlockState& target = members[to].state;
            const Channel channel = channel_between(members[from].place.device, members[to].place.device, only);
            links_.push_back({import.from, int(to), channel, mean_elements(import.copies) * double(element)});
            add_once<const backend::BlockState*>(roles_[to].beside, &source);
            add_once<const backend::BlockState*>(roles_[from].beside, &target);
            if (channel == Channel::Direct) {
                first[to].push_back({{source.lattice(0), source.lattice(1)},
                                     {target.lattice(0), target.lattice(1)},
                                     {import.copies[0], import.copies[1], import.copies[2]}});
                if (beside_along_x(members[from].place, members[to].place)) {
                    add_once<const backend::BlockState*>(roles_[from].before_second, &target);
                    has_second_ = true;
                }
                continue;
            }
            Halves halves = through_buffer(import.copies);
            buffers_.push_back(backend::common_memory({members[from].place.device, members[to].place.device},
                                                      std::size_t(halves.largest) * element));
            void* buffer = buffers_.back().get();
            first[from].push_back({{source.lattice(0), source.lattice(1)},
                                   {buffer, buffer},
                                   {halves.pack[0], halves.pack[1], halves.pack[2]}});
            second[to].push_back({{buffer, buffer},
                                  {target.lattice(0), target.lattice(1)},
                                  {halves.unpack[0], halves.unpack[1], halves.unpack[2]}});
            add_once<const backend::BlockState*>(roles_[to].before_second, &source);
            has_second_ = true;
        }
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
        roles_[k].first = members[k].state.make_transfers(first[k]);
        roles_[k].second = members[k].state.make_transfers(second[k]);
    }
    // What works by itself is asked first, and works while the rest does.
    std::stable_partition(roles_.begin(), roles_.end(), [](const Role& role) { return role.state->works_by_itself(); });
}

void HaloExchange::run() const {
    for (const Role& role : roles_) {
        role.state->mark();
    }
    for (const Role& role : roles_) {
        for (const backend::BlockState* other : role.beside) {
            role.state->after(*other);
        }
        role.first->run();
    }
    if (!has_second_) {
        return;
    }
    for (const Role& role : roles_) {
        role.state->mark();
    }
    for (const Role& role : roles_) {
        for (const backend::BlockState* other : role.before_second) {
            role.state->after(*other);
        }
        role.second->run();
    }
}

std::size_t HaloExchange::bytes() const {
    std::size_t sum = 0;
    for (const Role& role : roles_) {
        sum += role.first->bytes() + role.second->bytes();
    }
    return sum;
}

}  // namespace lbm::engine
