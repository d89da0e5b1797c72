// Runs pieces of work on threads that live as long as the call.
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lbm::geometry {

void for_pieces(long pieces, int threads, const std::function<void(long)>& work) {
    std::atomic<long> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const auto run = [&] {
        for (long piece = next++; piece < pieces; piece = next++) {
            try {
                work(piece);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                if (!error) {
                    error = std::current_exception();
                }
                next = pieces;
            }
        }
    };
    std::vector<std::thread> others;
    constexpr long most = 4096;  // above what any machine has
    for (long k = 1; k < std::min({long(threads), pieces, most}); ++k) {
        try {
            others.emplace_back(run);
        } catch (const std::system_error&) {
            break;
        }
    }
    run();
    for (std::thread& other : others) {
        other.join();
    }
    if (error) {
        std::rethrow_exception(error);
    }
}

}  // namespace lbm::geometry
