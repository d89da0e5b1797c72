// Forks, joins and marks between the streams of a block.
#include "step_streams.h"

#include "../remote_block.h"

namespace lbm::cuda {

using backend::Moment;

StepStreams::StepStreams(int ordinal) : ordinal_(ordinal), main_(ordinal), fork_(ordinal), join_(ordinal) {
    make_marks(false);
}

void StepStreams::divide(bool divided) {
    if (divided != this->divided()) {
        border_ = divided ? std::make_unique<WorkStream>(ordinal_, Priority::High) : nullptr;
    }
}

void StepStreams::fork() {
    if (divided()) {
        fork_.set(main_);
        fork_.hold(*border_);
    }
}

void StepStreams::join() {
    if (divided()) {
        join_.set(*border_);
        join_.hold(main_);
    }
}

void StepStreams::make_marks(bool for_others) {
    marks_.clear();
    for (int k = 0; k < backend::Marked::slots; ++k) {
        marks_.push_back(
            std::make_unique<WorkMark>(ordinal_, for_others ? WorkMark::Use::OtherProcesses : WorkMark::Use::Order));
    }
}

void StepStreams::mark(int slot) {
    if (slot == backend::Marked::end_slot) {
        join();
        mark_main(slot);
    } else {
        marks_[std::size_t(slot)]->set(border());
    }
}

void StepStreams::all_after(const WorkMark& mark) {
    mark.hold(main_);
    if (divided()) {
        mark.hold(*border_);
    }
}

void StepStreams::note(Moment moment) {
    if (moment == Moment::Begun) {  // when the exchange before it is over
        join();
    }
    std::unique_ptr<WorkMark>& mark = moments_[int(moment)];
    if (mark == nullptr) {
        mark = std::make_unique<WorkMark>(ordinal_, WorkMark::Use::Time);
    }
    mark->set(moment == Moment::ShellDone || moment == Moment::Exchanged ? border() : main_);
}

double StepStreams::seconds_between(Moment from, Moment to) const {
    return moments_[int(to)]->seconds_since(*moments_[int(from)]);
}

}  // namespace lbm::cuda
