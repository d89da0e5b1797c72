// Composes the text that compilers get of a user's collision, and makes what they say of it readable.
#include "collision.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <vector>

namespace lbm::custom {
namespace {

constexpr const char* nowhere = "/dev/null/collision.h";
constexpr std::size_t longest_log = 20000;

/// The concepts of strict.h, in the order in which they build on each other, and what it means where one is not met.
constexpr const char* demands[][2] = {
    {"NotOfTheEngine", "this is a collision of the engine, not one of the text"},
    {"HasName", R"(a collision has a member such as: static constexpr const char* name = \"mine\";)"},
    {"HasStencils", "a collision has goes_with<S>; FlowCollision and OneRate of collide.h bring it"},
    {"GoesWithAStencil", "a collision goes with one of D2Q9, D3Q19 and D3Q27"},
    {"HasParameters", "a collision has Parameters<Real>; OneRate of collide.h brings them"},
    {"BeginsWithRelaxation", "Parameters<Real> begin with a Relaxation<Real>"},
    {"HoldsOnlyReals", "Parameters<Real> hold nothing but numbers of type Real"},
    {"HoldsFewNumbers", "Parameters<Real> hold fewer than 128 numbers"},
    {"MakesParameters",
     "a collision has: template <class S, class Given> static Parameters<double> parameters(const Given& given); "
     "OneRate of collide.h brings it"},
};
constexpr const char* update_demand =
    "a collision has relax<S>(n, omega, parameters) or collide<S>(h, sums, moments, forced, parameters, coupling), as "
    "collide.h and the guide have them";

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// The number after the first place of the text's file in a line of a log, 0 if there is none, with the column.
struct Place {
    int line = 0, column = 0;
};
Place place_in(const std::string& line) {
    Place place;
    std::size_t at = line.find(nowhere);
    if (at == std::string::npos) {
        return place;
    }
    at += std::string(nowhere).size() + 1;
    for (int* number : {&place.line, &place.column}) {
        for (; at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0 && *number < 10000000;
             ++at) {
            *number = 10 * *number + (line[at] - '0');
        }
        ++at;
    }
    return place;
}

bool has(const std::string& line, const char* what) { return line.find(what) != std::string::npos; }

/// Whether g++ has quoted a source there: its lines begin with a number or nothing, and a bar.
bool is_quote(const std::string& line) {
    const std::size_t at = line.find_first_not_of(" 0123456789");
    return at != std::string::npos && at > 0 && line[0] == ' ' && line.compare(at, 1, "|") == 0;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

}  // namespace

std::string numbered_text(const CustomCollision& collision) {
    std::string text = std::string("#line 1 \"") + nowhere + "\"\n" + collision.text + "\n";
    const auto demand = [&](const std::string& condition, const std::string& message) {
        text +=
            "#line " + std::to_string(collision.line) + "\nstatic_assert(" + condition + ", \"" + message + "\");\n";
    };
    const std::string type = "<" + type_name(collision) + ">";
    std::string before;  // only the first one that is not met is told
    for (const auto& [concept_name, message] : demands) {
        const std::string met = std::string("lbm::custom::") + concept_name + type;
        demand(before + met, message);
        before += "!" + met + " || ";
    }
    demand(before + "lbm::custom::Relaxes" + type + " || lbm::custom::Collides" + type, update_demand);
    return text;
}

std::string readable_log(const CustomCollision& collision, const std::string& log) {
    const std::vector<std::string> source = lines_of(collision.text);
    std::set<std::string> told;
    std::string out, message;  // a message is an error with what leads to it and its notes
    bool is_error = false, is_kept = true;
    const auto end_message = [&] {
        out += is_error && is_kept ? message : "";
        message.clear();
        is_error = false;
        is_kept = true;
    };
    std::set<int> quoted;
    for (const std::string& line : lines_of(log)) {
        const bool error = has(line, "error: ") || has(line, "error #"), note = has(line, "note: ");
        const bool warning = has(line, "warning: ") || has(line, "warning #");
        if (is_quote(line) || line.rfind("In file included from", 0) == 0 ||
            line.rfind("                 from", 0) == 0) {
            continue;
        }
        if (is_error && !note && line.compare(0, 1, " ") != 0) {
            end_message();
            quoted.clear();
        }
        const Place place = place_in(line);
        if (error) {
            const std::size_t end = line.find_first_of(":(");
            is_error = true;
            is_kept = told.insert(line.substr(0, line.find_first_of(":)", end + 1))).second;
        }
        if (warning) {
            is_error = true;  // that is left out
            is_kept = false;
        }
        message += line + "\n";
        if (place.line > 0 && place.column > 0 && std::size_t(place.line) <= source.size() &&
            quoted.insert(place.line).second) {
            const std::string number = std::to_string(place.line), &quoted_line = source[std::size_t(place.line) - 1];
            message.append("    ").append(number).append(" | ").append(quoted_line).append("\n");
            if (std::size_t(place.column) <= quoted_line.size()) {  // or it is one of the questions after the text
                std::string indent = quoted_line.substr(0, std::size_t(place.column) - 1);
                std::replace_if(
                    indent.begin(), indent.end(), [](char letter) { return letter != '\t'; }, ' ');
                message.append(4 + number.size(), ' ').append(" | ").append(indent).append("^\n");
            }
        }
    }
    end_message();
    if (out.empty()) {
        out = log;
    }
    if (has(out, "delete")) {
        out +=
            "Functions that are deleted have other digits on other processors: V and Scalar<V> have + - * / and "
            "square_root, and constants beside them are written as Scalar<V>(0.5).\n";
    }
    replace_all(out, nowhere, collision.file);
    if (out.size() > longest_log) {
        out = out.substr(0, longest_log) + "\n...\n";
    }
    return out;
}

}  // namespace lbm::custom
