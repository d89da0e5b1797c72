// Orders the streams of a block by events, and records timestamps.
#include "step_streams.h"

#include "../remote_block.h"

namespace lbm::cuda {

using backend::Timestamp;

namespace {

constexpr int end_slot = backend::EventSource::end_slot;

const StreamEvent& end_of(const StepStreams& streams) { return *streams.events()[std::size_t(end_slot)]; }

}  // namespace

StepStreams::StepStreams(int ordinal)
    : ordinal_(ordinal),
      main_(ordinal),
      fork_(ordinal),
      join_(ordinal),
      begin_late_(ordinal),
      end_late_(ordinal),
      begin_ahead_(ordinal),
      end_ahead_(ordinal) {
    make_events(false);
}

void StepStreams::set(std::unique_ptr<WorkStream>& stream, bool wanted) const {
    if (wanted != (stream != nullptr)) {
        stream = wanted ? std::make_unique<WorkStream>(ordinal_, Priority::High) : nullptr;
    }
}

void StepStreams::divide(bool divided, bool late) {
    set(border_, divided);
    set(late_, late);
}

void StepStreams::fork() {
    if (divided()) {
        fork_.set(main_);
        fork_.make_wait(*border_);
    }
}

void StepStreams::join() {
    if (divided()) {
        join_.set(*border_);
        join_.make_wait(main_);
    }
}

void StepStreams::join_all() {
    join();
    after_late(main_);
    late_goes_on_ = false;
    may_go_ahead_ = false;
}

void StepStreams::begin_late(int slot) {
    begin_late_.set(main_);
    begin_late_.make_wait(*late_);
    if (divided()) {
        begin_late_.set(*border_);
        begin_late_.make_wait(*late_);
    }
    events_[std::size_t(slot)]->set(*late_);
}

void StepStreams::end_late() {
    end_late_.set(*late_);
    late_goes_on_ = true;
}

void StepStreams::after_late(const WorkStream& stream) {
    if (late_goes_on_) {
        end_late_.make_wait(stream);
    }
}

void StepStreams::set_ahead(bool wanted) {
    set(ahead_, wanted);
    may_go_ahead_ = false;
}

void StepStreams::allow_ahead() {
    if (ahead_ != nullptr) {
        begin_ahead_.set(main_);
        may_go_ahead_ = true;
    }
}

bool StepStreams::begin_ahead() {
    const bool goes_ahead = may_go_ahead_;
    if (!goes_ahead) {
        begin_ahead_.set(main_);
    }
    begin_ahead_.make_wait(*ahead_);
    may_go_ahead_ = false;
    return goes_ahead;
}

void StepStreams::end_ahead() {
    end_ahead_.set(*ahead_);
    end_ahead_.make_wait(main_);
}

void StepStreams::make_events(bool for_others) {
    events_.clear();
    for (int k = 0; k < backend::EventSource::slots; ++k) {
        events_.push_back(std::make_unique<StreamEvent>(
            ordinal_, for_others ? StreamEvent::Use::OtherProcesses : StreamEvent::Use::Order));
    }
}

void StepStreams::record_event(int slot) {
    if (slot == backend::EventSource::end_slot) {
        join_all();
        record_main(slot);
    } else {
        events_[std::size_t(slot)]->set(border());
    }
}

void StepStreams::all_after(const StreamEvent& event) {
    event.make_wait(main_);
    if (divided()) {
        event.make_wait(*border_);
    }
}

void StepStreams::record(Timestamp timestamp) {
    if (timestamp == Timestamp::Begun) {  // a step begins when the previous exchange has ended
        join();
    }
    std::unique_ptr<StreamEvent>& event = timestamps_[int(timestamp)];
    if (event == nullptr) {
        event = std::make_unique<StreamEvent>(ordinal_, StreamEvent::Use::Time);
    }
    event->set(timestamp == Timestamp::ShellDone || timestamp == Timestamp::Exchanged ? border() : main_);
}

double StepStreams::seconds_between(Timestamp from, Timestamp to) const {
    return timestamps_[int(to)]->seconds_since(*timestamps_[int(from)]);
}

void lead(StepStreams& first, const std::vector<StepStreams*>& others) {
    first.record_main(end_slot);
    first.all_after(end_of(first));
    for (StepStreams* other : others) {
        other->all_after(end_of(first));
    }
}

void follow(StepStreams& first, const std::vector<StepStreams*>& others) {
    first.join_all();
    for (StepStreams* other : others) {
        other->record_event(end_slot);
        first.all_after(end_of(*other));
    }
}

}  // namespace lbm::cuda
