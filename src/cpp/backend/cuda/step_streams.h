// The streams of a block: one of everything, and one of high priority of the shell and the exchange where the interior
// is updated beside them; the marks in them that other blocks wait for, and the times of a step's moments.
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
    /// Of the shell and the exchange.
    const WorkStream& border() const { return divided() ? *border_ : main_; }

    /// Whether the two are different.
    void divide(bool divided);
    bool divided() const { return border_ != nullptr; }
    /// What the border is given from now on begins after what the main stream has been given so far,
    void fork();
    /// and the reverse.
    void join();

    void make_events(bool for_others);
    const std::vector<std::unique_ptr<StreamEvent>>& events() const { return events_; }  // by slot
    /// Of the border; that of the end slot of all.
    void record_event(int slot);
    /// Of the main stream.
    void record_main(int slot) { events_[std::size_t(slot)]->set(main_); }
    /// All begins after the mark.
    void all_after(const StreamEvent& mark);

    void record(backend::Timestamp moment);
    double seconds_between(backend::Timestamp from, backend::Timestamp to) const;

private:
    int ordinal_;
    WorkStream main_;
    std::unique_ptr<WorkStream> border_;
    StreamEvent fork_, join_;
    std::vector<std::unique_ptr<StreamEvent>> events_;
    std::unique_ptr<StreamEvent> moments_[backend::timestamps_of_step];
};

}  // namespace lbm::cuda
