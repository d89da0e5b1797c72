// The streams of a block: a main stream, and, if shell and interior are updated concurrently, a border stream of high
// priority for the shell and the exchange. Where the interior is late, a third stream has the exchange that goes on in
// the next step. A further one has work that goes ahead of its step. It also has the events for which other blocks
// wait, and the timestamps.
#pragma once

#include <memory>
#include <vector>

#include "../timestamps.h"
#include "device.h"

namespace lbm::cuda {

class StepStreams {
public:
    explicit StepStreams(int ordinal);

    const WorkStream& main() const { return main_; }
    /// The stream of the shell and the exchange; the main stream unless divided().
    const WorkStream& border() const { return divided() ? *border_ : main_; }

    /// Sets whether there is a separate border stream, and a late one.
    void divide(bool divided, bool late);
    bool divided() const { return border_ != nullptr; }
    /// Makes further work of the border stream wait for the work of the main stream so far.
    void fork();
    /// Makes further work of the main stream wait for the work of the border stream so far.
    void join();
    /// The same for the work of both other streams.
    void join_all();

    /// The stream of the late exchange, which goes on in the next step, if there is one.
    const WorkStream& late() const { return *late_; }
    /// Makes further work of the late stream wait for the work of the other two so far, and records an event in it.
    void begin_late(int slot);
    /// Marks the end of the late stream's work of a step.
    void end_late();
    /// Makes further work of a stream wait for that work; without effect where a join_all() has come after it.
    void after_late(const WorkStream& stream);

    /// Sets whether there is a stream for work that the update before its step does not matter to.
    void set_ahead(bool wanted);
    const WorkStream& ahead() const { return *ahead_; }
    /// Lets that of the next step begin once the work of the main stream so far is done. Without effect if there is no
    /// such stream, and once a join_all() has come after it.
    void allow_ahead();
    /// Makes further work of the stream ahead wait for what allow_ahead() has said, or for the main stream. Says which:
    /// whether it is beside the update before.
    bool begin_ahead();
    /// Makes further work of the main stream wait for the work ahead.
    void end_ahead();

    /// Makes the events of all slots; `for_others` makes them usable in other processes.
    void make_events(bool for_others);
    const std::vector<std::unique_ptr<StreamEvent>>& events() const { return events_; }  // by slot
    /// Records an event in the border stream; that of EventSource::end_slot after the work of all streams.
    void record_event(int slot);
    /// Records an event in the main stream.
    void record_main(int slot) { events_[std::size_t(slot)]->set(main_); }
    /// Makes further work of the main and the border stream wait for an event; the late one follows them.
    void all_after(const StreamEvent& event);

    void record(backend::Timestamp timestamp);
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const;

private:
    /// Makes a stream of high priority, or gives it back.
    void set(std::unique_ptr<WorkStream>& stream, bool wanted) const;

    int ordinal_;
    WorkStream main_;
    std::unique_ptr<WorkStream> border_, late_, ahead_;
    StreamEvent fork_, join_, begin_late_, end_late_, begin_ahead_, end_ahead_;
    bool late_goes_on_ = false;  // the main stream has not waited for end_late_
    bool may_go_ahead_ = false;  // begin_ahead_ is set, and is not of an earlier recording
    std::vector<std::unique_ptr<StreamEvent>> events_;
    std::unique_ptr<StreamEvent> timestamps_[backend::timestamps_of_step];
};

/// Makes the streams of other blocks wait for the first block's main stream.
void lead(StepStreams& first, const std::vector<StepStreams*>& others);
/// Makes the first block's streams wait for all others.
void follow(StepStreams& first, const std::vector<StepStreams*>& others);

}  // namespace lbm::cuda
