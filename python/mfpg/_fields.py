"""The records of the library as rows of Python, by its tables of fields (mfpg/fields.h)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._call import text
from mfpg._interface import ffi, lib

KINDS: dict[int, tuple[str, Any]] = {  # C type, and that of a column; the width of texts is that of the longest
    lib.MFPG_FIELD_NUMBER: ("double", float), lib.MFPG_FIELD_MAGNITUDE: ("double", float),
    lib.MFPG_FIELD_COUNT: ("int64_t", np.int64), lib.MFPG_FIELD_INDEX: ("int64_t", np.int64),
    lib.MFPG_FIELD_TRUTH: ("int", bool), lib.MFPG_FIELD_TEXT: ("char *", str)}


class Fields:
    """The fields of a record that share a bit of places."""

    def __init__(self, fields: Any, places: int = lib.MFPG_FIELD_PYTHON) -> None:
        self.fields = [field for field in fields.field[0:fields.count] if field.places & places]
        self.names = [text(field.name) for field in self.fields]

    def row(self, record: Any) -> tuple[Any, ...]:
        """The values of a record, a pointer."""
        return tuple(self.value(field, ffi.cast("char *", record) + field.offset) for field in self.fields)

    @staticmethod
    def value(field: Any, place: Any) -> Any:
        c_type, column = KINDS[field.kind]
        value = ffi.cast(c_type + " *", place)[0]
        return text(value) if column is str else bool(value) if column is bool else value


def as_table(records: list[Fields], rows: list[tuple[Any, ...]]) -> npt.NDArray[Any]:
    """A structured array; a row has the values of all records, one behind the other."""
    columns = [(name, KINDS[field.kind][1]) for record in records for name, field in zip(record.names, record.fields, strict=True)]
    widths = [max((len(row[i]) for row in rows), default=1) if kind is str else 0 for i, (_, kind) in enumerate(columns)]
    return np.array(rows, dtype=[(name, f"U{max(1, width)}" if kind is str else kind)
                                 for (name, kind), width in zip(columns, widths, strict=True)])
