// A collision written by a user: its name and source text. It is not one of the built-in collisions and is compiled at
// run time, when a block uses it.
#pragma once

#include <stdexcept>
#include <string>

namespace lbm::custom {

/// Of the form that lattice/collide.h describes, in the text of a header that might lie in lattice/collisions/.
struct CustomCollision {
    std::string name;  // of the struct, in namespace lbm
    std::string file;  // that compilers name in messages
    std::string text;
};

/// Where kernels include the text from.
constexpr const char* header_path = "lattice/collisions/custom_collision.h";

/// The text with its own file's name and lines.
inline std::string numbered_text(const CustomCollision& collision) {
    std::string file;
    for (const char letter : collision.file) {
        file += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
    }
    return "#line 1 \"" + file + "\"\n" + collision.text + "\n";
}

/// The struct's name as kernels spell it.
inline std::string type_name(const CustomCollision& collision) { return "lbm::" + collision.name; }

/// The text does not compile, or there is nothing to compile it with.
class CompileError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace lbm::custom
