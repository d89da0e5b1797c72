// Threads of a warp run until all of them wait for the warp or for the thread block, the warps until all wait for the
// block.
#include "grid.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "../../src/cpp/backend/cpu/threads.h"
#include "error.h"
#include "fibers.h"

namespace emulated {
namespace {

enum class State { Ready, WaitsForWarp, WaitsForBlock, Ended };

struct Warp {
    // Of the last two exchanges: a thread may be at the next one while another still reads the last.
    unsigned long long values[2][warp_size];
    int exchanges;
};

struct Run {
    Machine machine;
    const KernelEntry* kernel = nullptr;
    const void* const* arguments = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Position> positions;
    std::vector<State> states;
    std::vector<Warp> warps;
    int thread = 0;  // that runs

    std::vector<int> block_order, warp_order, lane_order;

    void run_warp(int warp);
    void run_block();
    void run_thread(int thread);
};

Run& run() {
    static Run& instance = *new Run;  // never destroyed: a thread may still launch at exit
    return instance;
}

void wait_for(State state) {
    Run& own = run();
    own.states[std::size_t(own.thread)] = state;
    Fiber::pause();
}

void wait_for_block() { wait_for(State::WaitsForBlock); }

const unsigned long long* exchange(unsigned long long value) {
    Run& own = run();
    Warp& warp = own.warps[std::size_t(own.thread / warp_size)];
    unsigned long long(&values)[warp_size] = warp.values[warp.exchanges & 1];
    values[own.thread % warp_size] = value;
    wait_for(State::WaitsForWarp);
    return values;
}

void run_kernel() { run().kernel->run(run().arguments); }

[[noreturn]] void fail(const KernelEntry& kernel, const std::string& what) {
    run().fibers.clear();  // what they have begun is never ended
    throw Error(LaunchFailed, "kernel " + std::string(kernel.name) + ": " + what);
}

void Run::run_thread(int number) {
    thread = number;
    machine.thread = positions[std::size_t(number)];
    if (fibers[std::size_t(number)]->resume()) {
        states[std::size_t(number)] = State::Ended;
    }
}

void Run::run_warp(int warp) {
    const int first = warp * warp_size, count = std::min(warp_size, int(positions.size()) - first);
    const auto begin = states.begin() + first, end = begin + count;
    while (true) {
        for (const int lane : lane_order) {
            if (lane < count && states[std::size_t(first + lane)] == State::Ready) {
                run_thread(first + lane);
            }
        }
        const auto waiting = std::count(begin, end, State::WaitsForWarp);
        if (waiting == 0) {
            return;
        }
        if (waiting != warp_size) {
            fail(*kernel, std::to_string(waiting) + " of the 32 threads of a warp exchange values, the others do not");
        }
        std::fill(begin, end, State::Ready);
        ++warps[std::size_t(warp)].exchanges;
    }
}

void Run::run_block() {
    std::fill(states.begin(), states.end(), State::Ready);
    do {
        std::replace(states.begin(), states.end(), State::WaitsForBlock, State::Ready);
        for (const int warp : warp_order) {
            run_warp(warp);
        }
    } while (std::any_of(states.begin(), states.end(), [](State state) { return state != State::Ended; }));
}

void set_order(std::vector<int>& order, std::size_t count, std::mt19937* random) {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    if (random != nullptr) {
        std::shuffle(order.begin(), order.end(), *random);
    }
}

}  // namespace

Machine& machine() {
    Run& own = run();
    own.machine.wait_for_block = wait_for_block;
    own.machine.exchange = exchange;
    return own.machine;
}

void run_grid(const KernelEntry& kernel, const void* const* arguments, Position grid, Position block, unsigned seed) {
    const lbm::cpu::FlushDenormals mode;  // -ftz=true
    Run& own = run();
    const std::size_t threads = std::size_t(block.x) * block.y * block.z;
    own.kernel = &kernel;
    own.arguments = arguments;
    own.machine.block_size = block;
    own.machine.grid_size = grid;
    own.positions.clear();
    for (unsigned k = 0; k < threads; ++k) {
        own.positions.push_back({k % block.x, k / block.x % block.y, k / block.x / block.y});
    }
    while (own.fibers.size() < threads) {
        own.fibers.push_back(std::make_unique<Fiber>(run_kernel));
    }
    own.states.resize(threads);
    own.warps.assign((threads + warp_size - 1) / warp_size, Warp{});
    std::mt19937 random(seed);
    std::mt19937* shuffled = seed == 0 ? nullptr : &random;
    set_order(own.block_order, std::size_t(grid.x) * grid.y * grid.z, shuffled);
    set_order(own.warp_order, own.warps.size(), shuffled);
    set_order(own.lane_order, warp_size, shuffled);
    for (const int at : own.block_order) {
        const unsigned k = unsigned(at);
        own.machine.block = {k % grid.x, k / grid.x % grid.y, k / grid.x / grid.y};
        own.run_block();
    }
}

}  // namespace emulated
