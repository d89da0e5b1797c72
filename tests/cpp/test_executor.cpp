// Tests the executor with blocks that do nothing but note what each update launches: replayed or not, it is what the
// same update launches by itself, whatever the steps between two renewals of an eddy viscosity, and after restarts.
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "../../src/cpp/backend/renewal_schedule.h"
#include "../../src/cpp/engine/executor.h"
#include "check.h"

namespace {

using lbm::Index;
using lbm::Phase;
using lbm::backend::BlockState;
using lbm::backend::RenewalSchedule;
using lbm::backend::ScheduledUpdate;

/// What an update launches: kernels of its phase, with or without a renewal before, of a number that is one of renewals
/// or not, that keep the velocity or not.
struct Launches {
    Phase phase;
    bool renews, is_at_renewal, keeps;

    bool operator==(const Launches& other) const = default;
};

/// What has been launched, and what is being recorded instead.
struct Device {
    std::vector<Launches> done;
    std::vector<Launches>* recording = nullptr;
};

class DeviceRecorder final : public lbm::backend::Recorder {
public:
    explicit DeviceRecorder(Device& device) : device_(device) {}
    void record(const std::function<void()>& work) override {
        device_.recording = &recorded_;
        work();
        device_.recording = nullptr;
    }
    void replay(Index times) override {
        for (Index k = 0; k < times; ++k) {
            device_.done.insert(device_.done.end(), recorded_.begin(), recorded_.end());
        }
    }

private:
    Device& device_;
    std::vector<Launches> recorded_;
};

/// A block of the A-A pattern that holds an eddy viscosity for `every` steps. What the executor does not call throws.
class NotingBlock final : public BlockState {
public:
    NotingBlock(int every, bool records) : schedule_(every), every_(every), records_(records) {}

    /// A state that was set after so many steps.
    void restart(Index steps) {
        phase_ = Phase::AAEven;
        schedule_.set_steps(steps);
        schedule_.set_due(true);
    }
    void change() { ++revision_; }
    void update() {
        Launches launches{next_phase(phase_), schedule_.renews(), schedule_.is_at_renewal(), false};
        schedule_.begin_step();
        launches.keeps = schedule_.keeps_velocity();
        phase_ = launches.phase;
        asked_ += device.recording == nullptr ? 1 : 0;
        (device.recording != nullptr ? *device.recording : device.done).push_back(launches);
    }
    /// The updates that were asked for one by one since the last call.
    int asked() { return std::exchange(asked_, 0); }
    std::vector<ScheduledUpdate> kinds_ahead() const { return kinds_of_updates(phase_, schedule_, every_); }

    int updates_of_cycle() const override { return std::lcm(2, schedule_.steps_of_cycle()); }
    int place_in_cycle() const override { return 2 * schedule_.place_in_cycle() + phase_index(phase_); }
    Index updates_in_cycle() const override { return schedule_.steps_in_cycle(); }
    void count_replayed(Index updates) override { schedule_.count(updates); }
    Index revision() const override { return revision_; }
    std::unique_ptr<lbm::backend::Recorder> make_recorder(const std::vector<BlockState*>&) override {
        return records_ ? std::make_unique<DeviceRecorder>(device) : nullptr;
    }

    const lbm::Address& address() const override { refuse(); }
    std::size_t bytes() const override { refuse(); }
    void set_plan(const lbm::backend::LinkPlan&) override { refuse(); }
    void plan_values_changed() override { refuse(); }
    void set_solid(const std::uint8_t*, const double*) override { refuse(); }
    void set_force(const double*, const double*, int) override { refuse(); }
    Phase phase() const override { return phase_; }
    void* lattice(int) const override { refuse(); }
    std::unique_ptr<lbm::backend::Transfers> make_transfers(const std::vector<lbm::backend::Transfer>&) override {
        refuse();
    }
    void set_interior(const lbm::backend::Interior&) override { refuse(); }
    void apply_boundaries() override { refuse(); }
    void start_boundary_numbers() override { refuse(); }
    void boundary_numbers(double*) const override { refuse(); }
    void set_boundary_numbers(const double*) override { refuse(); }
    void update_shell(int) override { refuse(); }
    void update_interior() override { refuse(); }
    void record(lbm::backend::Timestamp) override { refuse(); }
    double seconds_between(lbm::backend::Timestamp, lbm::backend::Timestamp) const override { refuse(); }
    void initialize(const lbm::backend::InitialFields&) override { refuse(); }
    void density(float*, const lbm::backend::CellBox&) const override { refuse(); }
    void density(double*, const lbm::backend::CellBox&) const override { refuse(); }
    void velocity(float*, const lbm::backend::CellBox&) const override { refuse(); }
    void velocity(double*, const lbm::backend::CellBox&) const override { refuse(); }
    void populations(float*) const override { refuse(); }
    void populations(double*) const override { refuse(); }
    void set_populations(const double*) override { refuse(); }
    void get_state(void*) const override { refuse(); }
    void set_state(const void*) override { refuse(); }
    lbm::backend::ForceAndTorque body_force(const std::vector<lbm::backend::BodyLink>&, const double*) const override {
        refuse();
    }
    std::unique_ptr<lbm::backend::StateSamples> make_point_samples(const std::vector<lbm::backend::Cell>&,
                                                                   const lbm::backend::PointFields&) override {
        refuse();
    }
    std::unique_ptr<lbm::backend::StateSamples> make_force_samples(const lbm::backend::BodyLinksNow&,
                                                                   const double (&)[3]) override {
        refuse();
    }
    lbm::backend::Totals totals() const override { refuse(); }
    void velocity_change(double&, double&) override { refuse(); }
    lbm::backend::Extremes extremes() const override { refuse(); }

    Device device;

private:
    [[noreturn]] static void refuse() { throw std::logic_error("the executor has no use for this"); }

    RenewalSchedule schedule_;
    int every_;
    bool records_;
    Phase phase_ = Phase::AAEven;
    Index revision_ = 0;
    int asked_ = 0;
};

/// A block that is recorded and one that is not, which make the same steps.
struct Pair {
    explicit Pair(int every) : recorded(every, true), plain(every, false) {}

    /// Steps both, compares them, and returns the updates of the recorded one that were not replayed.
    int step(Index steps) {
        executor.run(steps, [&] { recorded.update(); });
        for (Index k = 0; k < steps; ++k) {
            plain.update();
        }
        CHECK(recorded.device.done == plain.device.done);
        return recorded.asked();
    }
    void restart(Index steps) {
        recorded.restart(steps);
        plain.restart(steps);
    }

    NotingBlock recorded, plain;
    lbm::engine::Executor executor{{&recorded}};
};

TEST(executor_replays_what_the_updates_launch_whatever_the_steps_between_renewals) {
    for (const int every : {1, 2, 3, 4, 5, 16, 17, 40, 41, 42, 77, 1000}) {
        for (const int start : {0, 1, 2, 5}) {
            Pair both(every);
            both.restart(start);
            for (const Index steps : {1, 3, 700, 1, 64, 200, 7, 333}) {
                both.step(steps);
            }
            both.recorded.change();
            both.step(500);
        }
    }
}

TEST(executor_replays_after_a_restart_at_any_step) {
    for (const int every : {1, 2, 3, 8, 40, 60, 61, 500}) {
        Pair both(every);
        both.step(4000);
        CHECK(both.step(4000) < 2000);
        for (const Index restart : {17, 18, 21, 3}) {
            both.restart(restart);
            CHECK(both.step(4000) < 2000);  // recorded anew where the updates begin otherwise
            CHECK(both.step(4000) < 2000);
        }
    }
}

TEST(executor_keeps_a_recording_short_whatever_the_steps_between_renewals) {
    for (const int every : {39, 40, 41, 997, 1000}) {
        const RenewalSchedule schedule(every);
        CHECK(schedule.steps_of_cycle() <= 40);
        Pair both(every);
        both.step(5 * every);
        CHECK(both.step(10 * every) <= (every <= 40 ? 10 * every : 10 * (16 + 4)));
    }
}

TEST(executor_records_no_blocks_whose_cycles_meet_too_rarely) {
    for (const auto& [first, second, records] : {std::tuple{2, 8, true}, {4, 5, true}, {37, 39, false}}) {
        NotingBlock one(first, true), other(second, true);
        lbm::engine::Executor executor({&one, &other});
        executor.run(8000, [&] {
            one.update();
            other.update();
        });
        CHECK((one.asked() < 8000) == records);
    }
}

TEST(executor_finds_all_kinds_of_updates_that_follow_each_once) {
    for (const int every : {1, 2, 3, 4, 7, 41}) {
        for (const Index start : {0, 1, 2, 39}) {
            NotingBlock block(every, false);
            block.restart(start);
            const auto kinds = block.kinds_ahead();
            std::vector<ScheduledUpdate> launched;
            for (int k = 0; k < 4 * every; ++k) {
                block.update();
                const Launches& last = block.device.done.back();
                const ScheduledUpdate kind{last.phase, last.is_at_renewal, last.keeps};
                if (std::find(launched.begin(), launched.end(), kind) == launched.end()) {
                    launched.push_back(kind);
                }
            }
            CHECK(kinds == launched);
        }
    }
}

}  // namespace
