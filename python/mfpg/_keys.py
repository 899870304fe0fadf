"""The one table of keys of a configuration."""

from __future__ import annotations

import dataclasses

from mfpg._call import text, words
from mfpg._interface import ffi, lib


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of the configuration."""

    path: str
    default: str | None
    """As YAML; None where nothing is set."""
    allowed: str
    """What it may be, in words."""
    unit: str
    used: str
    """When it counts, such as "with a game"; "" for always."""
    help: str


def keys() -> dict[str, Key]:
    """Every key of a configuration by its path, as ``mfpg run --keys`` prints them."""
    found: dict[str, Key] = {}
    options, room = lib.mfpg_config_options(), ffi.new("char[512]")
    for index in range(options.count):
        key = options.option[index]
        path, allowed = text(key.name), text(lib.mfpg_option_allowed(ffi.addressof(key), room, 512))
        found[path] = Key(path, words(key.default_value), allowed, text(key.unit), text(key.used), text(key.help))
    return found
