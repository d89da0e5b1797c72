// The image of a compiled kernel, as the emulated NVRTC makes it and the emulated driver loads it: a head, and the
// library's bytes. The driver is not told how long an image is, so that the head says it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace emulated {

constexpr std::string_view image_start = "emulated CUDA 1\n";

inline std::string image_of(const std::string& library) {
    const std::uint64_t size = library.size();
    std::string image(image_start);
    image.append(reinterpret_cast<const char*>(&size), sizeof size);
    return image + library;
}

/// The library in an image; empty if it is none.
inline std::string_view library_in(const void* image) {
    const auto* bytes = static_cast<const char*>(image);
    if (std::strncmp(bytes, image_start.data(), image_start.size()) != 0) {
        return {};
    }
    std::uint64_t size = 0;
    std::memcpy(&size, bytes + image_start.size(), sizeof size);
    return {bytes + image_start.size() + sizeof size, size};
}

}  // namespace emulated
