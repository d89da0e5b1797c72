// Runs tasks, and captures them.
#include "work.h"

#include <algorithm>
#include <chrono>

#include "error.h"

namespace emulated {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void refuse_captured(const Queue& queue) {
    if (queue.capture) {
        throw Error(CaptureUnsupported, "the host waits for a stream whose work is captured");
    }
}

}  // namespace

Queue* Work::make_queue(int device) {
    auto* queue = new Queue;
    queue->device = device;
    queues_.insert(queue);
    order_.push_back(queue);
    return queue;
}

void Work::remove(Queue* queue) {
    finish(*queue);
    queues_.erase(queue);
    order_.erase(std::find(order_.begin(), order_.end(), queue));
    delete queue;
}

void Work::add_task(Queue& queue, Task task) {
    queue.tasks.push_back(std::move(task));
    if (seed_ == 0) {
        finish(queue);
    }
}

void Work::add(Queue& queue, std::function<void()> run) {
    if (!queue.capture) {
        add_task(queue, {std::move(run), nullptr});
        return;
    }
    std::vector<Node>& nodes = queue.capture->nodes;
    nodes.push_back({std::move(run), queue.last});
    queue.last = {nodes.size() - 1};
}

void Work::record(Queue& queue, Mark& mark) {
    if (queue.capture) {
        mark = {nullptr, queue.capture, queue.last};
        return;
    }
    mark = {std::make_shared<Point>(), nullptr, {}};
    add_task(queue, {[point = mark.point] {
                         point->is_reached = true;
                         point->seconds = now();
                     },
                     nullptr});
}

void Work::wait_in(Queue& queue, const Mark& mark) {
    if (mark.capture) {
        if (!mark.capture->goes_on || (queue.capture && queue.capture != mark.capture)) {
            throw Error(CaptureIsolation, "a stream waits for an event of a capture that it is not part of");
        }
        if (!queue.capture) {
            queue.capture = mark.capture;
            queue.last.clear();
        }
        queue.last.insert(mark.nodes.begin(), mark.nodes.end());
    } else if (queue.capture) {
        throw Error(CaptureIsolation, "work that is captured waits for an event from before the capture");
    } else if (mark.point) {
        add_task(queue, {[] {}, mark.point});
    }
}

bool Work::is_ready(const Queue& queue) {
    return !queue.tasks.empty() && (queue.tasks.front().after == nullptr || queue.tasks.front().after->is_reached);
}

void Work::run_until(const std::function<bool()>& done) {
    while (!done()) {
        std::vector<Queue*> ready;
        std::copy_if(order_.begin(), order_.end(), std::back_inserter(ready), [](Queue* q) { return is_ready(*q); });
        if (ready.empty()) {
            throw Error(LaunchFailed, "streams wait for each other for ever");
        }
        Queue& queue = *ready[seed_ == 0 ? 0 : random_() % ready.size()];
        const std::function<void()> run = std::move(queue.tasks.front().run);
        queue.tasks.pop_front();
        run();
    }
}

void Work::finish(Queue& queue) {
    refuse_captured(queue);
    run_until([&] { return queue.tasks.empty(); });
}

void Work::finish(const Mark& mark) {
    if (mark.capture) {
        throw Error(CapturedEvent, "the host waits for an event of captured work");
    }
    if (mark.point) {
        run_until([&] { return mark.point->is_reached; });
    }
}

void Work::finish_all() {
    run_until([&] { return std::all_of(order_.begin(), order_.end(), [](Queue* q) { return q->tasks.empty(); }); });
}

void Work::begin_capture(Queue& queue) {
    refuse_captured(queue);
    queue.capture = std::make_shared<Capture>();
    queue.last.clear();
    queue.began_capture = true;
}

std::vector<Node> Work::end_capture(Queue& queue) {
    if (!queue.began_capture) {
        throw Error(InvalidValue, "a capture ends that was not begun");
    }
    const std::shared_ptr<Capture> capture = queue.capture;
    std::set<std::size_t> joined = queue.last;  // all nodes that the stream's last ones come after
    for (auto k = capture->nodes.size(); k-- > 0;) {
        if (joined.contains(k)) {
            joined.insert(capture->nodes[k].after.begin(), capture->nodes[k].after.end());
        }
    }
    bool all_joined = true;
    for (Queue* other : order_) {
        if (other->capture == capture) {
            all_joined =
                all_joined && std::includes(joined.begin(), joined.end(), other->last.begin(), other->last.end());
            other->capture = nullptr;
            other->began_capture = false;
        }
    }
    capture->goes_on = false;
    if (!all_joined) {
        throw Error(CaptureUnjoined, "a stream that has joined a capture is not joined to the first one at its end");
    }
    return std::move(capture->nodes);
}

void Work::add_graph(Queue& queue, std::shared_ptr<const std::vector<Node>> graph) {
    if (queue.capture) {
        throw Error(NotSupported, "a graph in a graph is not emulated");
    }
    add(queue, [this, graph] { run_graph(*graph); });
}

void Work::run_graph(const std::vector<Node>& nodes) {
    std::vector<std::size_t> waits_for(nodes.size()), ready;
    std::vector<std::vector<std::size_t>> before(nodes.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        waits_for[k] = nodes[k].after.size();
        for (const std::size_t other : nodes[k].after) {
            before[other].push_back(k);
        }
        if (waits_for[k] == 0) {
            ready.push_back(k);
        }
    }
    while (!ready.empty()) {
        const std::size_t at = seed_ == 0 ? 0 : random_() % ready.size();
        const std::size_t node = ready[at];
        ready.erase(ready.begin() + std::ptrdiff_t(at));
        nodes[node].run();
        for (const std::size_t next : before[node]) {
            if (--waits_for[next] == 0) {
                ready.push_back(next);
            }
        }
    }
}

}  // namespace emulated
