// Runs pieces of work on threads that live as long as the call.
#pragma once

#include <functional>

namespace lbm::geometry {

/// Calls work(piece) for all pieces from 0 to `pieces` - 1 on up to `threads` threads, in any order; returns when all
/// are done, and then rethrows the first exception of one. Fewer threads do where the system has no more.
void for_pieces(long pieces, int threads, const std::function<void(long)>& work);

}  // namespace lbm::geometry
