"""The table of the models: the engine refuses by it what does not go with one, and takes what does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lbmgpu import _core, models
from lbmgpu.models import MODELS, Model

FACES = sorted({face for model in MODELS.values() for face in model.faces})
NUMBERS = sorted({pair for model in MODELS.values() for pair in model.numbers})
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def engine(model: Model, **options: Any) -> _core.Engine:
    """An engine of the model's first stencil, all periodic, of whatever does not go with others too."""
    stencil = _core.stencil(model.stencils[0])
    given: dict[str, Any] = {
        "stencil": stencil.name,
        "shape": [6] * stencil.D,
        "collision": _core.collision_names(stencil.name)[0],
        "viscosity": 0.1,
        "streaming": model.streamings[0],
        "faces": ["periodic"] * 2 * stencil.D,
        "thermal": {"diffusivity": 0.1} if model.temperature == "field" else None,
        "threads": 1,
    }
    return _core.Engine(**(given | options))


def refused(argument: str, takes: bool, make: Any) -> None:
    """Check that `make` is done, or ends with an error that names the argument."""
    if takes:
        make()
    else:
        with pytest.raises(ValueError, match=f"^{argument}: "):
            make()


def test_every_stencil_has_a_model() -> None:
    assert {name for model in MODELS.values() for name in model.stencils} == set(_core.stencil_names())
    assert [models.of(name).name for name in ("D2Q9", "D3Q27", "D2Q37")] == [
        *("isothermal", "isothermal"),
        "multispeed thermal",
    ]
    assert models.of("D3Q19", thermal=True).name == "hybrid thermal"
    with pytest.raises(ValueError, match="stencil: 'D2Q37' given with thermal, must be 'D2Q9' or 'D3Q19'"):
        models.of("D2Q37", thermal=True)
    with pytest.raises(ValueError, match="thermal: goes with 'D2Q9', 'D3Q19', not with 'D3Q27'"):
        engine(MODELS["hybrid thermal"], stencil="D3Q27", shape=[6, 6, 6], faces=[])


@each_model
@pytest.mark.parametrize("numbers", NUMBERS, ids="-".join)
def test_numbers(model: Model, numbers: tuple[str, str]) -> None:
    precision, storage = numbers
    refused("storage", numbers in model.numbers, lambda: engine(model, precision=precision, storage=storage))
    assert (storage in model.storages(precision)) == (numbers in model.numbers)


@each_model
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_streamings(model: Model, streaming: str) -> None:
    refused("streaming", streaming in model.streamings, lambda: engine(model, streaming=streaming))


@each_model
@pytest.mark.parametrize("face", FACES)
def test_faces(model: Model, face: str) -> None:
    axes = _core.stencil(model.stencils[0]).D
    faces = [face, face, *["periodic"] * 2 * (axes - 1)]
    refused("faces", face in model.faces, lambda: engine(model, faces=faces))


@each_model
def test_smallest_sizes(model: Model) -> None:
    for name, least in model.smallest_size.items():
        shape = [least, *[6] * (_core.stencil(name).D - 1)]
        collision = _core.collision_names(name)[0]
        engine(model, stencil=name, shape=shape, collision=collision, faces=[])
        if least > 1:
            shape[0] -= 1
            refused("shape", False, lambda s=shape, n=name: engine(model, stencil=n, shape=s, faces=[]))


@each_model
def test_bodies_and_drives(model: Model) -> None:
    made = engine(model)
    axes = _core.stencil(model.stencils[0]).D
    mask = np.zeros([6] * axes, dtype=bool)
    mask[(2,) * axes] = True
    refused("bodies", model.bodies, lambda: made.add_body(mask))
    refused("force", "force" in model.drives, lambda: made.set_force(np.full(axes, 1e-5)))
    refused("heat_source", "heat_source" in model.drives, lambda: made.set_heat_source(np.array(1e-5)))
    refused("gravity", "gravity" in model.drives, lambda: engine(model, gravity=[1e-5] * axes))
    made.set_force(None)


@each_model
def test_fields(model: Model) -> None:
    made = engine(model)
    out = np.empty([6] * _core.stencil(model.stencils[0]).D)
    assert (model.temperature != "none") == model.has_temperature == bool(model.thermal_faces)
    refused("temperature", model.has_temperature, lambda: made.temperature(out))
    refused("temperature", "heat_flux" in model.fields, lambda: made.mean_heat_flux(0))
