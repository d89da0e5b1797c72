// The thread teams that run parallel regions on the CPU.
#pragma once

namespace lbm::cpu {

/// A limit above what any machine has; a larger number must be a mistake.
constexpr int max_threads = 4096;

/// Calls work(context, member) for members 0 to threads - 1 in parallel, with member 0 on the calling thread. Returns
/// when all have returned, and then rethrows the exception of a member, if there is one. Throws std::runtime_error
/// without calling `work` if the system does not provide the threads.
///
/// The threads are kept for later calls. Concurrent callers get different teams; a caller with the same number of
/// threads gets the same team again, so that threads work on memory that they have touched first, which is near to
/// them.
void run_team(int threads, void (*work)(void*, int), void* context);

}  // namespace lbm::cpu
