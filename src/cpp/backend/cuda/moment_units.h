// The units that updates of a block whose state is moments sweep: tiles over some layers, which have walls or not.
#pragma once

#include <array>
#include <vector>

#include "../row_box.h"
#include "device.h"
#include "kernels/moment_arguments.h"
#include "moment_launches.h"
#include "moment_wall_map.h"

namespace lbm::cuda {

/// The units that a block's updates sweep, by their kinds.
class MomentUnits {
public:
    using Kind = MomentUnitKind;
    static constexpr int kind_count = 7;
    /// Those that take longest first.
    static constexpr Kind kinds[kind_count] = {{true, true, MomentFace::X},
                                               {true, true, MomentFace::None},
                                               {true, true, MomentFace::Y},
                                               {true, false, MomentFace::X},
                                               {true, false, MomentFace::None},
                                               {true, false, MomentFace::Y},
                                               {}};

    struct List {
        DeviceBuffer units;
        int count = 0;
    };

    /// Those of each kind.
    using Lists = std::array<std::vector<MomentUnit>, kind_count>;
    /// Divides the rows of a box as for one of `at_once` that share the GPU evenly.
    static Lists divided(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D,
                         int steps, const DeviceInfo& device, const MomentWallMap& walls, int at_once);

    MomentUnits(const Lists& lists, const WorkStream& stream);

    /// The units of number k of `kinds`.
    const List& of(int k) const { return lists_[std::size_t(k)]; }
    std::size_t bytes() const;

private:
    std::array<List, kind_count> lists_;
};

}  // namespace lbm::cuda
