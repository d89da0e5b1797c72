// The exchange of a step: what the halo plans of the blocks import, moved by a channel for each link.
//
// A block waits for the last step of all blocks beside it before it copies: then what it reads is there, and what it
// overwrites has been read. What it reads its neighbours' next step leaves alone, but for one case: in place, a vector
// of cells at the end of a row is stored as a whole, with the place beyond that end whose population a block beside it
// along x may still have to copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../backend/block_state.h"
#include "halo_plan.h"
#include "layout.h"

namespace lbm::engine {

/// How a link moves: by the copies of one device from lattice to lattice, or through a buffer in the host's memory that
/// one side packs and the other unpacks.
enum class Channel { Direct, Staged };

inline const char* name_of(Channel channel) { return channel == Channel::Direct ? "direct" : "staged"; }

class HaloExchange {
public:
    /// A block of this process.
    struct Member {
        const Block& place;
        backend::BlockState& state;
        const HaloPlan& plan;
    };

    struct Link {
        int from, to;  // numbers of members
        Channel channel;
        double bytes;  // a step, the mean of the phases
    };

    HaloExchange() = default;
    /// Of members in the order of the layout; `only` forces a channel on every link, where it is not empty. Throws
    /// std::invalid_argument where that is no channel or cannot be.
    HaloExchange(const std::vector<Member>& members, backend::NumberKind storage, const std::string& only);

    void run() const;

    const std::vector<Link>& links() const { return links_; }
    std::size_t bytes() const;

private:
    /// What one block does in an exchange.
    struct Role {
        backend::BlockState* state;
        std::vector<const backend::BlockState*> beside, before_second;
        std::unique_ptr<backend::Transfers> first;   // packs, and brings what it reaches itself
        std::unique_ptr<backend::Transfers> second;  // unpacks
    };

    std::vector<Role> roles_;
    std::vector<std::shared_ptr<void>> buffers_;
    std::vector<Link> links_;
    bool has_second_ = false;  // part of the exchange
};

}  // namespace lbm::engine
