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
    key, room = ffi.new("mfpg_config_key *"), ffi.new("char[512]")
    while lib.mfpg_config_key_get(len(found), key):
        path, allowed = text(key.path), text(lib.mfpg_config_key_allowed(len(found), room, 512))
        found[path] = Key(path, words(key.default_value), allowed, text(key.unit), text(key.used), text(key.help))
    return found
