// Transfers of the halo exchange by the threads of a block on the CPU.
#pragma once

#include <cstring>

#include "../transfers.h"
#include "threads.h"

namespace lbm::cpu {

/// Makes the copies of a run.
template <class Stored>
void copy_run(const backend::CopyRun& run, const Stored* from, Stored* to) {
    Stored* target = to + run.target;
    const Stored* source = from + run.source;
    if (run.target_stride == 1 && run.source_stride == 1) {
        std::memcpy(static_cast<void*>(target), source, std::size_t(run.count) * sizeof(Stored));
        return;
    }
    for (int k = 0; k < run.count; ++k) {
        target[k * run.target_stride] = source[k * run.source_stride];
    }
}

template <class Stored>
class HostTransfers final : public backend::Transfers {
public:
    /// `phase` and `now` refer to the block's phase of the last step and the index of its current lattice.
    HostTransfers(const std::vector<backend::Transfer>& list, const std::vector<Phase>& phases, const Phase& phase,
                  const int& now, int threads)
        : phase_(phase), now_(now), threads_(threads), runs_(phases) {
        for (std::size_t k = 0; k < list.size(); ++k) {
            for (int which = 0; which < 2; ++which) {
                from_[which].push_back(static_cast<const Stored*>(list[k].from[which]));
                to_[which].push_back(static_cast<Stored*>(list[k].to[which]));
            }
            for (const Phase one : phases) {
                for (const backend::CopyRun& run : list[k].copies[one]) {
                    runs_[one].push_back({run, int(k)});
                }
            }
        }
    }

    void run() const override {
        const auto& runs = runs_[phase_];
        parallel_shares(runs.size() < 512 ? 1 : threads_, Index(runs.size()), [&](Index first, Index last) {
            for (Index k = first; k < last; ++k) {
                const auto& [run, transfer] = runs[std::size_t(k)];
                copy_run(run, from_[now_][std::size_t(transfer)], to_[now_][std::size_t(transfer)]);
            }
        });
    }

    std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const auto& runs : runs_) {
            sum += runs.capacity() * sizeof(backend::TransferRun);
        }
        return sum;
    }

private:
    const Phase& phase_;
    const int& now_;
    int threads_;
    std::vector<const Stored*> from_[2];
    std::vector<Stored*> to_[2];
    backend::ByPhase<std::vector<backend::TransferRun>> runs_;
};

}  // namespace lbm::cpu
