// Tests of the texts by which processes share blocks: others are refused by name, on a machine without a GPU too.
#include "../../src/cpp/backend/devices.h"
#include "check.h"

using namespace lbm::backend;

TEST(shared_block_refuses_texts_that_no_block_was_shared_by) {
    const std::string start = "lbmgpu-block-1-";
    for (const std::string& wrong : {std::string("x"), std::string(744, '0'), start, start + std::string(744, '0'),
                                     "lbmgpu-block-0-" + std::string(744, '0'), start + std::string(744, 'g')}) {
        CHECK_THROWS(std::invalid_argument, "shared block: '" + wrong.substr(0, 30), check_shared_block(wrong));
        CHECK_THROWS(std::invalid_argument, "shared block: '", open_block(wrong, "cuda:0"));
    }
    for (int bytes = 0; bytes < 4096; ++bytes) {  // of whatever length: no block has 0 lattices
        CHECK_THROWS(std::invalid_argument, "shared block: '", check_shared_block(start + std::string(bytes, '0')));
    }
    CHECK(open_block("", "cuda:0") == nullptr);
}
