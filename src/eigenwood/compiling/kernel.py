"""A kernel as other files see it: a function, and how it is to be compiled.

    Kernel          made where a file is imported        Numba is not imported for it
    .dispatcher     made when it is first called         by Python, or by a kernel that is being compiled

Who imports an estimator does not wait for Numba; who calls a kernel does, once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenwood.importing import imported

if TYPE_CHECKING:
    from eigenwood.compiling.dispatcher import KernelDispatcher

_LOCK = threading.RLock()
_INSTRUCTIONS: list[str] = []


class Kernel:
    """A compiled function; from Python it is called as any other."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.targetoptions = function, options

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    def __getattr__(self, name: str) -> Any:
        """Make the dispatcher when it is first asked for; Python finds it by itself from then on."""
        if name != "dispatcher":
            raise AttributeError(f"kernel {self.__name__} has no attribute {name!r}")
        with _LOCK:
            make = imported("eigenwood.compiling.dispatcher").KernelDispatcher
            return self.__dict__.setdefault(name, make(self.py_func, self.targetoptions))

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for where one kernel calls another."""
        return self.dispatcher._numba_type_

    def is_ready(self) -> bool:
        """Return whether Python or another kernel has called it."""
        return "dispatcher" in self.__dict__

    if TYPE_CHECKING:
        dispatcher: KernelDispatcher


def instructions_in(module: str) -> None:
    """Name a module that puts machine instructions in place of plain functions; it is imported to compile only."""
    _INSTRUCTIONS.append(module)


def import_instructions() -> None:
    """Import what was named so far: whatever a kernel of an imported file can need."""
    with _LOCK:
        while _INSTRUCTIONS:
            import_module(_INSTRUCTIONS.pop())
