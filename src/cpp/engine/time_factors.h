// The factors, step by step, of what changes in time as a fixed part times a factor, and those parts that are no values
// of wall links or boundary cells.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "domain.h"

namespace lbm::engine {

/// A temperature of a wall, or the body force. The engine sets it anew before each step, but for what blocks on GPUs
/// set by themselves of temperatures (backend/scaled_state.h).
struct ScaledField {
    enum class Of { FaceTemperature, BodyTemperature, Force };
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

    void remove(ScaledField::Of of, int index) {
        const auto is_same = [&](const ScaledField& field) { return field.of == of && field.index == index; };
        fields.erase(std::remove_if(fields.begin(), fields.end(), is_same), fields.end());
    }
    /// Adds a field in place of what there is of the same face, of the same body, or of the force.
    void replace(ScaledField field) {
        remove(field.of, field.index);
        fields.push_back(std::move(field));
    }

    Index rows() const { return series == 0 ? 0 : Index(table.size()) / series; }
    /// Whether there are factors of so many steps from a step on, and of the state after them.
    bool covers(Index step, Index steps) const { return step >= first && step + steps < first + rows(); }
    const double* at(Index step) const { return table.data() + (step - first) * series; }
};

}  // namespace lbm::engine
