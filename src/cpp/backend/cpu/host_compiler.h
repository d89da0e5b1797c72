// The C++ compiler of this machine, which $CXX names, g++ if it does not: for kernels of a user's collision.
#pragma once

#include <string>
#include <vector>

namespace lbm::cpu {

/// A file by its path below the folder that is compiled in.
struct SourceFile {
    std::string path;
    std::string text;
};

class HostCompiler {
public:
    /// Finds the compiler that the environment names now. Throws custom::CompileError, saying what to install, where
    /// there is none.
    HostCompiler();

    /// The first line of its output for --version.
    const std::string& version() const { return version_; }

    /// The shared object that `main`, one of the files, is compiled into. Throws custom::CompileError with the
    /// compiler's log. Several threads and processes may compile at once; nothing is left behind.
    std::string shared_object(const std::vector<SourceFile>& files, const std::string& main,
                              const std::vector<std::string>& options, const std::string& what) const;

private:
    std::vector<std::string> command_;
    std::string version_;
};

/// The options that this library's own kernels for an instruction set were compiled with: how numbers are rounded is
/// among them.
std::vector<std::string> kernel_options(const std::string& isa);

}  // namespace lbm::cpu
