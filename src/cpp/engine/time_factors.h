// The factors, step by step, of what changes in time as a fixed part times a factor, and those parts that are no values
// of wall links or boundary cells.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "domain.h"

namespace lbm::engine {

/// A temperature of a wall. Blocks on GPUs set what depends on it by themselves (backend/scaled_state.h), for others
/// the engine does so before each step.
struct ScaledField {
    enum class Of { FaceTemperature, BodyTemperature, LinkTemperature };
    Of of;
    int index;  // of the face or body
    ScaledValue value;
    double offset;  // which is subtracted from a product
};

/// The factors of the steps from `first` on: `series` numbers for each.
struct TimeFactors {
    int series = 0;  // 0: nothing changes in time
    Index first = 0;
    std::vector<double> table{};
    std::vector<ScaledField> fields{};
    int force_series = -1;  // the factor of the body force, which blocks multiply with it; -1: it does not change

    /// Adds a field in place of what there is of the same face or body.
    void replace(ScaledField field) {
        const auto is_same = [&](const ScaledField& old) { return old.of == field.of && old.index == field.index; };
        fields.erase(std::remove_if(fields.begin(), fields.end(), is_same), fields.end());
        fields.push_back(std::move(field));
    }
    /// Drops all factors, until new ones are given.
    void forget() {
        series = 0;
        table.clear();
    }

    Index rows() const { return series == 0 ? 0 : Index(table.size()) / series; }
    /// Whether there are factors of so many steps from a step on, and of the state after them.
    bool covers(Index step, Index steps) const { return step >= first && step + steps < first + rows(); }
    const double* at(Index step) const { return table.data() + (step - first) * series; }
};

}  // namespace lbm::engine
