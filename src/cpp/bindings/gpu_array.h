// Fields as Python gives them to the engine: arrays of the host, or in a GPU's memory.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "../backend/gpu_array.h"
#include "arrays.h"

namespace lbm::bindings {

/// An array in a GPU's memory with what keeps that: the tensor of a DLPack capsule, or nothing, where the caller does.
struct OwnedGpuArray {
    backend::GpuArray array;
    int axes;  // of the domain
    std::shared_ptr<void> owner;
};

using Field = std::variant<const OwnedGpuArray*, Doubles>;

/// The array of a field that is in a GPU's memory; null for others, and for none.
inline const backend::GpuArray* on_gpu(const std::optional<Field>& field) {
    const auto* found = field ? std::get_if<const OwnedGpuArray*>(&*field) : nullptr;
    return found != nullptr ? &(*found)->array : nullptr;
}

/// That of a field of the host.
inline std::optional<Doubles> of_host(const std::optional<Field>& field) {
    return field ? std::optional(std::get<Doubles>(*field)) : std::nullopt;
}

}  // namespace lbm::bindings
