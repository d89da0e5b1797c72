// A collision written by a user: its name and source text. It is not one of the built-in collisions and is compiled at
// run time, when a block uses it.
#pragma once

#include <stdexcept>
#include <string>

namespace lbm::custom {

/// Of the form that lattice/collide.h describes, in the text of a header that might lie in lattice/collisions/.
struct CustomCollision {
    std::string name;  // of the struct, in namespace lbm
    std::string file;  // that messages name
    std::string text;
    int line = 1;  // where the struct begins
};

/// Where kernels include the text from.
constexpr const char* header_path = "lattice/collisions/custom_collision.h";

/// The text with its own lines, and after it the questions whether the struct has all that kernels ask of it. The file
/// that they name can be nowhere, so that no compiler quotes another one's lines.
std::string numbered_text(const CustomCollision& collision);

/// What a compiler has said of that: errors alone, one a line, with the user's file and the lines of the text.
std::string readable_log(const CustomCollision& collision, const std::string& log);

/// The struct's name as kernels spell it.
inline std::string type_name(const CustomCollision& collision) { return "lbm::" + collision.name; }

/// The text does not compile, or there is nothing to compile it with.
class CompileError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace lbm::custom
