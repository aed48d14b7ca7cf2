"""What the words of ``learn`` ask for: settings, and a folder that is checked before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eigenwood.cli.choices import kinds_of, learn_folder, settings_of
from eigenwood.errors import InputError
from eigenwood.runs.files import JOURNAL_FOLDER, RUN_FILE

WORDS = {
    "models": "svm, random-forest", "drop": None, "use": "id", "metric": None, "group": "clinic", "order": None,
    "weights": None, "seed": 3, "strict": True, "kinds": ["year=number"], "test": 0.2, "time": "2m",
}  # fmt: skip


def test_settings_say_what_the_words_say():
    settings = settings_of(WORDS)
    assert settings.models == ("svm", "random-forest")
    assert (settings.drop, settings.use, settings.group) == ((), ("id",), "clinic")
    assert (settings.time_limit, settings.test_fraction, settings.seed, settings.strict) == (120.0, 0.2, 3, True)
    assert settings.kinds == {"year": "number"}


@pytest.mark.parametrize("word", ["year", "=number"])
def test_a_kind_needs_a_column(word):
    with pytest.raises(InputError, match=r"^--kind must be COLUMN=KIND, as year=number; got "):
        kinds_of([word])


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_second_run_gets_a_folder_of_its_own(place):
    assert str(learn_folder(None, "heart", resume=False, force=False)) == "eigenwood-heart"
    (place / "eigenwood-heart").mkdir()
    assert str(learn_folder(None, "heart", resume=False, force=False)) == "eigenwood-heart-2"
    assert str(learn_folder(None, "heart", resume=False, force=True)) == "eigenwood-heart"
    assert str(learn_folder(None, "heart", resume=True, force=False)) == "eigenwood-heart"


def test_a_finished_run_is_overwritten_only_if_that_was_asked(place):
    folder = place / "run"
    folder.mkdir()
    (folder / RUN_FILE).write_text("{}")
    with pytest.raises(InputError, match="--out must be a folder without a finished run, or --force be given; got one"):
        learn_folder(folder, "heart", resume=False, force=False)
    with pytest.raises(InputError, match="got --resume of a run that is finished"):
        learn_folder(folder, "heart", resume=True, force=False)
    assert learn_folder(folder, "heart", resume=False, force=True) == folder


def test_an_unfinished_run_goes_on_or_begins_anew(place):
    folder = place / "run"
    (folder / JOURNAL_FOLDER).mkdir(parents=True)
    with pytest.raises(InputError, match="needs --resume to go on or --force to begin anew; got neither"):
        learn_folder(folder, "heart", resume=False, force=False)
    assert learn_folder(folder, "heart", resume=True, force=False) == folder
    (folder / RUN_FILE).write_text("{}")  # killed after the record was written, before the journal was removed
    assert learn_folder(folder, "heart", resume=True, force=False) == folder
    assert (folder / JOURNAL_FOLDER).exists()
    assert learn_folder(folder, "heart", resume=False, force=True) == folder
    assert not (folder / JOURNAL_FOLDER).exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(place):
    (place / "file").write_text("")
    with pytest.raises(InputError, match="--out must name a folder that can be written; got "):
        learn_folder(place / "file" / "run", "heart", resume=False, force=False)
    if Path("/proc/self").exists():
        with pytest.raises(InputError, match="got '/proc': No such file or directory"):
            learn_folder(Path("/proc/run"), "heart", resume=False, force=False)
    assert learn_folder(place / "new" / "run", "heart", resume=False, force=False) == place / "new" / "run"
    assert not (place / "new").exists()
    if os.geteuid():
        (place / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="--out must name a folder that can be written; got "):
            learn_folder(place / "closed" / "run", "heart", resume=False, force=False)
