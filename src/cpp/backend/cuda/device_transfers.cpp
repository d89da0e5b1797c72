// Uploads the lists of transfers, copies host buffers and boxes of memory, and launches the transfer kernel.
#include "device_transfers.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "copy_boxes.h"
#include "split_runs.h"
#include "upload.h"

namespace lbm::cuda {

using InHost = backend::Transfer::InHost;

namespace {

/// The copy of a box from lattice to lattice, of numbers of so many bytes.
BoxCopy box_copy(const CopyBox& box, const void* from, void* to, std::size_t element) {
    const auto bytes = [&](Index numbers) { return std::size_t(numbers) * element; };
    const auto end = [&](const void* lattice, const CopyBox::Side& side) {
        const Index row = side.row == 0 ? box.count : side.row;
        BoxCopyEnd found{};
        found.memory_type = BoxCopyEnd::unified;
        found.address = std::bit_cast<DevicePointer>(lattice) + bytes(side.first);
        found.pitch = bytes(row);
        found.height = std::size_t(box.layers > 1 ? side.layer / row : box.rows);
        return found;
    };
    return {end(from, box.source), end(to, box.target), bytes(box.count), std::size_t(box.rows),
            std::size_t(box.layers)};
}

}  // namespace

DeviceTransfers::DeviceTransfers(const std::vector<backend::Transfer>& list, Owner owner)
    : owner_(std::move(owner)), copies_(owner_.phases) {
    std::vector<TransferEnds> ends[2];
    for (const backend::Transfer& transfer : list) {
        TransferEnds by_lattice[2] = {{transfer.from[0], transfer.to[0]}, {transfer.from[1], transfer.to[1]}};
        if (transfer.in_host != InHost::Neither) {
            const Twin& twin = add_twin(transfer);
            for (TransferEnds& both : by_lattice) {
                if (transfer.in_host == InHost::From) {
                    both.from = twin.device.as<void>();
                } else {
                    both.to = twin.device.as<void>();
                }
            }
        }
        ends[0].push_back(by_lattice[0]);
        ends[1].push_back(by_lattice[1]);
    }
    upload(ends_[0], owner_.stream, ends[0]);
    upload(ends_[1], owner_.stream, ends[1]);
    for (const Phase phase : owner_.phases) {
        std::vector<backend::TransferRun> runs;
        std::vector<SingleTransfer> singles;
        for (std::size_t k = 0; k < list.size(); ++k) {
            const backend::Transfer& transfer = list[k];
            if (owner_.prefers_copy_engine && transfer.in_host == InHost::Neither) {
                if (const std::optional<std::vector<CopyBox>> boxes = copy_boxes(transfer.copies[phase])) {
                    for (const CopyBox& box : *boxes) {
                        for (int now = 0; now < 2; ++now) {
                            copies_[phase].boxes[now].push_back(
                                box_copy(box, transfer.from[now], transfer.to[now], owner_.element));
                        }
                    }
                    continue;
                }
            }
            split_runs(
                transfer.copies[phase],
                [&](const backend::CopyRun& run) {
                    runs.push_back({run, int(k)});
                },
                [&](const SingleCopy& copy) {
                    singles.push_back({copy, int(k)});
                });
        }
        upload(copies_[phase].runs, owner_.stream, runs);
        upload(copies_[phase].singles, owner_.stream, singles);
    }
}

const DeviceTransfers::Twin& DeviceTransfers::add_twin(const backend::Transfer& transfer) {
    const bool reads = transfer.in_host == InHost::From;
    Twin twin{
        transfer.in_host, reads ? transfer.from[0] : transfer.to[0], {}, backend::ByPhase<std::size_t>(owner_.phases)};
    for (const Phase phase : owner_.phases) {
        for (const backend::CopyRun& run : transfer.copies[phase]) {
            twin.bytes[phase] += std::size_t(run.count) * owner_.element;
        }
    }
    twin.device = DeviceBuffer(owner_.stream.ordinal(), *std::max_element(twin.bytes.begin(), twin.bytes.end()));
    twins_.push_back(std::move(twin));
    return twins_.back();
}

void DeviceTransfers::run() const {
    for (const Twin& twin : twins_) {
        if (twin.in_host == InHost::From) {
            owner_.stream.copy_to_device(twin.device.address(), twin.host, twin.bytes[owner_.phase]);
        }
    }
    for (const BoxCopy& copy : copies_[owner_.phase].boxes[owner_.now]) {
        owner_.stream.copy_box(copy);
    }
    launch();
    for (const Twin& twin : twins_) {
        if (twin.in_host == InHost::To) {
            owner_.stream.copy_to_host(twin.host, twin.device.address(), twin.bytes[owner_.phase]);
        }
    }
}

void DeviceTransfers::launch() const {
    const DeviceBuffer &runs = copies_[owner_.phase].runs, &singles = copies_[owner_.phase].singles;
    const TransferArguments arguments{runs.as<backend::TransferRun>(),
                                      Index(runs.bytes() / sizeof(backend::TransferRun)), singles.as<SingleTransfer>(),
                                      Index(singles.bytes() / sizeof(SingleTransfer)),
                                      ends_[owner_.now].as<TransferEnds>()};
    if (arguments.threads() > 0) {
        owner_.kernels.get(owner_.name).launch(owner_.stream, flat(arguments.threads()), arguments);
    }
}

std::size_t DeviceTransfers::bytes() const {
    std::size_t sum = ends_[0].bytes() + ends_[1].bytes();
    for (const Twin& twin : twins_) {
        sum += twin.device.bytes();
    }
    for (const Copies& copies : copies_) {
        sum += copies.runs.bytes() + copies.singles.bytes();
    }
    return sum;
}

}  // namespace lbm::cuda
