"""What the tests share: the command line that the package is compared with, and the reference data."""

import json
import math
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the command line and returns (exit code, JSON object or None, stderr)."""
    path = pathlib.Path(os.environ.get("MFPG_PROGRAM", ROOT / "build/release/mfpg"))
    if not path.exists():
        pytest.skip(f"no command line to compare with: {path} (make build)")

    def run(*arguments, **options):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)
        return done.returncode, json.loads(done.stdout) if done.returncode == 0 else None, done.stderr

    return run


@pytest.fixture(scope="session")
def shared():
    """The folder of reference data, or the test is skipped."""
    path = pathlib.Path(os.environ.get("MFPG_SHARED", ROOT / "../shared")).resolve()
    if not (path / "vectors").is_dir():
        pytest.skip(f"no reference data in {path}; MFPG_SHARED names their folder")
    return path


def as_json(value):
    """A number as the command line prints it: infinity is "inf", and what does not exist is null."""
    if isinstance(value, float):
        return None if math.isnan(value) else "inf" if value == math.inf else value
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    return value


def as_options(arguments):
    """The options of the command line that are the keywords of a call."""
    options = []
    for name, value in arguments.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            options.append(option)
        elif isinstance(value, (list, tuple)):
            options += [option, ",".join(map(str, value))]
        else:
            options += [option, str(value)]
    return options
