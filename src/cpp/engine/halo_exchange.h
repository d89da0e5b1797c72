// The halo exchange: after the shells of a step are updated, it moves the imports of all blocks' plans for the next
// step, through one channel for each link, while the interiors are updated.
//
// A block waits for the shells of all its neighbours before it copies: then the populations that it reads are written,
// and those that it overwrites have been read. The next step of a neighbour does not overwrite what is being read: it
// writes the other lattice, or, with the A-A pattern, places that only cells of its own read and write in two steps;
// and what leaves through the ends of rows has x-face buffers of the phase. The step after that one begins when the
// neighbours have recorded the next event, which comes after these copies. Where the lattices of a block overlap its
// next step overwrites what is being read: it waits for an event that follows these copies.
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

/// How the populations of a link move. Direct: the target's device copies from lattice to lattice, also between GPUs of
/// two processes of one host. Staged: the source packs a buffer in the host's memory and the target unpacks it. Mpi: as
/// staged, with a message between two buffers.
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

    /// All populations that a block of another process imports; those from blocks of this process are sent.
    struct SendRequest {
        int number;
        std::vector<BoundaryHaloPlan::Import> imports;
    };

    /// A connection between two blocks, at least one of which belongs to this process.
    struct Link {
        int from, to;  // numbers of blocks in the layout
        Channel channel;
        double bytes;  // moved in a step, averaged over the phases
    };

    HaloExchange() = default;
    /// `placements` are those of all blocks, `members` and `send_requests` are in the order of the layout. If `only` is
    /// not empty it forces a channel on the links: "direct" and "staged" on those within this process; "mpi" on those
    /// between processes, whose blocks are then not shared. Collective: all ranks call it. Throws std::invalid_argument
    /// if `only` is not a channel or is not possible.
    HaloExchange(const Layout& layout, const std::vector<BlockPlacement>& placements,
                 const std::vector<Member>& members, const std::vector<SendRequest>& send_requests,
                 const backend::BlockSpec& spec, const std::string& only, const comm::Communicator& comm);

    /// Starts the exchange, as far as the host need not wait for it; end() completes it. Without neighbouring blocks
    /// both do nothing.
    void begin();
    void end();
    /// The blocks whose imports are complete only after end().
    const std::vector<backend::BlockState*>& completed_by_end() const { return completed_by_end_; }
    /// Tells the ranks that share blocks with this one that it has recorded its events, and waits for theirs. It is
    /// called before events of theirs are waited for, and after the last step, so that nobody reads this rank's blocks
    /// any more.
    void signal() const;
    /// Whether the host takes part in each exchange, by messages or signals: then steps cannot be recorded.
    bool needs_host() const { return has_messages_ || signals_ != nullptr; }

    /// Whether late interiors, if blocks have any, go with the channels and the boundaries: see late_copies.h. Where it
    /// is false, the exchange must not be used. The same on all ranks.
    bool late_is_possible() const { return late_is_possible_; }

    const std::vector<Link>& links() const { return links_; }
    std::size_t bytes() const;

private:
    struct Builder;

    /// The part of one block in an exchange.
    struct BlockSchedule {
        /// Whether the second part of the exchange can be enqueued without waiting for the host.
        bool needs_no_host() const { return state->is_asynchronous() && !has_messages; }

        backend::BlockState* state;
        std::vector<const backend::EventSource*> neighbors;       // awaited before the first part
        std::vector<const backend::EventSource*> before_second;   // awaited before the second part
        std::vector<const backend::EventSource*> late_neighbors;  // awaited before the late part
        std::vector<const backend::EventSource*> readers;         // copy from its lattice
        bool has_messages = false;                                // the block sends or receives messages
        std::unique_ptr<backend::Transfers> gather;               // into its columns; null if it has none to gather
        std::unique_ptr<backend::Transfers> first;                // packs buffers and makes direct copies
        std::unique_ptr<backend::Transfers> second;               // unpacks buffers
        std::unique_ptr<backend::Transfers> late;                 // the late part; null without a late interior
    };

    SharedBlocks shared_;
    std::vector<std::shared_ptr<void>> buffers_;
    std::size_t buffer_bytes_ = 0;
    backend::ByPhase<std::unique_ptr<comm::Exchange>> messages_;  // by the phase of the last step
    /// A byte to and from each rank that shares blocks with this one.
    std::vector<char> signal_bytes_;
    std::unique_ptr<comm::Exchange> signals_;
    std::vector<BlockSchedule> schedules_;
    std::vector<backend::BlockState*> completed_by_end_;
    std::vector<Link> links_;
    comm::Exchange* messages() const;  // of the present step; null without messages
    void run_second(const BlockSchedule& schedule) const;
    void run_late() const;
    void wait_for_readers() const;

    bool has_second_ = false;  // whether the exchange has a second part
    bool has_messages_ = false;
    bool has_late_ = false;           // whether a block of any process has a late interior
    bool waits_for_readers_ = false;  // whether the next step of a block overwrites what others read
    bool late_is_possible_ = true;
    int parity_ =
        0;  // alternates between 0 and 1: an event may still be awaited while that of the next step is recorded
};

}  // namespace lbm::engine
