"""One line, and only when somebody has waited."""

from __future__ import annotations

import time

from eigenwood.compiling import notice


def test_short_work_is_silent(capsys):
    with notice._Clock().running():
        pass
    assert capsys.readouterr().err == ""


def test_long_work_is_told_once_while_it_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(notice, "PATIENCE", 0.01)
    clock = notice._Clock()
    for _ in range(3):
        with clock.running():
            time.sleep(0.1)
    assert capsys.readouterr().err.splitlines() == [notice.LINE]
    assert "happens once" in notice.LINE


def test_many_short_works_add_up(capsys, monkeypatch):
    monkeypatch.setattr(notice, "PATIENCE", 0.2)
    clock = notice._Clock()
    for _ in range(10):
        with clock.running():
            time.sleep(0.05)
    assert notice.LINE in capsys.readouterr().err


def test_where_nothing_can_be_kept_it_is_said(capsys, monkeypatch):
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    clock = notice._Clock()
    clock.is_kept = False
    clock.speak()
    assert capsys.readouterr().err.splitlines() == [notice.UNKEPT_LINE]
    assert "every run" in notice.UNKEPT_LINE
