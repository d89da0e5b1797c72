// The parameters of a user's collision, made on a GPU.
#pragma once

#include <vector>

#include "../block_state.h"
#include "../custom/given.h"

namespace lbm::cuda {

/// Those of a spec, which has such a collision. Throws custom::CompileError where its text does not compile.
custom::Made make_parameters(const backend::BlockSpec& spec, const std::vector<custom::GivenNumber>& given,
                             int ordinal);

}  // namespace lbm::cuda
