"""Random work: the same for the same seed, who is compared with whom, what is said of the losses."""

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import anywhere, families, random_pca
from benchmarks.anywhere import Family, Outcome, Workload, distribution, outcome_of
from benchmarks.random_boosting import draw_workload


def toy_family() -> Family:
    """Return work whose answer is its own quality."""
    answers = {"eigenwood": 0.9, "as good": 0.899, "worse": 0.5}
    contenders = {name: lambda threads, answer=answer: lambda arrays: answer for name, answer in answers.items()}
    return Family(
        draw=lambda rng: Workload(f"{rng.integers(1000)} rows", {}, contenders),
        quality=lambda arrays, answer: answer,
        tolerance=0.005,
    )


def test_a_workload_follows_from_its_seed():
    one, other, third = (draw_workload(np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert one.words == other.words != third.words
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])
    assert "eigenwood" in one.contenders


def test_only_rivals_as_good_as_ours_are_compared():
    outcome = Outcome(1, "", {"eigenwood": 2.0, "quick and bad": 1.0, "slow": 3.0}, {
        "eigenwood": 0.9, "quick and bad": 0.8, "slow": 0.899,
    })  # fmt: skip
    assert outcome.ratio(0.005) == 1.5
    assert outcome.ratio(0.2) == 0.5


def test_the_distribution_names_the_losses():
    seconds = [1.0, 2.0, 0.5, 3.0]
    outcomes = [
        Outcome(i, "", {"eigenwood": 1.0, "other": s}, {"eigenwood": 1, "other": 1}) for i, s in enumerate(seconds)
    ]
    text = distribution(outcomes, 0.0)
    assert "worst 0.50" in text
    assert "lost 1: seeds 2 (0.50)" in text


def test_the_distribution_names_answers_worse_than_a_rival_s():
    outcomes = [Outcome(i, "", {"eigenwood": 1.0, "other": 2.0}, {"eigenwood": 0.9, "other": 0.89 + i}) for i in (0, 4)]
    assert "better by more than 0.005 on 1: seeds 4" in distribution(outcomes, 0.005)


def test_outcomes_of_short_runs_add_up(tmp_path):
    file = tmp_path / "toy.json"
    for seed in (1, 2, 2):
        anywhere.store(file, [*anywhere.stored_outcomes(file), outcome_of(toy_family(), seed, threads=1)], threads=1)
    assert [outcome.seed for outcome in anywhere.stored_outcomes(file)] == [1, 2]
    assert anywhere.stored_outcomes(file)[0].quality["worse"] == 0.5


@pytest.mark.parametrize("name", list(random_pca.SPECTRA))
def test_each_spectrum_has_its_shape(name):
    rows = random_pca.SPECTRA[name](np.random.default_rng(0), 60, 40)
    assert rows.shape == (60, 40)
    assert np.isfinite(rows).all()
    assert rows.std() > 0.0


def test_everybody_has_a_turn():
    outcome = outcome_of(toy_family(), 3, threads=1)
    assert set(outcome.seconds) == set(outcome.quality) == {"eigenwood", "as good", "worse"}
    assert outcome.quality["worse"] == 0.5


@pytest.mark.parametrize(("name", "status"), [("toy", 0), ("tory", 2)])
def test_the_command(monkeypatch, name, status):
    monkeypatch.setattr(families, "FAMILIES", {"toy": toy_family()})
    answer = CliRunner().invoke(anywhere.app, ["--family", name, "--count", "2", "--seed", "7"])
    assert answer.exit_code == status
    if status:
        assert "--family must be one of toy; got tory." in answer.output
    else:
        assert "seed 8" in answer.output
        assert "over 2 workloads" in answer.output
