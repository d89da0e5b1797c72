// The temperature behind an adiabatic surface that cuts links at known distances.
#pragma once

#include <vector>

namespace lbm::engine {

/// A place by its distance from the centre of a cell.
struct Place {
    double at[3];
};

/// What a fluid cell finds behind an adiabatic surface, at its solid neighbour along the link c, which the surface cuts
/// at the fraction q: the weights of the temperatures of some fluid cells around it, the cell itself among them.
///
/// The surface is the plane through the points where it cuts links nearby, by least squares. Beside it the temperature
/// is T = a + b . s + s . C s + d z^2, with s along the plane and the distance z from it, so that its normal derivative
/// vanishes there; the fluid cells give the coefficients by weighted least squares. Nearer points and cells have more
/// weight, by 1 / (1 + r^2)^2, which all machines round alike: points by their distance r from the cut of the link,
/// cells by that from the mirror image of the solid neighbour.
///
/// None where the points are too few or lie on no plane, as at edges, or where the fluid cells do not give the
/// coefficients, as in narrow gaps.
std::vector<double> weights_behind_adiabatic_wall(int D, const int* c, double q, const std::vector<Place>& cuts,
                                                  const std::vector<Place>& cells);

}  // namespace lbm::engine
