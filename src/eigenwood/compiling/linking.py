"""From a store's object to a function that Python can call: what Numba does after it has compiled, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from types import FunctionType
from typing import Any

from llvmlite import binding as llvm
from numba import _dynfunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from eigenwood.compiling.signatures import constant_of
from eigenwood.compiling.store import Entry


@global_compiler_lock
def linked(function: FunctionType, entry: Entry, object_code: bytes) -> Callable[..., Any] | None:
    """Return the entry as a function, or None if this process lacks a symbol that it needs."""
    context = cpu_target.target_context
    rtsys.initialize(context)  # defines what counts references
    codegen = context.codegen()
    if missing_symbols(codegen, entry.needs):
        return None
    library = codegen.create_library(entry.symbol)
    library.enable_object_caching()
    library._set_compiled_object(object_code)  # LLVM asks for it in place of compiling the library, which is empty
    library._finalize_final_module()
    codegen._engine._defined_symbols.add(entry.symbol)
    environment = Environment(function.__globals__)
    environment.env_name = entry.environment
    environment.consts.extend(map(constant_of, entry.constants))
    codegen.set_env(entry.environment, environment)
    address = library.get_pointer_to_function(entry.symbol)
    module = import_module(function.__module__)
    return _dynfunc.make_function(module, function.__name__, function.__doc__, address, environment, (library,))


def missing_symbols(codegen: Any, needed: Iterable[str]) -> list[str]:
    """Return the symbols that neither this process nor Numba's runtime defines."""
    engine = codegen._engine
    return [name for name in needed if not engine.is_symbol_defined(name) and llvm.address_of_symbol(name) is None]
