"""A kernel has two faces.

    called from Python          an entry: one piece of machine code with all that it calls inside it
                                found in the store, else in Numba's cache on disk, else compiled (and kept there)
    called from a kernel        a part of that entry: only its LLVM code is written down, and linked in later

Numba itself optimises, emits and caches every function at every level of calls, and wraps each for Python, although
only entries ever run: that was more than half of the time of compiling.

``InnerLibrary`` and ``EntryLibrary`` lean on how Numba links libraries, which is not part of its public interface: the
tests of this folder say whether a new version of Numba still does it so.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

from numba import types
from numba.core import itanium_mangler
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher

from eigenwood.compiling.choice import chosen
from eigenwood.compiling.kernel import Kernel, import_instructions
from eigenwood.compiling.linking import linked
from eigenwood.compiling.lowering import KernelContext
from eigenwood.compiling.notice import CLOCK
from eigenwood.compiling.passes import KernelTyping, kernel_passes
from eigenwood.compiling.signatures import NoTextError, place_of, text_of
from eigenwood.compiling.stamp import file_stamp

Kinds = tuple[types.Type, ...]


class InnerLibrary(JITCodeLibrary):
    """LLVM code of a kernel that another one calls: never optimised as a module, never emitted."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True


class EntryLibrary(JITCodeLibrary):
    """LLVM code of an entry: all kernels below it are linked in, each once, and then it is optimised and emitted."""

    _linking_libraries: list[JITCodeLibrary]

    def finalize(self) -> None:
        self._linking_libraries = all_below(self._linking_libraries)
        super().finalize()


def all_below(libraries: Iterable[JITCodeLibrary]) -> list[JITCodeLibrary]:
    """Return the libraries and those that they need in turn, each after all that need it; Numba's own hold theirs.

    LLVM links in a function only if what is there already calls it.
    """
    found: dict[JITCodeLibrary, None] = {}  # callees first
    waiting = [(library, False) for library in libraries]
    while waiting:
        library, is_after_its_own = waiting.pop()
        if is_after_its_own:
            found.setdefault(library)
        elif library not in found:
            waiting.append((library, True))
            if isinstance(library, InnerLibrary):
                waiting.extend((needed, False) for needed in library._linking_libraries)
    return list(found)[::-1]


class KernelFlags(Flags):
    """Numba's flags, which it compares for every call inside a kernel, compared by what was set."""

    __slots__ = ()
    HASH = hash(Flags())

    def __hash__(self) -> int:
        return self.HASH

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Flags) and self._values == other._values)


class KernelCompiler(Compiler):
    """Numba's pipeline with a library of ours, and with short names."""

    library_class: type[JITCodeLibrary]

    def __init__(self, typing_context, target_context, library, args, return_type, flags, locals) -> None:
        flags.no_cfunc_wrapper = True
        flags = KernelFlags(flags)
        super().__init__(typing_context, target_context, library, args, return_type, flags, locals)
        self.state.typingctx = copy(typing_context)
        self.state.typingctx.__class__ = KernelTyping
        self.state.targetctx.__class__ = KernelContext  # it is a copy of Numba's, for this kernel alone
        self.state.targetctx.typing_context = self.state.typingctx
        self.state.targetctx.mangler = short_name

    def define_pipelines(self):
        return [kernel_passes(self.state)]

    def compile_extra(self, function):
        self.state.library = self.library_class(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class InnerCompiler(KernelCompiler):
    library_class = InnerLibrary

    def __init__(self, typing_context, target_context, library, args, return_type, flags, locals) -> None:
        flags.no_compile = flags.no_cpython_wrapper = True
        super().__init__(typing_context, target_context, library, args, return_type, flags, locals)


class EntryCompiler(KernelCompiler):
    library_class = EntryLibrary

    def compile_extra(self, function):
        with CLOCK.running():
            return super().compile_extra(function)


def short_name(name: str, args: Kinds, *, abi_tags: Sequence[str] = (), uid: int | None = None) -> str:
    """Return a symbol that is unique to a kernel, its types and its flags.

    Numba writes all types out, which for records of many arrays is thousands of letters, at every call.
    """
    whole = itanium_mangler.mangle(name, args, abi_tags=abi_tags)
    last = name.rpartition(".")[2]
    return itanium_mangler.mangle(f"{last}.{hashlib.sha256(whole.encode()).hexdigest()[:24]}", ())


class EntryCache(FunctionCache):
    """Numba's cache on disk, with a stamp over all files that a kernel is made of, not its own alone."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = file_stamp(function.__code__.co_filename)
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)


class EntryDispatcher(CPUDispatcher):
    """Compiles a kernel as Python calls it, or finds what was compiled before."""

    def __init__(self, kernel: Kernel | KernelDispatcher) -> None:
        super().__init__(kernel.py_func, targetoptions=dict(kernel.targetoptions), pipeline_class=EntryCompiler)

    def enable_caching(self) -> None:
        try:
            self._cache = EntryCache(self.py_func)
        except RuntimeError:  # there is no folder to write to: every process compiles for itself
            CLOCK.is_kept = False


def compile_entry(kernel: Kernel, kinds: Kinds) -> CompileResult:
    """Return what Numba makes of a kernel that Python calls with these types; nothing is read from or left on disk."""
    import_instructions()
    entries = EntryDispatcher(kernel)
    entries.compile(kinds)
    return entries.overloads[kinds]


class KernelDispatcher(CPUDispatcher):
    """A kernel that was called: its entries, and the parts of it that other kernels link in."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # Numba asks twice
        super().__init__(function, targetoptions=options, pipeline_class=InnerCompiler)
        self.entry_points: dict[Kinds, Callable[..., Any]] = {}
        self._entries: EntryDispatcher | None = None

    def add_overload(self, compiled) -> None:
        """Keep what other kernels link in; it has no machine code, so Python must not find it."""
        key = object()
        self.targetctx.insert_user_function(key, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled._replace(entry_point=key)

    def _compile_for_args(self, *args: Any, **named: Any) -> Callable[..., Any]:
        """Return the entry for these arguments: Numba calls this when it meets their types for the first time."""
        assert not named
        kinds = tuple(types.Omitted(a.value) if isinstance(a, OmittedArg) else self.typeof_pyval(a) for a in args)
        with global_compiler_lock:  # of two threads that come at once, one inserts: twice the same would be ambiguous
            if kinds not in self.entry_points:
                self.entry_points[kinds] = entry = self._shipped(kinds) or self._compiled(kinds)
                self._insert([kind._code for kind in kinds], entry, False)  # does not hold it; entry_points does
        return self.entry_points[kinds]

    def _shipped(self, kinds: Kinds) -> Callable[..., Any] | None:
        store = chosen().store
        if store is None:
            return None
        try:
            found = store.entry(place_of(self.py_func), text_of(kinds))
        except NoTextError:
            return None
        code = None if found is None else store.object_code(found)
        return None if found is None or code is None else linked(self.py_func, found, code)

    def _compiled(self, kinds: Kinds) -> Callable[..., Any]:
        self._compilation_chain_init_hook()
        import_instructions()
        if self._entries is None:
            self._entries = EntryDispatcher(self)
            self._entries.enable_caching()
        return self._entries.compile(kinds)
