// The parameters of a collision as the user gives them, by name. They are checked when the collision reads them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "../lattice/parameters.h"

namespace lbm::engine {

/// A parameter is a number, a vector, or numbers by name (such as relaxation rates).
using Parameter = std::variant<double, std::vector<double>, std::map<std::string, double>>;
using Parameters = std::map<std::string, Parameter>;

/// Collisions read their parameters from it. All members but the constructor throw std::invalid_argument, whose message
/// says what is wrong and what would be right.
class GivenParameters {
public:
    GivenParameters(std::string collision, const Parameters& given) : collision_(std::move(collision)), given_(given) {}

    /// A number above 0. If there is no default `otherwise`, it must have been given.
    double positive(const std::string& name, std::optional<double> otherwise = std::nullopt) const;
    double at_least_zero(const std::string& name, double otherwise) const;
    /// A relaxation rate, between 0 and 2, or 0.
    double rate_or_zero(const std::string& name, double otherwise) const;
    /// A number above 0 and at most 1.
    double fraction(const std::string& name, double otherwise) const;
    /// A vector of exactly `count` components. Each is `otherwise` if none are given, which must have been without
    /// that.
    template <std::size_t count>
    void vector(const std::string& name, double (&out)[count], std::optional<double> otherwise = std::nullopt) const {
        const std::vector<double> values = components(name, count, otherwise);
        std::copy(values.begin(), values.end(), out);
    }
    /// Rates between 0 and 2 by the names name_of(first), ..., name_of(last - 1): that of name_of(k) is stored in
    /// out[k]. It is otherwise[k] if it is not given, which it must have been without those.
    template <class NameOf>
    void rates(const std::string& parameter, NameOf&& name_of, int first, int last, double* out,
               const double* otherwise = nullptr) const {
        std::map<std::string, int> places;
        for (int k = first; k < last; ++k) {
            places[name_of(k)] = k;
        }
        const std::map<std::string, double> given = checked_rates(parameter, places, otherwise != nullptr);
        for (const auto& [name, k] : places) {
            const auto found = given.find(name);
            out[k] = found == given.end() ? otherwise[k] : found->second;
        }
    }

    std::vector<double> components(const std::string& name, std::size_t count, std::optional<double> otherwise) const;
    /// Numbers by the names of `places`; all of them unless they have defaults.
    std::map<std::string, double> checked_rates(const std::string& parameter, const std::map<std::string, int>& places,
                                                bool has_defaults) const;

    /// That the collision will read a parameter, for refuse_others.
    void expect(const std::string& name) const { asked_.insert(name); }

    /// Throws for parameters that the collision neither has read nor will.
    void refuse_others() const;

private:
    const Parameter* find(const std::string& name) const;
    std::optional<double> number(const std::string& name) const;
    std::map<std::string, double> named(const std::string& name) const;

    std::string collision_;
    const Parameters& given_;
    mutable std::set<std::string> asked_;
};

/// The parameters of a collision as a list of numbers.
template <class P>
std::vector<double> numbers_of(const P& parameters) {
    struct Row {
        double values[number_count<P>];
    };
    const Row row = __builtin_bit_cast(Row, parameters);
    return {row.values, row.values + number_count<P>};
}

}  // namespace lbm::engine
