"""Configurations: a file, a mapping or the name of an example, with values that override."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mfpg import _interface
from mfpg._call import Context, InputError, choice, path_bytes
from mfpg._interface import ffi, lib

EXAMPLES = pathlib.Path(_interface.__file__).parent / "examples"  # installed beside the extension module


def examples() -> list[str]:
    """The names of the built-in examples, which run, simulate and solve take in the place of a file."""
    return sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


class Config:
    """A configuration of the library, freed with the object."""

    def __init__(self, ctx: Context, make: Any, *arguments: Any) -> None:
        out = ffi.new("mfpg_config **")
        ctx.check(make(ctx.pointer, *arguments, out))
        self.pointer = ffi.gc(out[0], lib.mfpg_config_destroy)

    def override(self, ctx: Context, overrides: Mapping[str, Any]) -> None:
        for path, value in flat(overrides):
            ctx.check(lib.mfpg_config_set(ctx.pointer, self.pointer, f"{path}={as_argument(path, value)}".encode()))

    def text(self, path: str) -> str | None:
        found = lib.mfpg_config_text(self.pointer, path.encode())
        return bytes(ffi.string(found)).decode() if found else None


def open_config(ctx: Context, config: Any, overrides: Mapping[str, Any]) -> Config:
    """The configuration of a path, a mapping, or the name of an example."""
    if isinstance(config, Mapping):
        data = json.dumps(config, default=plain).encode()
        made = Config(ctx, lib.mfpg_config_load_text, data, len(data), b"the configuration", ffi.NULL)
    elif isinstance(config, (str, os.PathLike)):
        made = Config(ctx, lib.mfpg_config_load, path_bytes(find_file(ctx, config)))
    else:
        raise InputError(f"config: found {type(config).__name__}; allowed: a path, a mapping, or the name of an example")
    made.override(ctx, overrides)
    return made


def find_file(ctx: Context, config: str | os.PathLike[str]) -> pathlib.Path:
    """A file, or else the example of that name: of $MFPG_EXAMPLES, then one that came with the package."""
    path = pathlib.Path(config)
    if path.exists():
        return path
    for folder in (os.environ.get("MFPG_EXAMPLES"), EXAMPLES):
        example = pathlib.Path(folder or ".") / f"{config}.yaml"
        if folder and example.is_file():
            return example
    choice(ctx, "file or example", str(config), examples())
    raise AssertionError("an unknown name is an error")


def plain(value: Any) -> Any:
    """What JSON does not know: NumPy's numbers and arrays, paths."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise InputError(f"a value of a configuration: found {type(value).__name__}; allowed: numbers, texts, lists, mappings")


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted paths with their values: {"train": {"rounds": 3}} is train.rounds."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def as_argument(path: str, value: Any) -> str:
    """A value as an argument of the command line."""
    if value is None:
        raise InputError(f"{path}: found None; leave the key out, or give one of its words")
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and value[:1] not in ("[", "{", '"', "'") and "\n" not in value:
        return value
    return json.dumps(value, default=plain)
