"""The program mfpg that came with the package: what the command `mfpg` and `python -m mfpg` run."""

import os
import pathlib
import sys


def main() -> None:
    """Becomes the program, with the package's examples where no others are named: exit code and signals are its own."""
    package = pathlib.Path(__file__).parent
    os.environ.setdefault("MFPG_EXAMPLES", str(package / "examples"))
    program = package / "bin" / "mfpg"
    try:
        os.execv(program, ["mfpg", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"mfpg: {program}: {error.strerror}; pip install --force-reinstall mfpg")


if __name__ == "__main__":
    main()
