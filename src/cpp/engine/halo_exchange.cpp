// Chooses the channels of all links, lists the copies of each block, and runs the exchange.
#include "halo_exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "../backend/devices.h"
#include "gathered_copies.h"
#include "late_copies.h"

namespace lbm::engine {
namespace {

using backend::BlockState;
using backend::ByPhase;
using backend::CopyRun;
using backend::EventSource;
using backend::Transfer;

Channel channel_between(const std::string& from, const std::string& to, const std::string& only) {
    if (only == "staged") {
        return Channel::Staged;
    }
    const bool direct = backend::can_access(to, from);
    if (!direct && only == "direct") {
        throw std::invalid_argument("channel: '" + to + "' does not reach the memory of '" + from + "'");
    }
    return direct ? Channel::Direct : Channel::Staged;
}

/// The copies of a link through a buffer: those into it, one run after the other, and those out of it.
struct PackUnpack {
    ByPhase<std::vector<CopyRun>> pack, unpack;
    ByPhase<Index> elements;

    PackUnpack(const ByPhase<std::vector<CopyRun>>& copies, const std::vector<Phase>& phases)
        : pack(phases), unpack(phases), elements(phases) {
        for (const Phase phase : phases) {
            Index& at = elements[phase];
            for (const CopyRun& run : copies[phase]) {
                pack[phase].push_back({at, run.source, 1, run.source_stride, run.count});
                unpack[phase].push_back({run.target, at, run.target_stride, 1, run.count});
                at += run.count;
            }
        }
    }

    Index largest() const { return *std::max_element(elements.begin(), elements.end()); }
};

/// Elements moved in an update, averaged over the phases that move any.
double mean_elements(const ByPhase<std::vector<CopyRun>>& copies) {
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

void add_once(std::vector<const EventSource*>& all, const EventSource* one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) {
        all.push_back(one);
    }
}

}  // namespace

struct HaloExchange::Builder {
    /// The transfers of a member: into its columns, and before and after the messages.
    struct Copies {
        std::vector<Transfer> gather, first, second, late;
    };
    struct Messages {
        std::vector<comm::Message> receives, sends;
    };

    HaloExchange& all;
    const Layout& layout;
    const std::vector<BlockPlacement>& placements;
    const std::vector<Member>& members;
    const backend::BlockSpec& spec;
    const std::string& only;
    const comm::Communicator& comm;
    std::map<int, std::size_t> own{};  // index of each member by its number in the layout
    std::vector<Copies> copies = std::vector<Copies>(members.size());
    const std::vector<Phase> phases = backend::phases_of(spec);
    ByPhase<Messages> messages{phases};
    std::map<int, int> received{}, sent{};  // number of messages so far, by rank
    std::set<int> signalled{};              // ranks that share blocks with this one

    const Block& block(int number) const { return layout.blocks()[std::size_t(number)]; }
    bool has_late_rows(int number) const { return placements[std::size_t(number)].late_rows.count() > 0; }
    const BlockState& state(std::size_t member) const { return members[member].state; }

    void build(const std::vector<SendRequest>& send_requests) {
        if (!only.empty() && only != "direct" && only != "staged" && only != "mpi") {
            throw std::invalid_argument("channel: '" + only +
                                        "' given, must be direct, staged or mpi (LBMGPU_CHANNEL)");
        }
        for (std::size_t k = 0; k < members.size(); ++k) {
            own[members[k].number] = k;
            all.schedules_.push_back({&members[k].state, {}, {}, {}, {}, false, nullptr, nullptr, nullptr, nullptr});
        }
        for (std::size_t number = 0; number < placements.size(); ++number) {
            all.has_late_ = all.has_late_ || has_late_rows(int(number));
        }
        all.waits_for_readers_ = spec.state->lattices_overlap;
        share(send_requests);
        for (std::size_t to = 0; to < members.size(); ++to) {
            for (const BoundaryHaloPlan::Import& import : members[to].plan.imports()) {
                const auto from = own.find(import.from);
                if (from == own.end()) {
                    receive(to, import);
                } else {
                    connect(from->second, to, import);
                }
            }
        }
        for (const SendRequest& request : send_requests) {
            for (const BoundaryHaloPlan::Import& import : request.imports) {
                if (own.contains(import.from)) {
                    send(own[import.from], request.number, import);
                }
            }
        }
        for (std::size_t k = 0; k < members.size(); ++k) {
            if (!copies[k].gather.empty()) {
                all.schedules_[k].gather = members[k].state.make_transfers(copies[k].gather);
            }
            if (has_late_rows(members[k].number)) {
                all.schedules_[k].late = members[k].state.make_late_transfers(copies[k].late);
            }
            all.schedules_[k].first = members[k].state.make_transfers(copies[k].first);
            all.schedules_[k].second = members[k].state.make_transfers(copies[k].second);
        }
        members.front().state.on_device([this] {
            if (all.has_messages_) {
                all.messages_ = ByPhase<std::unique_ptr<comm::Exchange>>(phases);
                for (const Phase phase : phases) {
                    all.messages_[phase] = comm.exchange(messages[phase].receives, messages[phase].sends);
                }
            }
        });
        signal();
        all.late_is_possible_ = comm.maximum(all.late_is_possible_ ? 0 : 1) == 0;
        for (std::size_t k = 0; k < members.size(); ++k) {
            if (!copies[k].second.empty() && !all.schedules_[k].needs_no_host()) {
                all.completed_by_end_.push_back(&members[k].state);
            }
        }
        // Asynchronous blocks are launched first, and work while the others are computed by the host.
        std::stable_partition(all.schedules_.begin(), all.schedules_.end(),
                              [](const BlockSchedule& schedule) { return schedule.state->is_asynchronous(); });
    }

    /// Shares blocks with other processes of the host.
    void share(const std::vector<SendRequest>& send_requests) {
        if (comm.size() == 1 || only == "mpi") {
            return;
        }
        const std::vector<std::string> hosts = comm.all_gather(comm.pretended_host());
        const auto same_host = [&](int number) {
            return hosts[std::size_t(block(number).rank)] == comm.pretended_host();
        };
        std::vector<SharedBlocks::Own> blocks;
        std::set<std::pair<int, int>> wanted;
        for (const Member& member : members) {
            blocks.push_back({member.number, member.state, block(member.number).device});
            for (const BoundaryHaloPlan::Import& import : member.plan.imports()) {
                if (!own.contains(import.from) && same_host(import.from)) {
                    wanted.insert({member.number, import.from});
                }
            }
        }
        for (const SendRequest& request : send_requests) {
            for (const BoundaryHaloPlan::Import& import : request.imports) {
                if (own.contains(import.from) && same_host(request.number)) {
                    wanted.insert({import.from, request.number});
                }
            }
        }
        all.shared_ = SharedBlocks(blocks, {wanted.begin(), wanted.end()}, comm);
    }

    /// Sets up the signals: a byte to and from each rank that shares blocks with this one.
    void signal() {
        if (signalled.empty()) {
            return;
        }
        constexpr int tag = 30000;  // more than there are messages between two ranks
        all.signal_bytes_.resize(2 * signalled.size());
        Messages bytes;
        char* byte = all.signal_bytes_.data();
        for (const int rank : signalled) {
            bytes.receives.push_back({byte++, 1, rank, tag});
            bytes.sends.push_back({byte++, 1, rank, tag});
        }
        all.signals_ = comm.exchange(bytes.receives, bytes.sends);
    }

    /// Makes an own block and one that another process shares wait for each other.
    void connect_shared(std::size_t member, int other, const backend::RemoteBlock& remote) {
        add_once(all.schedules_[member].neighbors, &remote);
        signalled.insert(block(other).rank);
    }

    GatheredCopies gathered(const BoundaryHaloPlan::Import& import) const {
        return {import.copies, phases, placements[std::size_t(import.from)]};
    }
    /// Lets a member gather, for a block that imports from its lattice, what lies at the ends of its rows.
    void gather(std::size_t from, const BoundaryHaloPlan::Import& import) {
        if (GatheredCopies both = gathered(import); both.gathers()) {
            void* const lattices[2] = {state(from).lattice(0), state(from).lattice(1)};
            copies[from].gather.push_back(
                {{lattices[0], lattices[1]}, {lattices[0], lattices[1]}, std::move(both.gather)});
        }
    }
    /// Copies an import directly from the lattices of the other block.
    void pull(std::size_t to, const BoundaryHaloPlan::Import& import, const EventSource& from, void* lattice0,
              void* lattice1) {
        const int number = members[to].number;
        const Transfer all_copies{
            {lattice0, lattice1}, {state(to).lattice(0), state(to).lattice(1)}, gathered(import).pull};
        if (!has_late_rows(import.from) && !has_late_rows(number)) {
            copies[to].first.push_back(all_copies);
            return;
        }
        LateCopies parts(all_copies.copies, phases, placements[std::size_t(import.from)],
                         placements[std::size_t(number)], members[to].plan.links());
        all.late_is_possible_ = all.late_is_possible_ && parts.are_possible;
        for (auto [list, part] : {std::pair{&copies[to].first, &parts.early}, {&copies[to].late, &parts.late}}) {
            list->push_back(all_copies);
            list->back().copies = std::move(*part);
        }
        if (has_late_rows(import.from)) {
            add_once(all.schedules_[to].late_neighbors, &from);
        }
    }

    /// Of blocks that are linked through a buffer neither may have a late interior.
    void need_no_late(int number, int other) {
        all.late_is_possible_ = all.late_is_possible_ && !has_late_rows(number) && !has_late_rows(other);
    }

    /// Connects two blocks of this process.
    void connect(std::size_t from, std::size_t to, const BoundaryHaloPlan::Import& import) {
        const Block& source = block(members[from].number);
        const Block& target = block(members[to].number);
        const Channel channel = channel_between(source.device, target.device, only);
        record(import, members[to].number, channel);
        add_once(all.schedules_[to].neighbors, &state(from));
        add_once(all.schedules_[from].neighbors, &state(to));
        if (channel == Channel::Direct) {
            gather(from, import);
            pull(to, import, state(from), state(from).lattice(0), state(from).lattice(1));
            add_once(all.schedules_[from].readers, &state(to));
            return;
        }
        need_no_late(members[from].number, members[to].number);
        const PackUnpack packing(import.copies, phases);
        void* memory = keep(backend::common_memory({source.device, target.device}, bytes(packing.largest())), packing);
        pack(from, memory, packing, true);
        unpack(to, memory, packing, true);
        add_once(all.schedules_[to].before_second, &state(from));
    }

    // The tags of messages between two ranks number them in the order of the target blocks, then of the source blocks,
    // on both sides.

    void receive(std::size_t to, const BoundaryHaloPlan::Import& import) {
        if (const backend::RemoteBlock* remote = all.shared_.find(members[to].number, import.from)) {
            record(import, members[to].number, Channel::Direct);
            connect_shared(to, import.from, *remote);
            pull(to, import, *remote, remote->lattice(0), remote->lattice(1));
            return;
        }
        record(import, members[to].number, Channel::Mpi);
        need_no_late(import.from, members[to].number);
        const PackUnpack packing(import.copies, phases);
        const int rank = block(import.from).rank;
        void* memory = message_memory(to, packing);
        unpack(to, memory, packing, !messages_on_device());
        const int tag = received[rank]++;
        all.schedules_[to].has_messages = true;
        for (const Phase phase : phases) {
            messages[phase].receives.push_back({memory, bytes(packing.elements[phase]), rank, tag});
        }
        all.has_messages_ = true;
    }

    void send(std::size_t from, int to, const BoundaryHaloPlan::Import& import) {
        if (const backend::RemoteBlock* remote = all.shared_.find(members[from].number, to)) {
            record(import, to, Channel::Direct);
            connect_shared(from, to, *remote);
            gather(from, import);
            add_once(all.schedules_[from].readers, remote);
            return;
        }
        record(import, to, Channel::Mpi);
        need_no_late(members[from].number, to);
        const PackUnpack packing(import.copies, phases);
        const int rank = block(to).rank;
        void* memory = message_memory(from, packing);
        pack(from, memory, packing, !messages_on_device());
        const int tag = sent[rank]++;
        for (const Phase phase : phases) {
            messages[phase].sends.push_back({memory, bytes(packing.elements[phase]), rank, tag});
        }
        all.schedules_[from].has_messages = true;
        all.has_messages_ = true;
    }

    std::size_t bytes(Index elements) const { return std::size_t(elements) * element(); }
    std::size_t element() const { return backend::size_of(spec.storage); }

    void record(const BoundaryHaloPlan::Import& import, int to, Channel channel) const {
        const double bytes = mean_elements(import.copies) * double(element());
        all.links_.push_back({import.from, to, channel, bytes / spec.state->steps_per_launch});
    }

    void* keep(std::shared_ptr<void> memory, const PackUnpack& packing) const {
        all.buffers_.push_back(std::move(memory));
        all.buffer_bytes_ += bytes(packing.largest());
        return all.buffers_.back().get();
    }
    /// Whether messages lie in a GPU's memory. All blocks must be on one device, as an MPI library may require that
    /// memory to belong to the thread's current device.
    bool messages_on_device() const {
        const std::string& device = block(members.front().number).device;
        return comm.cuda_aware() && std::all_of(members.begin(), members.end(), [&](const Member& member) {
                   return block(member.number).device == device;
               });
    }
    /// Allocates the buffer of a member's messages.
    void* message_memory(std::size_t member, const PackUnpack& packing) const {
        const std::string& device = block(members[member].number).device;
        const std::size_t size = bytes(packing.largest());
        return keep(
            messages_on_device() ? backend::device_memory(device, size) : backend::common_memory({device}, size),
            packing);
    }

    void pack(std::size_t member, void* memory, const PackUnpack& packing, bool in_host) {
        copies[member].first.push_back({{state(member).lattice(0), state(member).lattice(1)},
                                        {memory, memory},
                                        packing.pack,
                                        in_host ? Transfer::InHost::To : Transfer::InHost::Neither});
    }

    void unpack(std::size_t member, void* memory, const PackUnpack& packing, bool in_host) {
        copies[member].second.push_back({{memory, memory},
                                         {state(member).lattice(0), state(member).lattice(1)},
                                         packing.unpack,
                                         in_host ? Transfer::InHost::From : Transfer::InHost::Neither});
        all.has_second_ = true;
    }
};

HaloExchange::HaloExchange(const Layout& layout, const std::vector<BlockPlacement>& placements,
                           const std::vector<Member>& members, const std::vector<SendRequest>& send_requests,
                           const backend::BlockSpec& spec, const std::string& only, const comm::Communicator& comm) {
    Builder{*this, layout, placements, members, spec, only, comm}.build(send_requests);
}

comm::Exchange* HaloExchange::messages() const {
    return has_messages_ ? messages_[schedules_.front().state->phase()].get() : nullptr;
}

void HaloExchange::begin() {
    if (schedules_.empty()) {
        return;
    }
    parity_ = 1 - parity_;
    const int first_slot = parity_, second_slot = 2 + parity_;
    for (const BlockSchedule& schedule : schedules_) {
        if (schedule.gather != nullptr) {
            schedule.gather->run();
        }
        schedule.state->record_event(first_slot);
    }
    signal();
    for (const BlockSchedule& schedule : schedules_) {
        for (const EventSource* other : schedule.neighbors) {
            schedule.state->wait_for(*other, first_slot);
        }
        schedule.first->run();
    }
    run_late();
    wait_for_readers();
    if (!has_second_ && messages() == nullptr) {
        return;
    }
    for (const BlockSchedule& schedule : schedules_) {
        schedule.state->record_event(second_slot);
    }
    for (const BlockSchedule& schedule : schedules_) {
        if (schedule.needs_no_host()) {
            run_second(schedule);
        }
    }
    if (messages() != nullptr) {
        for (const BlockSchedule& schedule : schedules_) {  // until sends are packed and earlier receives unpacked
            if (schedule.has_messages) {
                schedule.state->wait(second_slot);
            }
        }
        schedules_.front().state->on_device([this] {
            messages()->start_receives();
            messages()->start_sends();
        });
    }
}

void HaloExchange::end() {
    if (schedules_.empty()) {
        return;
    }
    if (messages() != nullptr) {
        schedules_.front().state->on_device([this] { messages()->finish(); });
    }
    for (const BlockSchedule& schedule : schedules_) {
        if (has_second_ && !schedule.needs_no_host()) {
            run_second(schedule);
        }
    }
}

void HaloExchange::run_second(const BlockSchedule& schedule) const {
    for (const EventSource* other : schedule.before_second) {
        schedule.state->wait_for(*other, 2 + parity_);
    }
    schedule.second->run();
}

void HaloExchange::run_late() const {
    if (!has_late_) {
        return;
    }
    const int slot = 4 + parity_;
    for (const BlockSchedule& schedule : schedules_) {
        if (schedule.late != nullptr) {
            schedule.state->begin_late(slot);
        }
    }
    signal();
    for (const BlockSchedule& schedule : schedules_) {
        if (schedule.late != nullptr) {
            for (const EventSource* other : schedule.late_neighbors) {
                schedule.state->wait_late(*other, slot);
            }
            schedule.late->run();
            schedule.state->end_late();
        }
    }
}

void HaloExchange::wait_for_readers() const {
    if (!waits_for_readers_) {
        return;
    }
    const int slot = 4 + parity_;  // of the late part, which such blocks have not
    for (const BlockSchedule& schedule : schedules_) {
        schedule.state->record_event(slot);
    }
    signal();
    for (const BlockSchedule& schedule : schedules_) {
        for (const EventSource* reader : schedule.readers) {
            schedule.state->wait_for(*reader, slot);
        }
    }
}

void HaloExchange::signal() const {
    if (signals_ != nullptr) {
        signals_->start_receives();
        signals_->start_sends();
        signals_->finish();
    }
}

std::size_t HaloExchange::bytes() const {
    std::size_t sum = buffer_bytes_;
    for (const BlockSchedule& schedule : schedules_) {
        sum += schedule.first->bytes() + schedule.second->bytes();
        sum += schedule.gather == nullptr ? 0 : schedule.gather->bytes();
        sum += schedule.late == nullptr ? 0 : schedule.late->bytes();
    }
    return sum;
}

}  // namespace lbm::engine
