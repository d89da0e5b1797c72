// The additional interface of blocks to bodies that move.
#pragma once

#include <memory>
#include <vector>

#include "link_data.h"
#include "moving_body.h"
#include "state_samples.h"

namespace lbm::backend {

/// A body that moves, with its shape in the memory of the host.
struct MovingBodyData {
    std::vector<ShapePart> parts;
    std::vector<double> numbers;
    std::vector<int> table;
    MovingBody body{};  // all but the shape and the marks

    /// The index behind that of the last of its numbers among the factors of a step.
    int end() const { return body.series + MovingStep::numbers; }
    std::size_t bytes() const {
        return parts.size() * sizeof(ShapePart) + numbers.size() * sizeof(double) + table.size() * sizeof(int);
    }
    Shape shape() const { return {parts.data(), int(parts.size()), numbers.data(), table.data()}; }
};

/// What a torque is about.
struct TorqueCenter {
    double at[3];
    bool moves;  // with the body: then `at` is the distance from the point about which that turns
};

class MovingState {
public:
    MovingState() = default;
    MovingState(const MovingState&) = delete;
    MovingState& operator=(const MovingState&) = delete;
    virtual ~MovingState() = default;

    /// Sets all bodies that move, which are copied. Where they are in a step the factors of that say (ScaledState).
    virtual void set_bodies(const std::vector<MovingBodyData>& bodies, const MovingPlace& place) = 0;
    /// The force on one of them in the coming step, and the torque. Boundaries and halos must have been applied.
    virtual ForceAndTorque force(std::size_t which, const TorqueCenter& center) const = 0;
    /// Makes what records the numbers of force(): three of the force, three of the torque.
    virtual std::unique_ptr<StateSamples> make_force_samples(std::size_t which, const TorqueCenter& center) = 0;
};

}  // namespace lbm::backend
