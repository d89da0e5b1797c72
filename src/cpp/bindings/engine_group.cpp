// Binds groups of engines that advance together.
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <vector>

#include "../engine/engine_group.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {

using engine::Engine;
using engine::EngineGroup;

namespace {

/// As the deleter of an engine: what a group has recorded on a GPU is not a forked child's.
struct DeleteInOwnProcessToo {
    void operator()(EngineGroup* group) const {
        if (group->engines().front()->is_of_this_process()) {
            delete group;
        }
    }
};
using OwnedGroup = std::unique_ptr<EngineGroup, DeleteInOwnProcessToo>;

}  // namespace

void bind_engine_group(py::module_& module) {
    py::class_<EngineGroup, OwnedGroup>(module, "EngineGroup",
                                        "Engines that advance together; each is one block, and all are on one device.")
        .def(py::init([](const py::tuple& engines, int threads) {
                 return OwnedGroup(new EngineGroup(engines.cast<std::vector<Engine*>>(), threads));
             }),
             py::arg("engines"), py::arg("threads"), py::keep_alive<1, 2>())
        .def(
            "step",
            [](EngineGroup& group, Index steps) {
                const NoGil release;
                std::vector<Engine*> engines = group.engines();
                std::sort(engines.begin(), engines.end(), std::less<>());  // two groups lock in one order
                std::vector<std::unique_lock<process::Mutex>> locks;
                locks.reserve(engines.size());
                for (const Engine* engine : engines) {
                    locks.emplace_back(engine->mutex());
                }
                group.step(steps);
            },
            py::arg("steps"), "Advance every engine by so many steps.");
}

}  // namespace lbm::bindings
