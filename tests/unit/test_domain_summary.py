"""Tests of what a printed domain says."""

from __future__ import annotations

import numpy as np
import pytest

import lbmgpu as lbm

pytestmark = pytest.mark.filterwarnings("ignore:body:lbmgpu.GeometryWarning")


def test_a_printed_domain_lists_faces_bodies_and_sponges() -> None:
    domain = lbm.Domain((40, 20), "D2Q9")
    everywhere = ["Domain of 40 x 20 cells, D2Q9", "faces -x +x -y +y: Periodic()", "no bodies", "no sponges"]
    assert str(domain).splitlines() == everywhere
    domain.faces["-x"] = lbm.VelocityInlet((0.05, 0), scheme="regularized")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"] = lbm.Isothermal(1.0)
    domain.add_body(lbm.Sphere((10, 10), 4), "disc")
    domain.add_body(np.arange(800).reshape(40, 20) == 30, "cell")
    domain.add_body(lambda x, y: x > 39, "end")
    domain.add_body(lbm.Sphere((30, 10), 4), "swing", motion=lbm.Oscillation((1, 0), period=100))
    domain.add_sponge("-x", 8, 0.3, pull=0.01, velocity=(0.05, 0))
    text = str(domain)
    for line in (
        "faces -y +y: NoSlip()",
        "faces +x: Periodic()",
        "body 'disc': Sphere((10.0, 10.0), 4.0), NoSlip()",
        "body 'cell': a mask of 1 cell, NoSlip()",
        "body 'end': a function, NoSlip()",
        "sponge at -x: 8 cells, strength 0.3, pull 0.01",
        "thermal -x +x +y: Adiabatic()",
    ):
        assert line in text.splitlines()
    assert "faces -x: VelocityInlet(scheme='regularized'" in text
    assert "body 'swing': Sphere((30.0, 10.0), 4.0), NoSlip(), moves by Oscillation(" in text
    assert repr(domain) == "Domain((40, 20), 'D2Q9')"


def test_long_values_are_cut_and_faces_of_different_ones_not_put_together() -> None:
    domain = lbm.Domain((3, 4000), "D2Q9")
    for face, middle in (("-x", 0.1), ("+x", 0.15)):
        profile = np.zeros((2, 4000))
        profile[0, 2000] = middle
        domain.faces[face] = lbm.VelocityInlet(profile)
    lines = str(domain).splitlines()
    assert sum("VelocityInlet" in line for line in lines) == 2
    assert max(map(len, lines)) < 120
