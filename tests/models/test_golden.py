"""Model files of every version load for ever, and say what they said when they were written."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eigenwood
from eigenwood.estimators import registry
from tests.models.make_golden import GOLDEN, as_json, from_json
from tests.models.samples import outputs, parts_of, rows

FILES = sorted(GOLDEN.glob("*.safetensors"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_says_what_it_said(path):
    told = json.loads(path.with_suffix(".json").read_text())
    got = outputs(eigenwood.load(path), from_json(told["queries"]))
    assert got.keys() == told["expected"].keys()
    near = 1e-6 if told["queries"].get("dtype") == "float32" else 1e-12
    for method, expected in told["expected"].items():
        if method == "predict" and got[method].dtype.kind != "f":  # amounts are near, as scores are
            assert got[method].tolist() == expected
        elif got[method].dtype == object:  # numbers, words and holes
            pairs = zip(got[method].flat, np.array(expected, dtype=object).flat, strict=True)
            assert all(value == near_to(wanted) for value, wanted in pairs)
        else:
            np.testing.assert_allclose(got[method], expected, rtol=near, atol=near)


def near_to(wanted):
    return pytest.approx(wanted, rel=1e-6, abs=1e-12) if isinstance(wanted, float) else wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_keeps_its_certificate(path):
    for part in parts_of(eigenwood.load(path)):
        if "certificate_" in part.FITTED:
            assert part.certificate_.holds is not False


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_every_registered_estimator_has_a_golden_file(entry):
    kept = {type(part) for path in FILES for part in parts_of(eigenwood.load(path))}
    assert entry.estimator in kept


def test_every_golden_file_has_its_queries():
    assert {path.stem for path in FILES} == {path.stem for path in GOLDEN.glob("*.json")}
    assert sum(path.stat().st_size for path in GOLDEN.iterdir()) < 15_000 * len(FILES)


def test_queries_survive_json():
    np.testing.assert_array_equal(from_json(json.loads(json.dumps(as_json(rows())))), rows())
