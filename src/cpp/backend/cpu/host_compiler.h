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

    /// All on which code from it may depend: the words of its command, and what it defines by itself, in which there
    /// are its version, the machine's kind and the instruction sets that the command asks for.
    const std::string& identity() const { return identity_; }
    /// In a few words, for messages.
    const std::string& version() const { return version_; }

    /// The shared object that `main`, one of the files, is compiled into; empty where that fails, and `log` is then
    /// what the compiler has said. Throws custom::CompileError if there is no place for files. Several threads and
    /// processes may compile at once; what is left behind where a process is killed, a later call removes.
    std::string shared_object(const std::vector<SourceFile>& files, const std::string& main,
                              const std::vector<std::string>& options, std::string& log) const;

private:
    std::vector<std::string> command_;
    std::string identity_, version_;
};

/// The options that this library's own kernels for an instruction set were compiled with: how numbers are rounded is
/// among them.
std::vector<std::string> kernel_options(const std::string& isa);

/// Has `check` called every now and then by who waits for the compiler, which is killed if it throws.
void set_interrupt_check(void (*check)());

}  // namespace lbm::cpu
