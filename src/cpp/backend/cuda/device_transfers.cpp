// Uploads the lists of transfers and launches their kernel.
#include "device_transfers.h"

#include <algorithm>
#include <utility>

#include "split_runs.h"
#include "upload.h"

namespace lbm::cuda {

DeviceTransfers::DeviceTransfers(const std::vector<backend::Transfer>& list, Owner owner) : owner_(std::move(owner)) {
    for (int which = 0; which < 2; ++which) {
        std::vector<TransferEnds> ends(list.size());
        std::transform(list.begin(), list.end(), ends.begin(), [&](const backend::Transfer& transfer) {
            return TransferEnds{transfer.from[which], transfer.to[which]};
        });
        upload(ends_[which], owner_.stream, ends);
    }
    for (int phase = 0; phase < 3; ++phase) {
        std::vector<backend::TransferRun> runs;
        std::vector<SingleTransfer> singles;
        for (std::size_t k = 0; k < list.size(); ++k) {
            split_runs(
                list[k].copies[phase],
                [&](const backend::CopyRun& run) {
                    runs.push_back({run, int(k)});
                },
                [&](const SingleCopy& copy) {
                    singles.push_back({copy, int(k)});
                });
        }
        upload(runs_[phase], owner_.stream, runs);
        upload(singles_[phase], owner_.stream, singles);
    }
}

void DeviceTransfers::run() const {
    const DeviceBuffer& runs = runs_[int(owner_.phase)];
    const DeviceBuffer& singles = singles_[int(owner_.phase)];
    const TransferArguments arguments{runs.as<backend::TransferRun>(),
                                      Index(runs.bytes() / sizeof(backend::TransferRun)), singles.as<SingleTransfer>(),
                                      Index(singles.bytes() / sizeof(SingleTransfer)),
                                      ends_[owner_.now].as<TransferEnds>()};
    if (arguments.threads() > 0) {
        owner_.kernels.get(owner_.name).launch(owner_.stream, flat(arguments.threads()), arguments);
    }
}

std::size_t DeviceTransfers::bytes() const {
    std::size_t sum = 0;
    for (int phase = 0; phase < 3; ++phase) {
        sum += runs_[phase].bytes() + singles_[phase].bytes();
    }
    return sum;
}

}  // namespace lbm::cuda
