// The threads of the CPU's blocks.
#pragma once

namespace lbm::cpu {

/// More than any machine has; a larger number is a mistake.
constexpr int max_threads = 4096;

/// Calls work(context, member) for members 0 to threads - 1, all at once and 0 on the calling thread; returns when all
/// have returned. Then throws again what a member has thrown. Throws std::runtime_error, and calls nothing, where the
/// system does not give the threads.
///
/// The threads wait for the next call. Those who call at the same time have teams of their own; whoever calls with the
/// same number has the same threads, to which the memory that they touched first is near.
void run_team(int threads, void (*work)(void*, int), void* context);

}  // namespace lbm::cpu
