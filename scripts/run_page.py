#!/usr/bin/env python3
"""Does what a page says: runs its commands in order, and compares what they print with what the page shows.

A page is Markdown whose fenced blocks say by their first word what they are:

    ```sh           commands of bash, which have to succeed; what one block sets, the next ones have
    ```text         what the script before it printed, on both streams; `text needs NAME...` if these programs are there
    ```python       an interpreter's session (>>> and what it answers), where this Python has the package

In a text or an answer `...` stands for whatever is there: within a line for part of it, alone for any number of lines.
`sh by hand` is left to the reader (installation, browsers, other machines), and `sh needs NAME...` is run where these
programs are. Other languages are shown and not run; a fence without a language is refused, so that no command is left out
by mistake. A page's scripts run in one shell in an empty folder, or with --copy in a copy of the tree, with the folder of
--program first in PATH, without colours, and with one thread where nothing else is said.

usage: scripts/run_page.py [--write] [--copy] [--program FILE] PAGE..."""
import argparse
import difflib
import doctest
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

TREE = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = {"c", "cmake", "json", "output", "toml", "yaml"}  # output: compared by check_numbers.py
TIMEOUT_S = 900


class Failure(Exception):
    """Something that the page says and that is not so."""


class Block:
    def __init__(self, match, text):
        self.words = match["info"].split()
        self.body, self.start, self.end = match["body"], match.start("body"), match.end("body")
        self.line = text.count("\n", 0, self.start) + 1

    @property
    def kind(self):
        return self.words[0] if self.words else ""

    def runs_here(self):
        """Whether the script is to be run, or the text to be compared; a program that it needs may be absent."""
        if self.words == ["sh", "by", "hand"]:
            return False
        if self.words[1:2] == ["needs"] and self.words[2:]:
            return all(shutil.which(name) for name in self.words[2:])
        if self.words[1:]:
            raise Failure(f"line {self.line}: '{' '.join(self.words)}' is not '{self.kind}', '{self.kind} needs PROGRAM' or "
                          "'sh by hand'")
        return True


def blocks_of(text):
    blocks = [Block(match, text) for match in FENCE.finditer(text)]
    if len(re.findall(r"^```", text, re.MULTILINE)) != 2 * len(blocks):
        raise Failure("a fence is not closed")
    for before, block in zip([None, *blocks], blocks):
        if block.kind not in SHOWN | {"sh", "text", "python"}:
            raise Failure(f"line {block.line}: a block of '{block.kind}'; name a language, such as sh, text or python")
        if block.kind == "text" and (before is None or before.kind != "sh"):
            raise Failure(f"line {block.line}: a text without the script that prints it")
    return blocks


def lines_of(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def pattern_of(shown):
    """A regular expression for what is shown, every line ended by a line end."""
    parts = []
    for line in lines_of(shown):
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(piece) for piece in line.split("...")) + r"\n")
    return "".join(parts)


def agrees(shown, printed):
    return re.fullmatch(pattern_of(shown), "".join(line + "\n" for line in lines_of(printed))) is not None


def environment(program):
    """That of the caller, with the program first in PATH and nothing that changes what is printed."""
    environ = {name: value for name, value in os.environ.items() if name not in ("MFPG_EXAMPLES", "PYTHONPATH")}
    environ.update(LC_ALL="C.UTF-8", NO_COLOR="1", TERM="dumb")
    environ.setdefault("OMP_NUM_THREADS", "1")
    if program:
        environ["PATH"] = f"{program.absolute().parent}{os.pathsep}{environ['PATH']}"
    return environ


class Shell:
    """One bash for all scripts of a page, like the terminal of a reader: folder, variables and functions stay."""

    def __init__(self, folder, environ):
        self.bash = subprocess.Popen(["bash", "-euo", "pipefail"], cwd=folder, env=environ, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                                     start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.bash.stdin.close()
        self.bash.stdout.close()
        try:
            os.killpg(self.bash.pid, signal.SIGTERM)  # what a page has left running in the background, too
        except ProcessLookupError:
            pass
        self.bash.wait()

    def run(self, block):
        """What the script prints; a command that fails ends the shell."""
        mark = f"end of {uuid.uuid4()}"
        timer = threading.Timer(TIMEOUT_S, lambda: os.killpg(self.bash.pid, signal.SIGKILL))
        timer.start()
        try:
            self.bash.stdin.write(f"{{\n{block.body}}} </dev/null\nprintf '\\n%s\\n' {shlex.quote(mark)}\n")
            self.bash.stdin.flush()
            printed = []
            for line in self.bash.stdout:
                if line.rstrip("\n") == mark:
                    return "".join(printed)
                printed.append(line)
        except BrokenPipeError:
            printed = []
        finally:
            timer.cancel()
        raise Failure(f"line {block.line}: failed, with exit code {self.bash.wait()} (or not done after {TIMEOUT_S} s):\n"
                      + block.body + "\n" + "".join(printed))


def run_session(block, page, folder, names):
    """An interpreter's session in the folder; names are what earlier sessions of the page have defined."""
    parser, said = doctest.DocTestParser(), []
    test = parser.get_doctest(block.body, names, page.name, str(page), block.line - 1)
    if not test.examples:
        raise Failure(f"line {block.line}: a session without >>>")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    before = os.getcwd()
    os.chdir(folder)
    try:
        runner.run(test, out=said.append, clear_globs=False)
    finally:
        os.chdir(before)
    names.update(test.globs)
    if runner.failures:
        raise Failure("".join(said))


def compare(block, printed, replacements):
    if agrees(block.body, printed):
        return
    if replacements is None:
        difference = difflib.unified_diff(lines_of(block.body), lines_of(printed), "shown", "printed", lineterm="")
        raise Failure(f"line {block.line}: the page shows something else (--write puts in what is printed)\n"
                      + "\n".join(difference))
    replacements.append((block, "".join(line + "\n" for line in lines_of(printed))))


def run_page(page, folder, program=None, replacements=None):
    """Runs the page's blocks in the folder; returns how many scripts, texts, sessions, and blocks left alone there were.
    Where replacements is a list, it takes what is shown wrongly, which is no failure then."""
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    counts = dict.fromkeys(("scripts", "texts", "sessions", "left"), 0)
    names, printed = {}, None
    with Shell(folder, environment(program)) as shell:
        for block in blocks:
            if block.kind == "sh":
                printed = shell.run(block) if block.runs_here() else None
                counts["left" if printed is None else "scripts"] += 1
            elif block.kind == "text" and printed is not None:
                if block.runs_here():
                    compare(block, printed, replacements)
                    counts["texts"] += 1
                else:
                    counts["left"] += 1
            elif block.kind == "python":
                run_session(block, page, folder, names)
                counts["sessions"] += 1
    return counts


def rewrite(page, replacements):
    text = page.read_text(encoding="utf-8")
    for block, body in reversed(replacements):  # from the end, so that earlier places stay where they are
        text = text[:block.start] + body + text[block.end:]
    page.write_text(text, encoding="utf-8")


def copy_of_tree(folder):
    """What a clone has, as it stands in the working tree."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TREE, check=True,
                           stdout=subprocess.PIPE, encoding="utf-8").stdout.split("\0")
    for name in filter(None, names):
        if (TREE / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, folder / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put what is printed into the page")
    parser.add_argument("--copy", action="store_true", help="run in a copy of the tree instead of an empty folder")
    parser.add_argument("--program", type=pathlib.Path, help="mfpg; default: build/release/mfpg of the tree, with --copy none")
    parser.add_argument("page", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    program = options.program or (None if options.copy else TREE / "build/release/mfpg")
    if program and not program.exists():
        sys.exit(f"run-page: {program} is not there; run make build")
    failed = False
    for page in options.page:
        begin, replacements = time.monotonic(), [] if options.write else None
        with tempfile.TemporaryDirectory(prefix="a page ") as folder:
            if options.copy:
                copy_of_tree(pathlib.Path(folder))
            try:
                counts = run_page(page, folder, program, replacements)
            except Failure as failure:
                failed = True
                print(f"run-page: {page}: {failure}")
                continue
        if replacements:
            rewrite(page, replacements)
        print(f"run-page: {page}: " + ", ".join(f"{count} {what}" for what, count in counts.items())
              + (f", {len(replacements)} texts rewritten" if options.write else "") + f", {time.monotonic() - begin:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
