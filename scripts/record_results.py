#!/usr/bin/env python3
"""Prints the SHA-256 of what seeded runs write: models, ledgers and tables of every example, the tables of the suites, and the numbers and the
words of one account, calibration, game and audit each. A change of the code that is to change no result is held against the record of
before:

    scripts/record_results.py >before.txt
    scripts/record_results.py --against before.txt

The last digits of the C library's exp and log depend on the machine, so that records of two machines may differ.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("MFPG_SHARED", ROOT.parent / "shared")) / "data"
FILES = ["model.npy", "ledger", "clients.csv", "rounds.csv"]

EXAMPLES = {
    "choices": [],
    "clinics": [],
    "counterexample": [],
    "districts": [f"data.dir={DATA / 'multilevel'}"],
    "hospitals": [f"data.dir={DATA / 'heart'}"],
    "images": [],
}
SUITES = ["bench", "--suite", "paper,frontier,figures", "--seeds", "1"]
ANSWERS = {
    "account": ["account", "--noise-multiplier", "1.1", "--sampling-rate", "0.01", "--steps", "1000", "--delta", "1e-5"],
    "account of a ledger": ["account", "--ledger", "hospitals"],
    "calibrate": ["calibrate", "--epsilon", "2", "--sampling-rate", "0.01", "--steps", "1000", "--delta", "1e-5"],
    "solve": ["solve", "clinics"],
    "audit": ["audit", "counterexample", "--runs", "200", "--seed", "1"],
}


def run(program, arguments, folder):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"record-results: mfpg {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def digest(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def leaves(value, path=""):
    """(path, leaf) of a JSON value, in its order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, f"{path}[]")
    else:
        yield path, value


def record_answer(name, text):
    found = list(leaves(json.loads(text)))
    words = [f"{path} {leaf}" for path, leaf in found if isinstance(leaf, str)]
    numbers = [f"{path} {leaf!r}" for path, leaf in found if not isinstance(leaf, str)]
    yield digest("\n".join(numbers)), f"{name}: numbers"
    yield digest("\n".join(words)), f"{name}: words"


def records(program, folder):
    for name, options in EXAMPLES.items():
        where = next((option.partition("=")[2] for option in options), None)
        if where and not pathlib.Path(where).is_dir():
            print(f"record-results: {name} left out: there is no {where}", file=sys.stderr)
            continue
        run(program, ["run", str(ROOT / "examples" / f"{name}.yaml"), *options, "--out", name], folder)
        for file in FILES:
            yield digest((folder / name / file).read_bytes()), f"{name}/{file}"
    run(program, [*SUITES, "--out", "suites"], folder)
    for table in sorted((folder / "suites").glob("*.csv")):
        yield digest(table.read_bytes()), f"suites/{table.name}"
    for name, arguments in ANSWERS.items():
        if name == "account of a ledger" and not (folder / "hospitals").is_dir():
            continue
        yield from record_answer(name, run(program, [*arguments, "--json"], folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/mfpg"))
    parser.add_argument("--against", type=pathlib.Path, help="a record to compare with: prints what differs and fails")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"{sha}  {name}" for sha, name in records(os.path.abspath(options.program), pathlib.Path(folder))]
    if not options.against:
        print("\n".join(lines))
        return
    before = options.against.read_text().splitlines()
    changed = sorted({line.split("  ", 1)[1] for line in set(before) ^ set(lines)})
    for name in changed:
        print(f"changed: {name}")
    print(f"record-results: {len(lines)} results, {len(changed)} changed")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
