// Hands the given parameters to the collision's code, and checks them by the questions that it has asked.
#include "custom_parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "models.h"

namespace lbm::engine {
namespace {

using custom::GivenNumber;
using custom::Made;
using custom::Question;

void put(const std::string& what, const std::string& text, char (&out)[custom::name_size]) {
    if (text.size() >= std::size_t(custom::name_size)) {
        throw std::invalid_argument("parameters: " + what + " '" + text + "' given, must be shorter than " +
                                    std::to_string(custom::name_size) + " bytes");
    }
    std::memcpy(out, text.c_str(), text.size() + 1);
}

std::vector<GivenNumber> numbers_given(const Parameters& given) {
    std::vector<GivenNumber> all;
    const auto add = [&](const std::string& name, const std::string& key, int component, double value) {
        GivenNumber number{};
        put("the name", name, number.name);
        put("the name", key, number.key);
        number.component = component;
        number.value = value;
        all.push_back(number);
    };
    for (const auto& [name, parameter] : given) {
        if (const auto* value = std::get_if<double>(&parameter)) {
            add(name, "", -1, *value);
        } else if (const auto* values = std::get_if<std::vector<double>>(&parameter)) {
            for (std::size_t k = 0; k < values->size(); ++k) {
                add(name, "", int(k), (*values)[k]);
            }
        } else {
            for (const auto& [key, entry] : std::get<std::map<std::string, double>>(parameter)) {
                add(name, key, -1, entry);
            }
        }
    }
    if (all.size() > std::size_t(custom::most_given)) {
        throw std::invalid_argument("parameters: " + std::to_string(all.size()) + " numbers given, must be " +
                                    std::to_string(custom::most_given) + " at most");
    }
    return all;
}

/// What the collision has asked for, asked of what checks it. A name that was not asked for comes first: it may be a
/// misspelt one of those that are missing.
void check(const Made& made, const GivenParameters& given) {
    for (int k = 0; k < made.question_count; ++k) {
        if (made.questions[k].asked != custom::Asked::RateName) {
            given.expect(made.questions[k].name);
        }
    }
    given.refuse_others();
    for (int k = 0; k < made.question_count; ++k) {
        const Question& question = made.questions[k];
        const auto otherwise = question.has_default ? std::optional(question.otherwise) : std::nullopt;
        const auto count = std::size_t(question.count);
        switch (question.asked) {
            case custom::Asked::Positive: given.positive(question.name, otherwise); break;
            case custom::Asked::AtLeastZero: given.at_least_zero(question.name, question.otherwise); break;
            case custom::Asked::RateOrZero: given.rate_or_zero(question.name, question.otherwise); break;
            case custom::Asked::Vector: given.components(question.name, count, otherwise); break;
            case custom::Asked::Rates: {
                if (question.count < 0) {
                    throw std::invalid_argument(std::string(question.name) + ": rates from first to last asked for, " +
                                                "the last is before the first");
                }
                std::map<std::string, int> places;
                for (int rate = 0; rate < question.count; ++rate) {
                    places[(&question + 1 + rate)->name] = rate;
                }
                given.checked_rates(question.name, places, question.has_default);
                break;
            }
            case custom::Asked::RateName: break;  // read with its Rates
        }
    }
}

}  // namespace

std::vector<double> custom_numbers(const Setup& setup) {
    backend::BlockSpec spec{};
    spec.stencil = stencil_kind(setup.stencil);
    spec.model = model_of(spec.stencil, setup.thermal.has_value());
    spec.precision = number_kind("precision", setup.precision);
    spec.storage = number_kind("storage", setup.storage);
    spec.collision = backend::no_member;
    spec.custom = setup.custom;
    const std::string name = "collision: '" + setup.custom->name + "'";
    if (backend::is_multispeed(spec)) {
        throw std::invalid_argument(name + " does not go with " + setup.stencil + ", which takes " +
                                    listed(collision_names(setup.stencil)));
    }
    const Made made = backend::make_parameters(spec, backend::checked(setup.device), numbers_given(setup.parameters));
    if (!made.goes_with_stencil) {
        throw std::invalid_argument(name + " does not go with " + setup.stencil + ", as its goes_with says");
    }
    if (made.question_count > custom::most_asked) {
        throw std::invalid_argument(name + " asks for " + std::to_string(made.question_count) +
                                    " parameters, must be " + std::to_string(custom::most_asked) + " at most");
    }
    check(made, GivenParameters(setup.custom->name, setup.parameters));
    std::vector<double> numbers(made.numbers, made.numbers + made.number_count);
    if (!std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); }) || made.omega <= 0) {
        throw std::invalid_argument(name + " makes parameters of what was given that are not finite, or no omega > 0");
    }
    if (numbers.size() < 2 || numbers[0] != made.omega || numbers[1] != made.smagorinsky_factor) {
        throw std::invalid_argument(name + ": its Parameters must begin with a Relaxation");
    }
    return numbers;
}

void set_custom(const Setup& setup, backend::BlockSpec& spec) {
    if (backend::is_multispeed(spec) || setup.numbers.size() < 2 ||
        setup.numbers.size() >= std::size_t(custom::most_numbers)) {
        throw std::invalid_argument("collision: '" + setup.custom->name + "' given with " + setup.stencil + " and " +
                                    std::to_string(setup.numbers.size()) + " numbers, must be as it was made");
    }
    spec.collision = backend::no_member;
    spec.custom = setup.custom;
    spec.parameters = setup.numbers;
    spec.parameters.resize(custom::most_numbers);  // as padded.h has them
    spec.omega = setup.numbers[0];
    spec.has_eddy_viscosity = setup.numbers[1] > 0;
}

}  // namespace lbm::engine
