#!/usr/bin/env python3
"""Changes the code in random small ways, one at a time, and counts which changes the tests find.

    mutate.py [--count N] [--seed N] [--tree FOLDER] [--clone FOLDER] [FOLDER-OF-SRC ...]

Works in a clone of the committed tree, never in the tree itself. A mutant changes one comparison, sign, constant or operand of a
core file; what compiles to the same object is none. It is killed by the first test that fails or takes ten times as long as it
should. Only the tests that run its line are asked, those of the file's own folder first. Prints a line a mutant and every survivor
as a diff: a survivor is a gap in the tests, or equal to the original. Another run goes on where the last was interrupted, and asks
survivors again if the tests have changed."""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

CORE = ["accountants", "audit", "federation", "games", "mechanisms", "models", "numerics", "optimisers"]
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
KINDS = {
    "comparison": [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == ")],
    "sign": [(r" \+ ", " - "), (r" - ", " + "), (r"(?<=[=(,] )-(?=[\w(])", ""), (r" \+= ", " -= "), (r" -= ", " += ")],
    "constant": [(r"(?<![\w.])0\.5(?![\w.])", "0.25"), (r"(?<![\w.])1\.0(?![\w.])", "2.0"), (r"(?<![\w.])2\.0(?![\w.])", "1.0"),
                 (r"(?<![\w.\[])1(?![\w.])", "2"), (r"(?<![\w.])2(?![\w.])", "3"), (r"(?<![\w.\[])0(?![\w.])", "1")],
    "operand": [(r" \* (?=[\w(])", " / "), (r" / (?=[\w(])", " * "), (r" && ", " || "), (r" \|\| ", " && "), (r"\bfmin\(", "fmax("),
                (r"\bfmax\(", "fmin("), (r"(?<=[(,&|] )!(?=[\w(])|(?<=\()!(?=[\w(])", "")],
}
PASSED = (0, 77)  # 77: the reference data are absent


def candidates(text):
    """Every place of a file's code that a mutant can change: (kind, start, end, replacement)."""
    code = QUIET.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), text)
    for kind, changes in KINDS.items():
        for pattern, replacement in changes:
            for match in re.finditer(pattern, code):
                line = code[code.rfind("\n", 0, match.start()) + 1:]
                if not line.startswith("static_assert"):
                    yield kind, match.start(), match.end(), replacement


def run(command, folder, seconds=None):
    """Status and output of a command; what takes longer is ended with all that it has started, and has the status None."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""


def build(tree, kind, *targets):
    return run(["cmake", "--build", f"build/{kind}", *(["--target", *targets] if targets else [])], tree)[0] == 0


def tests_of(tree, kind):
    """Name to (command, folder) of every test."""
    listed = json.loads(run(["ctest", "--test-dir", f"build/{kind}", "--show-only=json-v1"], tree)[1])["tests"]
    folder = tree / "build" / kind / "tests"
    return {t["name"]: (t["command"], folder) for t in listed}


def target_of(tree, command):
    """What has to be built for a test: its own program, or that of the project if another runs it."""
    return pathlib.Path(command[0]).name if command[0].startswith(f"{tree}/") else "mfpg_cli"


def mutants(tree, seed, folders):
    """Mutants without end, as (file, kind, start, end, replacement)."""
    files = sorted(p for name in folders for p in (tree / "src" / name).rglob("*.c"))
    choice = random.Random(seed)
    while True:
        file = choice.choice(files)
        kind = choice.choice(list(KINDS))
        places = [c for c in candidates(file.read_text(encoding="utf-8")) if c[0] == kind]
        if places:
            yield str(file.relative_to(tree)), *choice.choice(places)


@contextlib.contextmanager
def changed(tree, mutant):
    file, _, start, end, replacement = mutant
    text = (tree / file).read_text(encoding="utf-8")
    (tree / file).write_text(text[:start] + replacement + text[end:], encoding="utf-8")
    try:
        yield
    finally:
        (tree / file).write_text(text, encoding="utf-8")


def draw(tree, count, seed, folders):
    """The first mutants that can be compiled, and to another object than the original."""
    drawn, same = [], 0
    for mutant in mutants(tree, seed, folders):
        made = f"CMakeFiles/mfpg_objects.dir/{mutant[0]}.o"
        build(tree, "release", made)
        original = (tree / "build/release" / made).read_bytes()
        with changed(tree, mutant):
            compiled = build(tree, "release", made)
            differs = compiled and (tree / "build/release" / made).read_bytes() != original
        same += compiled and not differs
        if differs and mutant not in drawn:
            drawn.append(mutant)
        if len(drawn) == count:
            return {"drawn": drawn, "same": same, "reach": {}, "found": {}}


def line_of(tree, mutant):
    return (tree / mutant[0]).read_text(encoding="utf-8").count("\n", 0, mutant[2]) + 1


def reached(tree, drawn):
    """The numbers of the mutants whose line has been run since the counters were deleted, by what gcov says."""
    objects = {m[0]: tree / "build/coverage/CMakeFiles/mfpg_objects.dir" / (m[0] + ".gcda") for m in drawn}
    present = [str(p) for p in objects.values() if p.exists()]
    command = ["gcov", "--json-format", "--stdout", *present] if present else ["true"]
    told = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if told.stderr:  # counters of a process that was ended while it wrote them: nothing is known
        return [*range(len(drawn))]
    counts, spans = {}, {}
    for report in filter(None, told.stdout.splitlines()):
        read = json.loads(report)
        for file in read["files"]:
            name = os.path.relpath(os.path.join(read["current_working_directory"], file["file"]), tree)
            spans[name] = [(f["start_line"], f["end_line"]) for f in file["functions"]]
            for line in file["lines"]:
                of_file = counts.setdefault(name, {})  # a line counts once for every instruction set of its function
                of_file[line["line_number"]] = max(of_file.get(line["line_number"], 0), line["count"])
    numbers = []
    for number, mutant in enumerate(drawn):
        line, of_file = line_of(tree, mutant), counts.get(mutant[0], {})
        begin = max((n for n in of_file if n <= line), default=0)  # a statement of several lines
        inside = any(a <= line <= b for a, b in spans.get(mutant[0], []))
        if of_file and (not inside or of_file[begin]):
            numbers.append(number)
    return numbers


def measure(tree, state, save):
    """Finds for every test which mutants it runs, and its time, in a build that counts lines."""
    flags = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -fno-inline --coverage"]
    run(["cmake", "-G", "Ninja", "-B", "build/coverage", "--log-level=NOTICE", *flags], tree)
    if not build(tree, "coverage"):
        sys.exit("mutate: the tree cannot be compiled with counters")
    for name, (command, folder) in tests_of(tree, "coverage").items():
        source = tree / "tests" / (name.replace(".", "/test_", 1) + ".c")
        version = hashlib.sha256(source.read_bytes()).hexdigest() if source.exists() else ""
        if state["reach"].get(name, {}).get("version") == version:
            continue
        for counters in (tree / "build/coverage").rglob("*.gcda"):
            counters.unlink()
        begin = time.monotonic()
        status, _ = run(command, folder)
        if status not in PASSED:
            print(f"mutate: {name} fails with counters; it is run for every mutant", flush=True)
        state["reach"][name] = {"version": version, "seconds": time.monotonic() - begin,
                                "numbers": reached(tree, state["drawn"]) if status in PASSED else [*range(len(state["drawn"]))]}
        save()


def first_failure(tree, state, number, passed):
    """The first test that fails, or takes ten times its time and two minutes; "" if none does. Only tests that run the line can fail, and those
    that have passed do not again as long as they are the same."""
    folder = state["drawn"][number][0].split("/")[1]
    reach = {n: r["seconds"] for n, r in state["reach"].items() if number in r["numbers"] and passed.get(n) != r["version"]}
    tests = tests_of(tree, "release")
    names_of_all = sorted((n for n in reach if n in tests), key=lambda n: (not n.startswith(f"{folder}."), reach[n]))
    for at in range(0, len(names_of_all), 8):
        names = names_of_all[at:at + 8]
        if not build(tree, "release", *{target_of(tree, tests[n][0]) for n in names}):
            sys.exit(f"mutate: {' '.join(names)} cannot be linked")
        for name in names:
            status, _ = run(*tests[name], 10 * reach[name] + 120)
            if status not in PASSED:
                return name if status is not None else f"{name} (time)"
            passed[name] = state["reach"][name]["version"]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--clone", type=pathlib.Path, help="default: build/mutants in the tree")
    parser.add_argument("folders", nargs="*", default=CORE)
    arguments = parser.parse_args()
    tree = (arguments.clone or arguments.tree / "build/mutants").resolve()
    if not tree.exists():
        subprocess.run(["git", "clone", "--quiet", arguments.tree, tree], check=True)
    for command in (["checkout", "--quiet", "."], ["pull", "--quiet", "--ff-only"]):  # an interrupted run may have left a mutant
        subprocess.run(["git", *command], cwd=tree, check=True)
    subprocess.run(["cmake", "--preset", "release", "--log-level=NOTICE"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    code = run(["git", "rev-parse", "HEAD:src", "HEAD:include"], tree)[1]
    asked = [code, arguments.count, arguments.seed, arguments.folders]
    store = tree / "build/mutants.json"
    state = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}

    def save():
        store.write_text(json.dumps(state), encoding="utf-8")

    if state.get("asked") != asked:
        state = {"asked": asked, **draw(tree, *asked[1:])}
        save()
    drawn, found = state["drawn"], state["found"]
    print(f"mutate: {len(drawn)} mutants, seed {arguments.seed}; {state['same']} more were the same to the compiler", flush=True)
    measure(tree, state, save)
    for number, mutant in enumerate(drawn):
        known = found.setdefault(str(number), {"by": "", "passed": {}})
        if not known["by"]:
            with changed(tree, mutant):
                known["by"] = first_failure(tree, state, number, known["passed"])
                known["diff"] = run(["git", "diff", "-U2"], tree)[1]
            save()
        print(f"{number + 1}: {mutant[0]}:{line_of(tree, mutant)} {mutant[1]}: {known['by'] or 'SURVIVED'}", flush=True)
    survivors = [f["diff"] for f in found.values() if f["by"] == ""]
    print(*survivors, f"mutate: {len(drawn) - len(survivors)} of {len(drawn)} killed", sep="\n")


if __name__ == "__main__":
    sys.exit(main())
