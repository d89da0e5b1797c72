// Follows lattice lines through surfaces of triangles on the devices of this machine, which are chosen by name.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "../geometry/lattice_lines.h"

namespace lbm::backend {

/// Bytes of a GPU's memory for what is found there, beside the surface itself: more of it is found in parts.
constexpr std::size_t bytes_for_lines = std::size_t(1) << 28;

/// Calls work(lines) with what follows lattice lines of a surface on a device: threads of the host for "cpu", a GPU for
/// "cuda:0" and so on. Where a GPU has too little memory left, work is called once more with threads of the host, which
/// find the same bits: it must begin anew then. Throws std::invalid_argument for other names.
void follow_lines(const geometry::Surface& surface, const std::string& device, int threads, std::size_t bytes,
                  const std::function<void(geometry::LatticeLines&)>& work);

}  // namespace lbm::backend
