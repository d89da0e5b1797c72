// Looks up the parameters of a collision by name and checks them.
#include "given_parameters.h"

#include <cmath>
#include <stdexcept>

#include "models.h"

namespace lbm::engine {

const Parameter* GivenParameters::find(const std::string& name) const {
    asked_.insert(name);
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
}

std::optional<double> GivenParameters::number(const std::string& name) const {
    const Parameter* found = find(name);
    if (found == nullptr) {
        return std::nullopt;
    }
    const auto* value = std::get_if<double>(found);
    if (value == nullptr) {
        throw std::invalid_argument(name + ": must be a number");
    }
    return *value;
}

double GivenParameters::positive(const std::string& name, std::optional<double> otherwise) const {
    const std::optional<double> given = number(name), value = given ? given : otherwise;
    if (!value) {
        throw std::invalid_argument(name + ": collision '" + collision_ + "' needs one");
    }
    if (!(*value > 0) || !std::isfinite(*value)) {
        throw std::invalid_argument(name + ": " + std::to_string(*value) + " is not a positive number");
    }
    return *value;
}

double GivenParameters::at_least_zero(const std::string& name, double otherwise) const {
    const double value = number(name).value_or(otherwise);
    if (!(value >= 0) || !std::isfinite(value)) {
        throw std::invalid_argument(name + ": " + std::to_string(value) + " given, must be zero or positive");
    }
    return value;
}

double GivenParameters::rate_or_zero(const std::string& name, double otherwise) const {
    const double value = at_least_zero(name, otherwise);
    if (!(value < 2)) {
        throw std::invalid_argument(name + ": " + std::to_string(value) + " given, must be below 2");
    }
    return value;
}

double GivenParameters::fraction(const std::string& name, double otherwise) const {
    const double value = number(name).value_or(otherwise);
    if (!(value > 0 && value <= 1)) {
        throw std::invalid_argument(name + ": " + std::to_string(value) + " given, must be above 0 and at most 1");
    }
    return value;
}

std::vector<double> GivenParameters::components(const std::string& name, std::size_t count,
                                                std::optional<double> otherwise) const {
    const Parameter* found = find(name);
    const std::string needed = std::to_string(count) + " components are needed";
    if (found == nullptr && !otherwise) {
        throw std::invalid_argument(name + ": collision '" + collision_ + "' needs one; " + needed);
    }
    if (found == nullptr) {
        return std::vector<double>(count, *otherwise);
    }
    const auto* values = std::get_if<std::vector<double>>(found);
    if (values == nullptr || (values->size() != count && !(values->empty() && otherwise))) {
        throw std::invalid_argument(name + ": " + needed);
    }
    for (const double value : *values) {
        if (!std::isfinite(value)) {
            throw std::invalid_argument(name + ": " + std::to_string(value) + " given, must be finite");
        }
    }
    return values->empty() ? std::vector<double>(count, *otherwise) : *values;
}

std::map<std::string, double> GivenParameters::named(const std::string& name) const {
    const Parameter* found = find(name);
    if (found == nullptr) {
        return {};
    }
    if (const auto* values = std::get_if<std::vector<double>>(found); values != nullptr && values->empty()) {
        return {};  // pybind11 may convert an empty dict to an empty vector
    }
    const auto* values = std::get_if<std::map<std::string, double>>(found);
    if (values == nullptr) {
        throw std::invalid_argument(name + ": must be numbers by name");
    }
    return *values;
}

std::map<std::string, double> GivenParameters::checked_rates(const std::string& parameter,
                                                             const std::map<std::string, int>& places,
                                                             bool has_defaults) const {
    std::map<int, std::string> in_order;
    for (const auto& [known, place] : places) {
        in_order[place] = known;
    }
    const auto refuse = [&](const std::string& what, const std::string& name, const std::string& why) {
        throw std::invalid_argument(parameter + ": " + what + "'" + name + "'" + why);
    };
    std::map<std::string, double> given = named(parameter);
    for (const auto& [name, value] : given) {
        if (!places.contains(name)) {
            std::vector<std::string> names;
            names.reserve(in_order.size());
            for (const auto& [place, known] : in_order) {
                names.push_back(known);
            }
            refuse("", name, " is not one of " + listed(names));
        }
        if (!(value > 0 && value < 2)) {
            refuse("", name, " is " + std::to_string(value) + ", not between 0 and 2");
        }
    }
    for (const auto& [place, known] : in_order) {
        if (!has_defaults && !given.contains(known)) {
            refuse("collision '" + collision_ + "' needs a rate ", known, "");
        }
    }
    return given;
}

void GivenParameters::refuse_others() const {
    for (const auto& [name, value] : given_) {
        if (!asked_.contains(name)) {
            throw std::invalid_argument(name + ": neither an argument of the engine nor a parameter of collision '" +
                                        collision_ + "', which takes " + listed({asked_.begin(), asked_.end()}));
        }
    }
}

}  // namespace lbm::engine
