// Makes the blocks whose state is moments.
#include "moment_kind.h"

#include "cpu/moment_block.h"
#include "devices.h"

namespace lbm::backend {
namespace {

std::unique_ptr<BlockState> make_moment_block(const BlockSpec& spec, const DeviceOptions& options) {
    if (gpu_number(options.name) >= 0) {
        throw std::invalid_argument("state: 'moments' given on '" + options.name +
                                    "', is kept on the CPU only: use 'populations' on GPUs");
    }
    return cpu::make_moment_block(spec, {options.threads, options.isa});
}

}  // namespace

const StateKind moment_state{"moments", Phase::TwoLattice, 1, 2, 2, make_moment_block, true};

}  // namespace lbm::backend
