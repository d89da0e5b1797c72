// Collects the links of a block to walls at known distances, and those through which two fluid cells have a wall
// between them, and lists them in the order of memory, so that threads side by side read neighbouring places.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../backend/links.h"
#include "../lattice/links.h"

namespace lbm::engine {

/// `Source` is what the values of links come from.
template <class S, class Source>
class CutLinkLists {
public:
    /// The link through which population i enters a cell of the block.
    struct Into {
        int x, y, z, i;
    };

    CutLinkLists(const Address& address, const std::vector<Phase>& phases) : address_(address), phases_(phases) {}

    /// Adds a link whose incoming place is no outgoing one of a fluid cell.
    void add(const Into& into, const boundary::LinearWeights& weights, int off_wall, const Source& source) {
        links_.push_back(pending(into, weights, off_wall, source, false));
    }
    /// Adds a side of a wall between two fluid cells whose populations lie in each other's places.
    void add_side(const Into& into, const boundary::LinearWeights& weights, int off_wall, const Source& source,
                  bool is_halfway) {
        sides_.push_back(pending(into, weights, off_wall, source, is_halfway));
    }

    /// Lists all, with the sources of links and of sides.
    void put_into(backend::LinkPlan& plan, std::vector<Source>& link_sources, std::vector<Source>& side_sources) {
        plan.cut_places = backend::ByPhase<std::vector<backend::CutPlaces>>(phases_);
        plan.sheet_places = backend::ByPhase<std::vector<backend::SheetPlaces>>(phases_);
        std::sort(links_.begin(), links_.end(),
                  [](const Pending& a, const Pending& b) { return a.incoming < b.incoming; });
        for (const Pending& p : links_) {
            plan.cut_links.push_back(p.link);
            link_sources.push_back(p.source);
            for (const Phase phase : phases_) {
                plan.cut_places[phase].push_back(places(p, phase));
            }
        }
        std::sort(sides_.begin(), sides_.end(), [](const Pending& a, const Pending& b) {
            return std::pair(a.first(), a.incoming) < std::pair(b.first(), b.incoming);
        });
        for (std::size_t k = 0; k < sides_.size(); k += 2) {
            join(k, plan, side_sources);
        }
    }

private:
    struct Pending {
        Into into;
        backend::CutLink link;
        Source source;
        bool is_halfway;
        Index incoming, outgoing;  // places in the first phase

        Index first() const { return std::min(incoming, outgoing); }
    };

    Pending pending(const Into& into, const boundary::LinearWeights& weights, int off_wall, const Source& source,
                    bool is_halfway) const {
        const auto& [x, y, z, i] = into;
        const NearestNeighborOffsets<S> at(address_, phases_.front(), x, y, z);
        const backend::CutLink link{
            {weights.returning, weights.streamed, 0}, weights.momentum, -1, static_cast<unsigned char>(off_wall)};
        return {into, link, source, is_halfway, at.post_streaming(i), at.post_collision(Stencil<S>::opposite(i))};
    }

    backend::CutPlaces places(const Pending& p, Phase phase) const {
        const auto& [x, y, z, i] = p.into;
        const NearestNeighborOffsets<S> at(address_, phase, x, y, z);
        const int towards = Stencil<S>::opposite(i);
        const Index outgoing = at.post_collision(towards);
        return {outgoing, p.is_halfway ? outgoing : at.post_collision(i),
                p.is_halfway ? outgoing : at.post_streaming(towards), at.post_streaming(i)};
    }

    /// Lists sides k and k + 1 as one wall.
    void join(std::size_t k, backend::LinkPlan& plan, std::vector<Source>& side_sources) const {
        if (k + 1 == sides_.size() || sides_[k].incoming != sides_[k + 1].outgoing ||
            sides_[k].outgoing != sides_[k + 1].incoming) {
            throw std::logic_error("a wall between two fluid cells is known to one of them only");
        }
        plan.sheet_links.push_back({{sides_[k].link, sides_[k + 1].link}});
        for (const Phase phase : phases_) {
            const backend::CutPlaces one = places(sides_[k], phase), other = places(sides_[k + 1], phase);
            plan.sheet_places[phase].push_back(
                {{one.incoming, other.incoming}, {one.returning, other.returning}, {one.streamed, other.streamed}});
        }
        side_sources.push_back(sides_[k].source);
        side_sources.push_back(sides_[k + 1].source);
    }

    const Address& address_;
    const std::vector<Phase>& phases_;
    std::vector<Pending> links_, sides_;
};

}  // namespace lbm::engine
