// The work of streams: queues of tasks that wait for each other by events, and graphs recorded from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace emulated {

/// A point in the work of a stream.
struct Point {
    bool is_reached = false;
    double seconds = 0;  // when
};

struct Task {
    std::function<void()> run;
    std::shared_ptr<Point> after;  // null for none
};

/// A graph in the making or made: each node after those of the given numbers.
struct Node {
    std::function<void()> run;
    std::set<std::size_t> after;
};
struct Capture {
    std::vector<Node> nodes;
    bool goes_on = true;
};

struct Queue {
    int device = 0;
    std::deque<Task> tasks;
    std::shared_ptr<Capture> capture;  // null unless its work is captured
    std::set<std::size_t> last;        // nodes of the capture after which the next one comes
    bool began_capture = false;
};

/// What an event was last recorded at.
struct Mark {
    std::shared_ptr<Point> point;  // null before the first
    std::shared_ptr<Capture> capture;
    std::set<std::size_t> nodes;
};

/// All queues of the process. Tasks run when somebody waits for them, in an order that a seed shuffles; without a seed
/// they run at once.
class Work {
public:
    explicit Work(unsigned seed) : seed_(seed), random_(seed) {}

    Queue* make_queue(int device);
    void remove(Queue* queue);
    bool has(const Queue* queue) const { return queues_.contains(const_cast<Queue*>(queue)); }

    void add(Queue& queue, std::function<void()> run);
    void record(Queue& queue, Mark& mark);
    void wait_in(Queue& queue, const Mark& mark);
    /// Runs tasks until that of the queue, those before the point, or all have run.
    void finish(Queue& queue);
    void finish(const Mark& mark);
    void finish_all();

    void begin_capture(Queue& queue);
    std::vector<Node> end_capture(Queue& queue);
    void add_graph(Queue& queue, std::shared_ptr<const std::vector<Node>> graph);

    /// A new seed for what a task shuffles itself; 0 without a seed.
    unsigned next_seed() { return seed_ == 0 ? 0 : std::max(1U, unsigned(random_())); }

private:
    void add_task(Queue& queue, Task task);
    void run_until(const std::function<bool()>& done);
    void run_graph(const std::vector<Node>& nodes);
    static bool is_ready(const Queue& queue);

    unsigned seed_;
    std::mt19937 random_;
    std::set<Queue*> queues_;
    std::vector<Queue*> order_;  // of their creation
};

}  // namespace emulated
