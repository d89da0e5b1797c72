// How the parameters of a custom collision are made, without standard headers: the function parameters<S>(given) of its
// text runs as it was compiled, on a GPU or in a shared object. `given` has what the user gave, unchecked, and records
// what the collision asks for, which the engine then checks as it does for its own collisions.
#pragma once

#include "../../lattice/portability.h"

namespace lbm::custom {

constexpr int most_numbers = 128;  // of a collision's parameters
constexpr int most_given = 256;
constexpr int most_asked = 64;
constexpr int name_size = 48;  // with the zero at the end

/// A number that the user gave: a parameter, a component of a vector, or an entry of a dict.
struct GivenNumber {
    char name[name_size];
    char key[name_size];  // of the entry of a dict; else empty
    int component;        // of a vector; else -1
    double value;
};

enum class Asked : int { Positive, AtLeastZero, RateOrZero, Vector, Rates, RateName };

/// A recorded call of a member of Given.
struct Question {
    char name[name_size];
    Asked asked;
    int count;  // of components or rates
    bool has_default;
    double otherwise;
};

/// The result: the parameters as a row of numbers, and the recorded questions.
struct Made {
    double numbers[most_numbers];
    int number_count;
    double omega, smagorinsky_factor;
    bool goes_with_stencil;
    int question_count;  // may be more than there is room for
    Question questions[most_asked];
};

/// The argument `given`, with the members of engine::GivenParameters. It checks nothing: where a value is missing it
/// returns some number, as the engine refuses the parameters afterwards.
class Given {
public:
    LBM_HD Given(const GivenNumber* given, int count, Made& made) : given_(given), count_(count), made_(made) {}

    LBM_HD double positive(const char* name) const {
        ask(name, Asked::Positive, 1, false, 0);
        return number(name, "", -1, 1);
    }
    LBM_HD double positive(const char* name, double otherwise) const {
        ask(name, Asked::Positive, 1, true, otherwise);
        return number(name, "", -1, otherwise);
    }
    LBM_HD double at_least_zero(const char* name, double otherwise) const {
        ask(name, Asked::AtLeastZero, 1, true, otherwise);
        return number(name, "", -1, otherwise);
    }
    LBM_HD double rate_or_zero(const char* name, double otherwise) const {
        ask(name, Asked::RateOrZero, 1, true, otherwise);
        return number(name, "", -1, otherwise);
    }
    template <int count>
    LBM_HD void vector(const char* name, double (&out)[count]) const {
        ask(name, Asked::Vector, count, false, 0);
        fill(name, out, count, 0);
    }
    template <int count>
    LBM_HD void vector(const char* name, double (&out)[count], double otherwise) const {
        ask(name, Asked::Vector, count, true, otherwise);
        fill(name, out, count, otherwise);
    }
    template <class NameOf>
    LBM_HD void rates(const char* parameter, NameOf&& name_of, int first, int last, double* out,
                      const double* otherwise = nullptr) const {
        ask(parameter, Asked::Rates, last - first, otherwise != nullptr, 0);
        for (int k = first; k < last; ++k) {
            ask(name_of(k), Asked::RateName, 1, true, 0);
            out[k] = number(parameter, name_of(k), -1, otherwise == nullptr ? 1 : otherwise[k]);
        }
    }

private:
    LBM_HD static bool same(const char* a, const char* b) {
        int k = 0;
        while (a[k] != 0 && a[k] == b[k]) {
            ++k;
        }
        return a[k] == b[k];
    }
    LBM_HD double number(const char* name, const char* key, int component, double otherwise) const {
        for (int k = 0; k < count_; ++k) {
            const GivenNumber& g = given_[k];
            if (g.component == component && same(g.name, name) && same(g.key, key)) {
                return g.value;
            }
        }
        return otherwise;
    }
    LBM_HD void fill(const char* name, double* out, int count, double otherwise) const {
        for (int k = 0; k < count; ++k) {
            out[k] = number(name, "", k, otherwise);
        }
    }
    LBM_HD void ask(const char* name, Asked asked, int count, bool has_default, double otherwise) const {
        const int place = made_.question_count++;
        if (place < most_asked) {
            Question& question = made_.questions[place];
            question.asked = asked;
            question.count = count;
            question.has_default = has_default;
            question.otherwise = otherwise;
            for (int k = 0; k < name_size - 1; ++k) {
                question.name[k] = name[k];
                if (name[k] == 0) {
                    break;
                }
            }
        }
    }

    const GivenNumber* given_;
    int count_;
    Made& made_;
};

}  // namespace lbm::custom
