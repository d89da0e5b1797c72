// Makes the parameters of a custom collision on a GPU.
#pragma once

#include <vector>

#include "../block_state.h"
#include "../custom/given.h"

namespace lbm::cuda {

/// Makes the parameters of the custom collision of `spec`. Throws custom::CompileError where its text does not compile.
custom::Made make_parameters(const backend::BlockSpec& spec, const std::vector<custom::GivenNumber>& given,
                             int ordinal);

}  // namespace lbm::cuda
