// Events in the work of a block for which other blocks wait, and access to a block of another process of the same host.
#pragma once

#include <memory>
#include <string>

namespace lbm::backend {

/// The owner of events. A slot holds the last event recorded in it.
class EventSource {
public:
    // Two, used alternately, for each part of an exchange and for its late part or its end, and one for the end of a
    // run of steps.
    static constexpr int slots = 7, end_slot = slots - 1;

    EventSource() = default;
    EventSource(const EventSource&) = delete;
    EventSource& operator=(const EventSource&) = delete;
    virtual ~EventSource() = default;

    /// Blocks the calling thread until the event in a slot has completed.
    virtual void wait(int slot) const { static_cast<void>(slot); }
};

/// A block that another process has shared, whose lattices a device of this process can read.
class RemoteBlock : public EventSource {
public:
    virtual void* lattice(int which) const = 0;
};

}  // namespace lbm::backend
