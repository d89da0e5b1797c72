// Composes the names of the instances of the kernel templates.
#include "kernel_names.h"

#include <stdexcept>

#include "../block_layout.h"
#include "../type_name.h"

namespace lbm::cuda {
namespace {

using backend::BlockSpec;
using backend::NumberKind;
using backend::spelled;

std::string stencil_name(const BlockSpec& spec) {
    return backend::with_stencil(spec.stencil, [](auto s) { return spelled<decltype(s)>(); });
}

std::string collision_name(const BlockSpec& spec) {
    if (spec.custom) {
        return custom::type_name(*spec.custom);
    }
    return backend::with_collision(spec.collision, [](auto c) { return spelled<decltype(c)>(); });
}

std::string phase_name(Phase phase) { return "lbm::Phase(" + std::to_string(int(phase)) + ")"; }

std::string forcing_name(Forcing forcing) {
    switch (forcing) {
        case Forcing::None: return "lbm::cuda::Forcing::None";
        case Forcing::Uniform: return "lbm::cuda::Forcing::Uniform";
        case Forcing::Field: return "lbm::cuda::Forcing::Field";
        case Forcing::ScaledUniform: return "lbm::cuda::Forcing::ScaledUniform";
        case Forcing::ScaledField: return "lbm::cuda::Forcing::ScaledField";
    }
    throw std::logic_error("no name of a kind of force");
}

std::string span_name(RowSpan span) {
    switch (span) {
        case RowSpan::Warp: return "lbm::cuda::RowSpan::Warp";
        case RowSpan::ThreadBlock: return "lbm::cuda::RowSpan::ThreadBlock";
        case RowSpan::Several: return "lbm::cuda::RowSpan::Several";
    }
    throw std::logic_error("no name of a span of rows");
}

std::string word(bool truth) { return truth ? "true" : "false"; }

/// The pitch of a large block's rows, which its kernels know, so that they are compiled for each width of rows anew; 0
/// for other blocks, whose steps are too short to be worth it.
std::string known_pitch(const BlockSpec& spec) {
    return block_size(spec) == BlockSize::Large
               ? std::to_string(backend::block_address(spec, backend::Device::Gpu).population_stride)
               : "0";
}

/// The moments with relaxation times of their own in the multispeed thermal model.
std::string relaxation_times_name(const BlockSpec& spec) {
    switch (relaxation_times(backend::parameters_of<MultispeedParameters<double>>(spec))) {
        case RelaxationTimes::One: return "lbm::RelaxationTimes::One";
        case RelaxationTimes::HeatFlux: return "lbm::RelaxationTimes::HeatFlux";
        case RelaxationTimes::ThirdAndFourth: return "lbm::RelaxationTimes::ThirdAndFourth";
    }
    throw std::logic_error("relaxation times that no kernel has a name for");
}

/// A kernel that updates cells of the multispeed thermal model.
KernelName multispeed_kernel(const std::string& name, const BlockSpec& spec, const LaunchConfiguration& configuration) {
    const int self_periodic = int(spec.self_periodic[0]) + 2 * int(spec.self_periodic[1]);
    return {"multispeed_update.h", "lbm::cuda::" + name + "<" + stencil_name(spec) + ", " + type_name(spec.precision) +
                                       ", " + std::to_string(self_periodic) + ", " + relaxation_times_name(spec) +
                                       ", " + std::to_string(configuration.threads) + ", " +
                                       std::to_string(configuration.blocks) + ">"};
}

}  // namespace

std::string type_name(NumberKind kind) {
    return kind == NumberKind::Float16 ? "lbm::Half" : kind == NumberKind::Float32 ? "float" : "double";
}

KernelName update_kernel(const BlockSpec& spec, const LaunchConfiguration& configuration, const UpdateKind& kind) {
    if (backend::is_multispeed(spec)) {
        return multispeed_kernel("multispeed_update", spec, configuration);
    }
    const std::string real = type_name(spec.precision);
    const std::string collision = collision_name(spec);
    const std::string own = collision + "::Parameters<" + real + ">";
    const std::string any = spec.custom ? "lbm::custom::Padded<" + own + ">" : own;
    const std::string local = spec.has_eddy_viscosity ? any : "lbm::Laminar<" + any + ">";
    const std::string parameters = backend::keeps_velocity(spec)
                                       ? "lbm::cuda::WithGradientTerms<" + local + ", " + real + ", " +
                                             gradient_terms_name(spec) + ", " + word(kind.keeps_velocity) + ", " +
                                             word(kind.renews_terms) + ">"
                                       : local;
    const std::string types =
        stencil_name(spec) + ", " + collision + ", " + real + ", " + type_name(spec.storage) + ", " + parameters;
    const int self_periodic = backend::is_hybrid(spec) ? 0
                                                       : int(spec.self_periodic[0]) + 2 * int(spec.self_periodic[1]) +
                                                             4 * int(spec.self_periodic[2]);
    const std::string kinds = std::to_string(self_periodic) + ", " + phase_name(kind.phase) + ", " +
                              forcing_name(kind.forcing) + ", " + word(kind.end_sums) + ", " +
                              std::to_string(kind.row_ends) + ", " + word(backend::is_hybrid(spec)) + ", " +
                              span_name(row_span(spec, configuration)) + ", " +
                              word(spec.size[0] % configuration.cells_per_thread == 0) + ", " + known_pitch(spec);
    return {"update.h",
            "lbm::cuda::update<" + types + ", " + std::to_string(configuration.cells_per_thread) + ", " + kinds + ", " +
                std::to_string(configuration.threads) + ", " + std::to_string(configuration.blocks) + ">",
            spec.custom};
}

std::string gradient_terms_name(const BlockSpec& spec) {
    std::string name;
    backend::with_gradient_terms(spec.turbulence, spec.takes_strain,
                                 [&](auto terms) { name = spelled<decltype(terms)>(); });
    return name;
}

KernelName part_kernel(const BlockSpec& spec, const LaunchConfiguration& configuration) {
    return multispeed_kernel("multispeed_update_part", spec, configuration);
}

KernelName custom_parameters_kernel(const BlockSpec& spec) {
    return {"arguments.h",
            "lbm::custom::make_on_device<" + stencil_name(spec) + ", " + collision_name(spec) + ", " +
                type_name(spec.precision) + ", " + word(backend::is_hybrid(spec)) + ">",
            spec.custom};
}

KernelName wall_columns_kernel(const BlockSpec& spec) {
    return {"multispeed_update.h",
            "lbm::cuda::fill_wall_columns<" + stencil_name(spec) + ", " + type_name(spec.precision) + ">"};
}

KernelName moment_kernel(const BlockSpec& spec, const MomentKernel& kind) {
    const std::string real = type_name(spec.precision);
    const std::string own = collision_name(spec) + "::Parameters<" + real + ">";
    const bool solid = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D == 3; });
    const std::string function = solid ? "moment_update" : "moment_update_2d";
    return {function + ".h", "lbm::cuda::" + std::string(solid ? "update_moments" : "update_moments_2d") + "<" +
                                 stencil_name(spec) + ", " + collision_name(spec) + ", " + real + ", " +
                                 (spec.has_eddy_viscosity ? own : "lbm::Laminar<" + own + ">") + ", " +
                                 forcing_name(kind.forcing) + ", " + word(kind.walls) + ", " +
                                 word(kind.walls && kind.images) + ", " + word(kind.walls && kind.scaled) + ", " +
                                 word(kind.walls && kind.cuts) + ", " + word(kind.kept.populations) + ", " +
                                 std::to_string(kind.kept.sums) + ", " + std::to_string(kind.cells_per_thread) + ", " +
                                 std::to_string(kind.steps) + ", " + std::to_string(kind.rows) + ", " +
                                 known_pitch(spec) + (solid && kind.along_y ? ", true>" : ">")};
}

KernelName state_kernel(const BlockSpec& spec, const std::string& header, const std::string& function,
                        const std::string& more) {
    const bool moments = spec.state->keeps_moments;
    const std::string stored = moments ? "lbm::cuda::AsMoments<" + collision_name(spec) + ">" : type_name(spec.storage);
    return {moments ? "moment_readers.h" : header, "lbm::cuda::" + function + "<" + stencil_name(spec) + ", " +
                                                       type_name(spec.precision) + ", " + stored +
                                                       (more.empty() ? "" : ", " + more) + ">"};
}

}  // namespace lbm::cuda
