// Runs every test, or those whose name holds the argument; ends with the numbers that passed and failed.
#include <cstdio>

#include "check.h"

namespace check {

std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

}  // namespace check

int main(int count, char** arguments) {
    const std::string wanted = count > 1 ? arguments[1] : "";
    int passed = 0;
    int failed = 0;
    for (const check::Test& test : check::tests()) {
        if (test.name.find(wanted) == std::string::npos) {
            continue;
        }
        try {
            test.run();
            ++passed;
            std::printf("ok      %s\n", test.name.c_str());
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED  %s\n        %s\n", test.name.c_str(), error.what());
        }
        std::fflush(stdout);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
