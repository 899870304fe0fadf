"""How Python calls the library: contexts, statuses as exceptions, warnings, and Ctrl-C while C is at work."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from mfpg._interface import ffi, lib

P = ParamSpec("P")
R = TypeVar("R")


class Error(Exception):
    """Base of the errors that the library reports; its text says what, where, and what is allowed."""


class InputError(Error, ValueError):
    """A file, a configuration or an argument is wrong; nothing was changed."""


class DomainError(Error, ValueError):
    """A number lies outside its range."""


class AccessError(Error, OSError):
    """The system refused to read or write."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class NumericError(Error, ArithmeticError):
    """A computation left the range of its numbers, such as a model that diverged."""


class Interrupted(KeyboardInterrupt):
    """Stopped on request (Ctrl-C); what is complete has been written, and the text says how to go on."""


class MfpgWarning(UserWarning):
    """What the library warns of: possible, but probably not what was meant."""


ERRORS: dict[int, type[BaseException]] = {
    lib.MFPG_ERR_INPUT: InputError,
    lib.MFPG_ERR_DOMAIN: DomainError,
    lib.MFPG_ERR_IO: AccessError,
    lib.MFPG_ERR_MEMORY: OutOfMemoryError,
    lib.MFPG_ERR_NUMERIC: NumericError,
    lib.MFPG_ERR_INTERRUPTED: Interrupted,
}


OPTION = re.compile(r"`[^`]*`|--([a-z]+[a-z0-9]*(?:-[a-z0-9]+)*)")  # not within a command that is quoted


@contextlib.contextmanager
def keywords() -> Iterator[None]:
    """Messages name options as the command line does; here they name keywords."""
    try:
        yield
    except Error as error:
        raise type(error)(OPTION.sub(lambda found: found[1].replace("-", "_") if found[1] else found[0], str(error))) from None


def text(pointer: Any) -> str:
    """A text of the library; it must not be NULL."""
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def words(pointer: Any) -> str | None:
    """A text of the library, or None."""
    return text(pointer) if pointer else None


class Job:
    """One call of the package: the flag that stops it, and the warnings that it gave."""

    def __init__(self) -> None:
        self.stop = ffi.new("int *", 0)
        self.stoppable = False  # True once C looks at the flag
        self.warnings: list[str] = []


@ffi.def_extern(name="mfpg_python_warn")  # type: ignore[untyped-decorator]
def _warn(job: Any, line: Any) -> None:
    ffi.from_handle(job).warnings.append(text(line))


class Context:
    """A context of the library for the calls of one job. It serves one thread at a time."""

    def __init__(self, job: Job | None = None, threads: int | None = None) -> None:
        self._job = job or Job()
        self._handle = ffi.new_handle(self._job)
        options = ffi.new("mfpg_context_options *", lib.mfpg_context_options_default())
        options.threads = whole("threads", threads, 1, 1024) if threads is not None else 0
        options.warn = lib.mfpg_python_warn
        options.warn_user = self._handle
        out = ffi.new("mfpg_context **")
        status = lib.mfpg_context_create(options, out)
        if status != lib.MFPG_OK:
            raise ERRORS[status](text(lib.mfpg_status_text(status)))
        self.pointer = out[0]

    def check(self, status: int) -> None:
        """Raises the error of a status that is none of success."""
        if status != lib.MFPG_OK:
            message = text(lib.mfpg_context_message(self.pointer))
            raise ERRORS[status](message or text(lib.mfpg_status_text(status)))

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Frees it; closing twice is fine."""
        lib.mfpg_context_destroy(self.pointer)
        self.pointer = ffi.NULL

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.close()


def job(function: Callable[Concatenate[Job, P], R]) -> Callable[P, R]:
    """Makes a function of the package of one that takes a Job first.

    In the main thread the work is done by a thread of its own, because Python handles Ctrl-C in the main thread alone
    and only between calls into C. Work that looks at the job's flag ends there, with what it had to say; other
    work is left to end by itself, and its result is dropped.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        own = Job()
        try:
            if threading.current_thread() is not threading.main_thread():
                return function(own, *args, **kwargs)
            return _run_aside(own, functools.partial(function, own, *args, **kwargs))
        finally:
            for line in own.warnings:
                warnings.warn(line, MfpgWarning, stacklevel=2)

    signature = inspect.signature(function)
    del run.__wrapped__
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:])
    return run


def _run_aside(own: Job, work: Callable[[], R]) -> R:
    result: list[R] = []
    error: list[BaseException] = []
    done = threading.Event()  # Thread.join takes a thread for ended where Ctrl-C interrupts it (Python 3.11)

    def body() -> None:
        try:
            result.append(work())
        except BaseException as problem:  # it is raised again where the caller waits
            error.append(problem)
        finally:
            done.set()

    threading.Thread(target=body, name="mfpg", daemon=True).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        own.stop[0] = 1
        if not own.stoppable:
            raise
        done.wait()  # a second Ctrl-C does not wait
    if error:
        try:
            raise error[0]
        finally:
            error.clear()  # the traceback would hold this frame, and with it everything of the call
    return result[0]


# ---- values ----


def number(name: str, value: float, low: float, high: float = float("inf"), *, above: bool = False,
           below: bool = False) -> float:
    """The value as a finite float in [low, high]; above and below leave the ends out."""
    try:
        real = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}: found {value!r}; allowed: a number") from None
    inside = (real > low if above else real >= low) and (real < high if below else real <= high)
    if not inside or real in (float("inf"), float("-inf")):
        start = f"above {low:g}" if above else f"from {low:g}"
        end = "" if high == float("inf") else f" {'below' if below else 'up to'} {high:g}"
        raise InputError(f"{name}: found {real:g}; allowed: a finite number {start}{end}")
    return real


def whole(name: str, value: int, low: int, high: int) -> int:
    """The value as a whole number in [low, high]."""
    real = number(name, value, low, high)
    if real != int(real):
        raise InputError(f"{name}: found {real:g}; allowed: a whole number from {low} to {high}")
    return int(value)


def choice(ctx: Context, noun: str, word: str, names: list[str]) -> int:
    """The number of a word among names; any other is refused with the nearest."""
    if isinstance(word, str) and word in names:
        return names.index(word)
    keep = [ffi.new("char[]", name.encode()) for name in names]
    given = ffi.new("char[]", str(word).encode())
    ctx.check(lib.mfpg_names_unknown(ctx.pointer, noun.encode(), given, ffi.new("char *[]", keep), len(keep)))
    raise AssertionError("an unknown name is an error")


def listed(get: Callable[[int], Any]) -> list[str]:
    """The names of a list of the library, in order."""
    names: list[str] = []
    while pointer := get(len(names)):
        names.append(text(pointer))
    return names


def path_bytes(path: Any) -> bytes:
    """A path as the system writes it."""
    return os.fsencode(path)
