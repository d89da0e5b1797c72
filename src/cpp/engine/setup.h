// The setup of an engine in words and numbers, as the bindings pass it, and its checked translation into the types that
// the engine and the backends use.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../backend/devices.h"
#include "../comm/communicator.h"
#include "domain.h"
#include "given_parameters.h"
#include "layout.h"

namespace lbm::engine {

/// The hybrid thermal model. Temperatures are deviations from a reference that the engine need not know.
struct ThermalSetup {
    double diffusivity = 0;
    std::string operators = "isotropic";
    double energy_coupling = 0;
    std::vector<double> buoyancy;    // empty: none
    std::vector<std::string> faces;  // empty: periodic where those of the flow are, else adiabatic
};

/// An eddy viscosity of velocity gradients. That of the local stress is a parameter of the collision.
struct TurbulenceSetup {
    std::string model;
    double constant = 0;
    int every = 1;  // steps for which it holds
};

/// The most steps for which an eddy viscosity may hold.
constexpr int most_steps_between = 1000;

struct Setup {
    std::string stencil;
    std::vector<int> shape;
    std::string collision;
    Parameters parameters;  // of the collision, which reads and checks them
    /// In place of a member of the list, whose name `collision` then is not; and its parameters as a row of numbers,
    /// which custom_numbers() makes.
    std::shared_ptr<const custom::CustomCollision> custom = nullptr;
    std::vector<double> numbers = {};
    std::string precision = "float32";
    std::string storage = "float32";
    std::string streaming = "in-place";
    std::vector<std::string> faces;  // empty: all periodic
    backend::DeviceOptions device;
    std::vector<Block> blocks;                       // empty: one block, the whole domain on that device
    std::string channel;                             // forced on all links between blocks; empty: the best for each
    std::string schedule;                            // overlap or blocking; empty: the faster of them
    std::shared_ptr<const comm::Communicator> comm;  // null: one process
    std::optional<ThermalSetup> thermal;
    std::vector<std::string> thermal_faces;  // as ThermalSetup::faces, for multispeed models
    std::optional<TurbulenceSetup> turbulence = std::nullopt;
    const backend::StateKind* state = nullptr;  // replaces the one that `streaming` names; must outlive the engine
};

// The functions below throw std::invalid_argument, whose message names the wrong argument and what would be right.

/// The scheme of the walls of a body whose distances are known.
CutWallKind wall_kind(const std::string& name);
backend::StencilKind stencil_kind(const std::string& name);
/// The state of a setup by the name of what a cell keeps: null for "populations", of which the streaming says how; of
/// "moments" it says whether the two lattices overlap.
const backend::StateKind* state_named(const std::string& name, const std::string& streaming,
                                      const std::string& stencil);
backend::NumberKind number_kind(const std::string& argument, const std::string& name);
/// The names of the collisions that support a stencil, or of all if `stencil` is empty, in the order of the list.
std::vector<std::string> collision_names(const std::string& stencil);
/// The names of the collisions whose populations follow from moments, so that these may be the state.
std::vector<std::string> moment_collision_names();
/// The names of the conditions of faces that go with a state of moments: those that are copies or formulas of the own
/// cell's populations and moments.
std::vector<std::string> moment_faces();
/// The specification of the whole domain as one block.
backend::BlockSpec block_spec(const Setup& setup);
/// The specification of one block of the domain.
backend::BlockSpec part_of(const backend::BlockSpec& whole, const Block& block);
Layout make_layout(const Setup& setup, const backend::BlockSpec& whole);
Domain make_domain(const Setup& setup);

}  // namespace lbm::engine
