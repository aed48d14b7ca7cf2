"""Claims and certificates: when they hold, and how they show themselves."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from eigenwood import Certificate, Claim
from eigenwood.proofs.claim import agreement_claim, at_least, at_most, measured, not_claimed

NAN = float("nan")


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (at_most("a", "s", 1, 2), True),
        (at_most("a", "s", 2, 2), True),
        (at_most("a", "s", 3, 2), False),
        (at_most("a", "s", NAN, 2), False),
        (at_most("a", "s", 1, NAN), False),
        (at_most("a", "s", 1, float("inf")), True),
        (at_least("a", "s", 3, 2), True),
        (at_least("a", "s", 2, 2), True),
        (at_least("a", "s", 1, 2), False),
        (at_least("a", "s", NAN, 2), False),
        (measured("a", "s", -5), True),
        (measured("a", "s", NAN), False),
        (not_claimed("a", "s", 1), None),
    ],
)
def test_when_a_claim_holds(claim, holds):
    assert claim.holds is holds


def test_numbers_become_plain_floats():
    claim = at_most("a", "s", np.float32(1), np.int64(2))
    assert type(claim.value) is float
    assert type(claim.bound) is float
    assert type(claim.holds) is bool


def test_a_claim_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        measured("a", "s", 1.0).value = 2.0


def certificate():
    return Certificate((at_most("first", "x ≤ y", 1, 2), measured("second", "z", 3.5)))


def test_a_certificate_holds_when_all_its_claims_do():
    assert certificate().holds
    assert not Certificate((*certificate().claims, at_most("bad", "no", 2, 1))).holds
    assert not Certificate((measured("nan", "no", NAN),)).holds
    assert Certificate(()).holds is None
    assert Certificate((measured("z", "only measured", 1.0),)).holds is None
    assert Certificate((*certificate().claims, not_claimed("late", "stopped early", 1.0))).holds is None
    assert Certificate((at_most("bad", "no", 2, 1), not_claimed("late", "stopped early", 1.0))).holds is False


def test_claims_are_found_by_name_and_in_order():
    assert certificate()["second"].value == 3.5
    assert [claim.name for claim in certificate()] == ["first", "second"]
    assert len(certificate()) == 2
    with pytest.raises(KeyError, match="third"):
        certificate()["third"]


def test_there_and_back_through_json():
    content = json.loads(json.dumps(certificate().as_dict()))
    assert content["holds"] is True
    assert content["claims"][0] == {"name": "first", "statement": "x ≤ y", "value": 1.0, "bound": 2.0, "holds": True}
    assert content["claims"][1]["bound"] is None
    assert Certificate.from_dict(content) == certificate()


def test_what_is_read_back_may_not_call_itself_true():
    content = Certificate((at_most("bad", "no", 2, 1),)).as_dict()
    content["holds"] = True
    assert not Certificate.from_dict(content).holds


def test_the_table_shows_every_claim():
    text = str(certificate())
    assert "certificate: all claims hold" in text
    for word in ("first", "x ≤ y", "second", "3.5", "yes"):
        assert word in text
    bad = str(Certificate((at_most("bad", "no", 2, 1),)))
    assert "certificate: NOT all claims hold" in bad
    assert "NO" in bad


@pytest.mark.parametrize("label", ["setosa", "/b", "red", "link=x", "0"])
def test_a_class_name_in_brackets_is_text_not_markup(label):
    text = str(Certificate((measured(f"mistakes [{label}]", f"[{label}] against the rest", 1.0),)))
    assert f"mistakes [{label}]" in text
    assert f"[{label}] against the rest" in text


def test_html_is_escaped():
    html = Certificate((Claim("<script>alert(1)</script>", "a < b & c", 1.0, None, True),))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &lt; b &amp; c" in html
    assert html.count("<tr>") == 2


@pytest.mark.parametrize(
    ("stated", "again", "holds"),
    [
        (at_most("a", "s", 1, 2), at_most("a", "s", 1.5, 2), True),
        (at_most("a", "s", 1, 2), at_most("a", "s", 3, 2), False),
        (Claim("a", "s", 3.0, 2.0, True), at_most("a", "s", 1, 2), False),
        (Claim("a", "s", 1.0, 2.0, True), at_least("a", "s", 3, 2), False),
        (measured("a", "s", 1.0), measured("a", "s", 1.0 + 1e-6), True),
        (measured("a", "s", 1.0), measured("a", "s", 2.0), False),
        (measured("a", "s", 1.0), at_most("a", "s", 1.0, 2), True),
        (at_most("a", "s", 1, 2), measured("a", "s", 1.0), False),
        (at_most("a", "s", 1, 2), not_claimed("a", "s", 1.0), True),
        (not_claimed("a", "s", 1.0), at_most("a", "s", 1, 2), False),
        (at_most("older", "s", 1, 2), at_most("a", "s", 1, 2), None),
    ],
)
def test_a_certificate_must_be_found_again(stated, again, holds):
    assert agreement_claim(Certificate((stated,)), Certificate((again,))).holds is holds
