// The walls of a block on a GPU whose state is moments, as its updates read them.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../lattice/boundary/all.h"
#include "../block_state.h"
#include "../links.h"
#include "../moment_links.h"
#include "../moment_scaling.h"
#include "device.h"
#include "kernels/moment_arguments.h"
#include "moment_wall_map.h"
#include "upload.h"

namespace lbm::cuda {

/// The links of cells, once of all cells with the same ones, which then find them in the first-level cache.
class UniqueLinks {
public:
    /// The place of the first of the links of a cell.
    UInt32 first_of(const backend::WallLink* links, int count) {
        key_.clear();
        const auto add = [&](auto number) { key_.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
        for (int k = 0; k < count; ++k) {
            add(links[k].value);
            add(links[k].i);
            add(links[k].condition);
            add(links[k].off_wall);
            add(links[k].scaled);
        }
        if (key_ != last_key_) {  // along a plane wall they are those of the cell before
            const auto [found, is_new] = places_.try_emplace(key_, UInt32(all_.size()));
            if (is_new) {
                all_.insert(all_.end(), links, links + count);
            }
            last_key_ = key_;
            last_ = found->second;
        }
        return last_;
    }
    const std::vector<backend::WallLink>& all() const { return all_; }

private:
    std::vector<backend::WallLink> all_;
    std::unordered_map<std::string, UInt32> places_;
    std::string key_, last_key_;
    UInt32 last_ = 0;
};

/// The walls of a block in the GPU's memory, and where they are.
class DeviceMomentWalls {
public:
    DeviceMomentWalls(const Address& address, int D, const WorkStream& stream) : map_(address, D), stream_(stream) {}

    void set_plan(const backend::LinkPlan& plan) {
        map_.set_plan(plan);
        upload(weight_buffer_, stream_, plan.link_weights);
        chunk_buffer_ = {};
        upload(chunk_buffer_, stream_, map_.chunks());
        wall_cells_ = plan.wall_cells;
        cell_buffer_ = {};
        set_values(plan);
    }
    /// Takes the values of the plan, which have changed.
    void set_values(const backend::LinkPlan& plan) {
        const std::vector<backend::WallLink> links = backend::moment_links(plan);
        reference_density_ = plan.reference_density;
        wall_inertia_ = plan.wall_inertia;
        upload(scaled_buffer_, stream_, plan.scaled_values);
        UniqueLinks unique;
        bool are_new = cell_buffer_.bytes() == 0;
        for (const backend::WallCell& cell : wall_cells_) {
            const auto first = links.begin() + cell.first;
            const auto all = [&](auto&& holds) { return std::all_of(first, first + cell.count, holds); };
            const bool reflects = all([](const backend::WallLink& link) {
                return link.condition == position_in<boundary::Conditions, boundary::MovingWall> && link.scaled < 0;
            });
            const bool rests = reflects && all([](const backend::WallLink& link) { return link.value == 0; });
            MomentWallCell& to = map_.cell(cell.x, cell.y, cell.z);
            const MomentWallCell before = to;
            to.links &= ~(MomentWallCell::rests | MomentWallCell::reflects);
            to.links |= (rests ? MomentWallCell::rests : 0) | (reflects ? MomentWallCell::reflects : 0);
            if (!map_.has_cuts() && !rests) {  // with cuts each link has weights of its own
                to.first = unique.first_of(&*first, cell.count);
            }
            are_new = are_new || to.links != before.links || to.first != before.first;
        }
        if (are_new) {
            upload(cell_buffer_, stream_, map_.cells());
        }
        upload(link_buffer_, stream_, map_.has_cuts() ? links : unique.all());
    }

    const MomentWallMap& map() const { return map_; }
    /// Takes the factors of what changes in time, if these have changed. No update may be under way.
    void set_factors(const backend::MomentScaling& scaling) {
        if (version_ != scaling.version()) {
            version_ = scaling.version();
            upload(factor_buffer_, stream_, scaling.table());
        }
    }
    MomentWallRows arguments(const double (&force)[3], const backend::MomentScaling& scaling) const {
        MomentWallRows rows = map_.rows();
        rows.reference_density = reference_density_;
        rows.wall_inertia = wall_inertia_;
        if (scaling.scales_walls()) {
            rows.scaled_values = scaled_buffer_.as<backend::ScaledVector>();
            rows.factors = factor_buffer_.as<double>() + scaling.next_factors();
            rows.series = scaling.series();
        }
        rows.chunk = chunk_buffer_.as<int>();
        rows.cells = cell_buffer_.as<MomentWallCell>();
        rows.links = link_buffer_.as<backend::WallLink>();
        rows.weights = weight_buffer_.as<boundary::LinearWeights>();
        std::copy(force, force + 3, rows.force);
        return rows;
    }
    std::size_t bytes() const {
        return chunk_buffer_.bytes() + cell_buffer_.bytes() + link_buffer_.bytes() + weight_buffer_.bytes() +
               scaled_buffer_.bytes() + factor_buffer_.bytes();
    }

private:
    MomentWallMap map_;
    const WorkStream& stream_;
    std::vector<backend::WallCell> wall_cells_;
    double reference_density_ = 1, wall_inertia_ = 1;
    DeviceBuffer chunk_buffer_, cell_buffer_, link_buffer_, weight_buffer_, scaled_buffer_, factor_buffer_;
    Index version_ = -1;  // of the factors
};

}  // namespace lbm::cuda
