// Checks and their registry: TEST(name) { ... } adds a test, run_tests() runs them all.
#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace check {

struct Failure : std::exception {
    explicit Failure(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

struct Test {
    std::string name;
    std::function<void()> run;
};

/// All tests that were added, in the order of the linker.
std::vector<Test>& tests();

struct Registration {
    Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

template <class... Parts>
[[noreturn]] void fail(const char* file, int line, const Parts&... parts) {
    std::ostringstream text;
    text.precision(17);
    text << file << ":" << line << ": ";
    (text << ... << parts);
    throw Failure(text.str());
}

template <class A, class B>
void equal(const char* file, int line, const char* what, const A& a, const B& b) {
    if (!(a == b)) {
        fail(file, line, what, ": ", a, " is not ", b);
    }
}

inline void close(const char* file, int line, const char* what, double a, double b, double tolerance) {
    if (!(std::abs(a - b) <= tolerance)) {
        fail(file, line, what, ": ", a, " is not within ", tolerance, " of ", b);
    }
}

/// The body must throw an Error whose text holds `fragment`.
template <class Error, class Body>
void throws(const char* file, int line, const std::string& fragment, Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        if (std::string(error.what()).find(fragment) == std::string::npos) {
            fail(file, line, "the error says '", error.what(), "', not '", fragment, "'");
        }
        return;
    }
    fail(file, line, "nothing was thrown; expected an error with '", fragment, "'");
}

}  // namespace check

#define TEST(name)                                                     \
    static void name();                                                \
    static const check::Registration registration_##name(#name, name); \
    static void name()
#define CHECK(condition) \
    if (!(condition))    \
    check::fail(__FILE__, __LINE__, #condition)
#define CHECK_EQUAL(a, b) check::equal(__FILE__, __LINE__, #a " == " #b, (a), (b))
#define CHECK_CLOSE(a, b, tolerance) check::close(__FILE__, __LINE__, #a " ~ " #b, (a), (b), (tolerance))
#define CHECK_THROWS(Error, fragment, ...) check::throws<Error>(__FILE__, __LINE__, fragment, [&] { __VA_ARGS__; })
