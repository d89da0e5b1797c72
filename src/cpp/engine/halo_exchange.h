// The exchange after the shells of a step: what the halo plans of the blocks import for the next one, moved by a
// channel for each link, while the interiors are updated.
//
// A block waits for the shells of all blocks beside it before it copies: then what it reads is there, and what it
// overwrites has been read. What it reads its neighbours' next step leaves alone, but for what leaves through the ends
// of rows: in place, side columns are stored in every step, and vectors of cells as a whole, with the place beyond the
// end. Whoever such things are read from waits until they have been.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../backend/block_state.h"
#include "../comm/communicator.h"
#include "boundary_halo_plan.h"
#include "layout.h"
#include "shared_blocks.h"

namespace lbm::engine {

/// How a link moves: by the copies of one device from lattice to lattice, which processes of a host share where they
/// are on GPUs; through a buffer in the host's memory that one side packs and the other unpacks; or through two buffers
/// and a message between processes.
enum class Channel { Direct, Staged, Mpi };

inline const char* name_of(Channel channel) {
    return channel == Channel::Direct ? "direct" : channel == Channel::Staged ? "staged" : "mpi";
}

class HaloExchange {
public:
    /// A block of this process.
    struct Member {
        int number;  // in the layout
        backend::BlockState& state;
        const BoundaryHaloPlan& plan;
    };

    /// What a block of another process imports.
    struct SendRequest {
        int number;
        std::vector<BoundaryHaloPlan::Import> imports;
    };

    /// To a block of this process, or from one to another process.
    struct Link {
        int from, to;  // numbers of blocks
        Channel channel;
        double bytes;  // a step, the mean of the phases
    };

    HaloExchange() = default;
    /// Of members and send_requests in the order of the layout; `only` forces a channel on every link within this
    /// process, where it is not empty; "mpi" leaves those to the choice, and shares nothing with other processes. All
    /// ranks call it. Throws std::invalid_argument where that is no channel or cannot be.
    HaloExchange(const Layout& layout, const std::vector<Member>& members,
                 const std::vector<SendRequest>& send_requests, const backend::BlockSpec& spec, const std::string& only,
                 const comm::Communicator& comm);

    /// Starts all that goes on by itself; end() brings the rest. Without blocks beside one another both do nothing.
    void begin();
    void end();
    /// The blocks to which end() brings something.
    const std::vector<backend::BlockState*>& late() const { return late_; }
    /// Tells the ranks that share blocks with this one that it has come so far, and waits for them to do so too: before
    /// marks of theirs are read, and after the last step, when nobody reads its blocks any more.
    void signal() const;
    /// Whether it waits for something that no device does by itself.
    bool needs_host() const { return has_messages_ || signals_ != nullptr; }

    const std::vector<Link>& links() const { return links_; }
    std::size_t bytes() const;

private:
    struct Builder;

    /// What one block does in an exchange.
    struct BlockSchedule {
        /// Whether its second part need not wait for the host.
        bool goes_on() const { return state->is_asynchronous() && !has_mail; }

        backend::BlockState* state;
        std::vector<const backend::EventSource*> beside, before_second;
        bool has_mail = false;                       // messages go out or come in
        std::unique_ptr<backend::Transfers> first;   // packs, and brings what it reaches itself
        std::unique_ptr<backend::Transfers> second;  // unpacks
    };

    SharedBlocks shared_;
    std::vector<std::shared_ptr<void>> buffers_;
    std::size_t buffer_bytes_ = 0;
    backend::ByPhase<std::unique_ptr<comm::Exchange>> messages_;  // of the last step; none without messages
    /// A byte to and from each rank that shares blocks with this one.
    std::vector<char> signal_bytes_;
    std::unique_ptr<comm::Exchange> signals_;
    bool signals_twice_ = false;  // for second marks too; the same on all ranks
    std::vector<BlockSchedule> roles_;
    std::vector<backend::BlockState*> late_;
    std::vector<Link> links_;
    comm::Exchange* messages() const;  // of this step; null for none
    void run_second(const BlockSchedule& role) const;

    bool has_second_ = false;  // part of the exchange
    bool has_messages_ = false;
    int parity_ = 0;  // 0 or 1: a mark is read in one step while that of the next is set
};

}  // namespace lbm::engine
