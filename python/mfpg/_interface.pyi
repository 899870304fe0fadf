"""The extension module: cffi's view of the public headers."""

from typing import Any

ffi: Any
lib: Any
