// Converts the handles of a block to text and back, and opens them.
#include "shared_block.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace lbm::cuda {
namespace {

constexpr char digits[] = "0123456789abcdef";
constexpr std::string_view start = "lbmgpu-block-2-";  // of the text; a change of Handles changes its number

/// The content of the text, after its start.
struct Handles {
    DeviceId gpu;
    int lattice_count;
    IpcHandle lattices[2];
    DevicePointer offsets[2];  // of the lattices within the memory that their handles open
    IpcHandle events[backend::EventSource::slots];
};

std::string to_text(const Handles& handles) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&handles);
    std::string text(start);
    for (std::size_t k = 0; k < sizeof handles; ++k) {
        text += digits[bytes[k] >> 4];
        text += digits[bytes[k] & 15];
    }
    return text;
}

Handles from_text(const std::string& text) {
    Handles handles{};
    auto* bytes = reinterpret_cast<unsigned char*>(&handles);
    bool right = text.size() == start.size() + 2 * sizeof handles && text.starts_with(start) &&
                 text.find_first_not_of(digits, start.size()) == std::string::npos;
    for (std::size_t k = 0; right && k < sizeof handles; ++k) {
        const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
        const char* two = &text[start.size() + 2 * k];
        bytes[k] = static_cast<unsigned char>(16 * value(two[0]) + value(two[1]));
    }
    right = right && handles.lattice_count >= 1 && handles.lattice_count <= int(std::size(handles.lattices));
    if (!right) {
        throw std::invalid_argument("shared block: '" + text.substr(0, 2 * start.size()) +
                                    "...' given, must be what this version of lbmgpu shares a block by: do all "
                                    "processes run the same version?");
    }
    return handles;
}

DeviceId id_of(int ordinal) {
    Device device = 0;
    driver().check(driver().device_get(&device, ordinal), "cuDeviceGet");
    DeviceId id{};
    driver().check(driver().device_id(&id, device), "cuDeviceGetUuid");
    return id;
}

/// The ordinal of a GPU in this process; -1 if it is not visible.
int ordinal_of(const DeviceId& id) {
    for (int k = 0; k < device_count(); ++k) {
        const DeviceId other = id_of(k);
        if (std::equal(std::begin(id.bytes), std::end(id.bytes), std::begin(other.bytes))) {
            return k;
        }
    }
    return -1;
}

/// Whether this process uses a GPU: its primary context is active.
bool is_in_use(int ordinal) {
    Device device = 0;
    driver().check(driver().device_get(&device, ordinal), "cuDeviceGet");
    unsigned flags = 0;
    int active = 0;
    driver().check(driver().context_state(device, &flags, &active), "cuDevicePrimaryCtxGetState");
    return active != 0;
}

/// Opens memory of another process during its lifetime.
class OpenedMemory {
public:
    OpenedMemory(int ordinal, const IpcHandle& handle, DevicePointer offset) : ordinal_(ordinal), offset_(offset) {
        constexpr unsigned lazy_peer_access = 1;
        const DeviceScope scope(ordinal);
        driver().check(driver().memory_open(&address_, handle, lazy_peer_access), "cuIpcOpenMemHandle");
    }
    ~OpenedMemory() {
        give_back_on(ordinal_, [this] { driver().memory_close(address_); });
    }
    OpenedMemory(const OpenedMemory&) = delete;
    OpenedMemory& operator=(const OpenedMemory&) = delete;

    void* get() const { return std::bit_cast<void*>(address_ + offset_); }

private:
    int ordinal_;
    DevicePointer address_ = 0, offset_;
};

class OpenedBlock final : public backend::RemoteBlock, public GpuEventSource {
public:
    OpenedBlock(int ordinal, const Handles& handles) {
        for (const IpcHandle& event : handles.events) {
            events_.push_back(std::make_unique<StreamEvent>(ordinal, event));
        }
        for (int k = 0; k < handles.lattice_count; ++k) {
            lattices_.push_back(std::make_unique<OpenedMemory>(ordinal, handles.lattices[k], handles.offsets[k]));
        }
    }

    void* lattice(int which) const override { return lattices_[std::size_t(which) % lattices_.size()]->get(); }
    const StreamEvent& event_in(int slot) const override { return *events_[std::size_t(slot)]; }
    void wait(int slot) const override { event_in(slot).wait(); }

private:
    std::vector<std::unique_ptr<StreamEvent>> events_;
    std::vector<std::unique_ptr<OpenedMemory>> lattices_;
};

}  // namespace

void make_wait(const WorkStream& stream, const backend::EventSource& other, int slot) {
    if (const auto* on_gpu = dynamic_cast<const GpuEventSource*>(&other)) {
        on_gpu->event_in(slot).make_wait(stream);
    } else {
        other.wait(slot);
    }
}

std::string share_block(int ordinal, const std::vector<DevicePointer>& lattices,
                        const std::vector<std::unique_ptr<StreamEvent>>& events) {
    Handles handles{};
    handles.gpu = id_of(ordinal);
    const DeviceScope scope(ordinal);
    for (const DevicePointer lattice : lattices) {
        const int k = handles.lattice_count++;
        DevicePointer base = 0;
        driver().check(driver().memory_range(&base, nullptr, lattice), "cuMemGetAddressRange");
        handles.offsets[k] = lattice - base;
        driver().check(driver().memory_share(&handles.lattices[k], lattice), "cuIpcGetMemHandle");
    }
    for (std::size_t k = 0; k < events.size(); ++k) {
        handles.events[k] = events[k]->share();
    }
    return to_text(handles);
}

void check_shared_block(const std::string& shared) { static_cast<void>(from_text(shared)); }

std::unique_ptr<backend::RemoteBlock> open_block(const std::string& shared, int ordinal) {
    const Handles handles = from_text(shared);
    try {
        const int peer = ordinal_of(handles.gpu);
        if (peer < 0 || !can_access_peer(ordinal, peer)) {
            return nullptr;
        }
        // If a stream waits for an event of another process on a GPU that this process uses too, the driver crashes
        // (seen with 580.159). Little is lost, as two processes on one GPU take turns anyway.
        if (is_in_use(peer)) {
            return nullptr;
        }
        return std::make_unique<OpenedBlock>(ordinal, handles);
    } catch (const CudaError&) {  // from another host, or from a container without shared handles
        return nullptr;
    }
}

}  // namespace lbm::cuda
