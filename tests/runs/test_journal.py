"""What an unfinished run leaves on disk, and what is read of it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from eigenwood.errors import InputError
from eigenwood.runs.candidates import Candidate
from eigenwood.runs.journal import JOURNAL, Journal
from eigenwood.runs.record import CUT, CandidateRecord
from eigenwood.runs.trials import Trial

CANDIDATE = Candidate("svm", {"C": 10.0}, front="pca")
RECORD = CandidateRecord("svm", {"C": 10.0, "front": "pca"}, 80, [0.1, 1 / 3], 0.21, 0.5, 1.25)


def trial(**changes):
    predictions = np.random.default_rng(0).random((7, 2))
    return Trial(CANDIDATE, RECORD, predictions, np.array([[1.0, 0.1]]), None)._replace(**changes)


def test_a_trial_comes_back_to_the_last_bit(tmp_path):
    made = trial()
    Journal(tmp_path / "journal", "digest").add(made, 80, 2, 3.5)
    again = Journal(tmp_path / "journal", "digest")
    found = again.known(CANDIDATE, 80, 2)
    assert found.record == made.record
    assert found.predictions.tobytes() == made.predictions.tobytes()
    assert found.calibration.tobytes() == made.calibration.tobytes()
    assert again.seconds == 3.5
    assert again.known(CANDIDATE, 40, 2) is None
    assert again.known(CANDIDATE._replace(front=""), 80, 2) is None


def test_a_trial_that_was_cut_is_known_as_cut(tmp_path):
    cut = trial(predictions=None, calibration=None, record=replace(RECORD, status=CUT))
    Journal(tmp_path / "journal", "digest").add(cut, 80, 2, 1.0)
    found = Journal(tmp_path / "journal", "digest").known(CANDIDATE, 80, 2)
    assert not found.is_ranked
    assert found.record.status == CUT


def test_a_line_that_was_cut_off_is_as_if_it_were_not_there(tmp_path):
    journal = Journal(tmp_path / "journal", "digest")
    journal.add(trial(), 80, 2, 1.0)
    journal.add(trial(), 40, 2, 2.0)
    file = tmp_path / "journal" / JOURNAL
    file.write_text(file.read_text()[:-9])
    again = Journal(tmp_path / "journal", "digest")
    assert again.known(CANDIDATE, 80, 2) is not None
    assert again.known(CANDIDATE, 40, 2) is None
    again.add(trial(), 40, 2, 3.0)
    assert [json.loads(line) for line in file.read_text().splitlines()][-1]["seconds"] == 3.0
    assert Journal(tmp_path / "journal", "digest").known(CANDIDATE, 40, 2) is not None


def test_predictions_that_are_gone_are_made_again(tmp_path):
    Journal(tmp_path / "journal", "digest").add(trial(), 80, 2, 1.0)
    next((tmp_path / "journal").glob("*.npz")).unlink()
    assert Journal(tmp_path / "journal", "digest").known(CANDIDATE, 80, 2) is None


def test_an_empty_journal_is_a_beginning(tmp_path):
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / JOURNAL).write_text("")
    journal = Journal(tmp_path / "journal", "digest")
    journal.add(trial(), 80, 2, 1.0)
    assert Journal(tmp_path / "journal", "digest").known(CANDIDATE, 80, 2) is not None


def test_another_table_or_other_settings_cannot_go_on(tmp_path):
    Journal(tmp_path / "run" / "journal", "digest")
    with pytest.raises(InputError, match=r"run: --resume must be given the table and the settings .*; got others\.$"):
        Journal(tmp_path / "run" / "journal", "another")


def test_without_a_folder_nothing_is_kept(tmp_path):
    journal = Journal(None, "digest")
    journal.add(trial(), 80, 2, 1.0)
    assert journal.known(CANDIDATE, 80, 2) is None
