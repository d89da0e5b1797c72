// Points in the work of a block that others wait for, and a block of another process of the same host.
#pragma once

#include <memory>
#include <string>

namespace lbm::backend {

/// What can mark points in its work. A slot keeps the last mark that it was given.
class EventSource {
public:
    static constexpr int slots = 5;             // two by turns for each half of an exchange,
    static constexpr int end_slot = slots - 1;  // and one for the end of a run of steps

    EventSource() = default;
    EventSource(const EventSource&) = delete;
    EventSource& operator=(const EventSource&) = delete;
    virtual ~EventSource() = default;

    /// Returns when what has been marked is done.
    virtual void wait(int slot) const { static_cast<void>(slot); }
};

/// A block that another process has shared: its lattices are in reach of a device of this one.
class RemoteBlock : public EventSource {
public:
    virtual void* lattice(int which) const = 0;
};

}  // namespace lbm::backend
