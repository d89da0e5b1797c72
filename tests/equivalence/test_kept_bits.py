"""Regression test: small flows must reproduce the recorded hashes of tests/data/bits.json exactly.

If numbers are meant to change, ``python -m reference.menu``, run in the folder of the tests, records new hashes; the
change says why.
"""

from __future__ import annotations

import json

import pytest
from reference.menu import RECORD, digest, menu

FLOWS = menu()


@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
@pytest.mark.parametrize("name", FLOWS)
def test_bits_are_those_on_record(name: str, device: str) -> None:
    assert digest(FLOWS[name](device=device)) == json.loads(RECORD.read_text())[name]


def test_every_flow_is_on_record() -> None:
    assert sorted(json.loads(RECORD.read_text())) == sorted(FLOWS)
