"""Modules that are imported when they are first needed, without searches for garbage meanwhile."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType


def imported(name: str) -> ModuleType:
    """Return a module. What an import makes stays: searching it for garbage would be a fifth of the time."""
    if name in sys.modules or not gc.isenabled():
        return import_module(name)
    gc.disable()
    try:
        return import_module(name)
    finally:
        _count_as_old()
        gc.enable()


def _count_as_old() -> None:
    """Put all objects among those that are rarely searched, where they would come anyway after two searches.

    What somebody has frozen stays frozen: then nothing is done.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
