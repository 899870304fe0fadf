#!/usr/bin/env python3
"""The checks of the tree must fail where they should: each is tried on small trees made for it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a tree ")
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def write(self, name, text):
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def call(self, script, *arguments):
        done = subprocess.run([sys.executable, SCRIPTS / script, *arguments, self.tree], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8")
        return done.returncode, done.stdout


class Includes(Tree):
    def setUp(self):
        super().setUp()
        for header in ("status", "dataset", "game", "mechanism", "accountant"):
            self.write(f"include/mfpg/{header}.h", "")
        for header in ("base/error", "games/costs", "accountants/gdp", "data/reader", "federation/round"):
            self.write(f"src/{header}.h", "")
        self.write("include/mfpg/model.h", '#include "dataset.h"\n')
        self.write("src/games/solve.c", '#include "costs.h"\n#include "base/error.h"\n#include "mfpg/game.h"\n')
        self.write("src/models/logistic.c", '#include "mfpg/dataset.h"\n')
        self.write("cli/main.c", '#include "command.h"\n#include "mfpg/accountant.h"\n')
        self.write("cli/command.h", "")

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.call("check_includes.py"), (0, "includes: 7 checked, 0 against the order\n"))

    def test_every_wrong_arrow_fails_and_is_named(self):
        for name, include in [("src/base/up.c", "accountants/gdp.h"), ("src/games/side.c", "accountants/gdp.h"),
                              ("src/games/side.c", "mfpg/accountant.h"), ("src/games/side.c", "mfpg/mechanism.h"),
                              ("src/accountants/up.c", "federation/round.h"), ("src/models/side.c", "data/reader.h"),
                              ("src/data/side.c", "mfpg/model.h"), ("cli/main.c", "base/error.h"),
                              ("reproduction/suite.c", "base/error.h"), ("src/games/dots.c", "../base/error.h"), ("src/games/lost.c", "nowhere.h"),
                              ("src/games/lost.c", "mfpg/nowhere.h"), ("include/mfpg/status.h", "game.h"),
                              ("include/mfpg/game.h", "mechanism.h"), ("src/federation/up.c", "mfpg/mfpg.h")]:
            with self.subTest(name=name, include=include):
                old = (self.tree / name).read_text() if (self.tree / name).exists() else None
                self.write(name, f'/* first */\n  #  include "{include}"\n')
                code, text = self.call("check_includes.py")
                self.assertEqual(code, 1)
                self.assertIn(f'{name}:2: "{include}"', text)
                (self.tree / name).unlink() if old is None else self.write(name, old)

    def test_a_folder_without_a_place_fails(self):
        self.write("src/extras/more.c", "")
        self.assertEqual(self.call("check_includes.py")[0], 1)


class House(Tree):
    """Each disorder is found where it is, and a tree without any passes."""

    def setUp(self):
        super().setUp()
        self.write("src/games/costs.h", "int cost(void);\n")
        for user in ("solve", "price"):
            self.write(f"src/games/{user}.c", f'/* As src/games/costs.h says. */\n#include "costs.h"\n\nint {user}(void) {{\n    return cost();\n}}\n')
        self.write("src/games/costs.c", '#include "costs.h"\n\nint cost(void) {\n    return 1;\n}\n')

    def found(self):
        code, text = self.call("check_house.py")
        self.assertEqual(code, 1)
        return text

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.call("check_house.py")[0], 0)

    def test_a_header_with_one_user(self):
        (self.tree / "src/games/price.c").unlink()
        self.assertIn("src/games/costs.h: only src/games/solve.c uses it", self.found())

    def test_a_circle_of_calls(self):
        self.write("src/games/costs.c", '#include "costs.h"\n\nint cost(void) {\n    return solve();\n}\n')
        self.assertIn("src/games: these call each other in a circle: costs.c, solve.c", self.found())

    def test_calls_in_comments_and_texts_are_none(self):
        self.write("src/games/costs.c", '#include "costs.h"\n\n/* solve() */\nint cost(void) {\n    return "solve()" != 0;\n}\n')
        self.assertEqual(self.call("check_house.py")[0], 0)

    def test_a_basename_used_twice(self):
        self.write("src/base/costs.c", "")
        self.assertIn("costs.c: a basename of src/base/costs.c, src/games/costs.c", self.found())

    def test_a_comment_that_names_a_missing_file(self):
        self.write("include/mfpg/game.h", "\n/* As in src/games/lost.c. */\n")
        self.assertIn("include/mfpg/game.h:2: a comment names src/games/lost.c", self.found())


class Kinds(Tree):
    def setUp(self):
        super().setUp()
        for name, entries in [("mechanisms/mechanisms", ["none", "gaussian"]), ("games/costs", ["gaussian", "measured_budget"]),
                              ("games/games", ["none"]), ("accountants/accountants", ["gdp", "paper_rdp"]),
                              ("models/models", ["mlp"]), ("data/readers", ["csv"]), ("optimisers/local", ["momentum"]),
                              ("optimisers/server", ["adam"])]:
            self.write(f"src/{name}.def", "/* ENTRY(word) in a comment */\n" + "".join(f"ENTRY({entry})\n" for entry in entries))
        self.write("src/mechanisms/mechanism.c", 'int a = strcmp(kind, "gaussian") == 0;\n')

    def test_names_in_their_own_folder_and_other_words_pass(self):
        self.write("src/experiment/set.c", 'a = strcmp(x, "word"); b = is(config, "privacy.assume", "none");\n'
                                           'c = strcmp(cell->task, "mlp") == 0; create(ctx, "gdp");\n')
        self.assertEqual(self.call("check_kinds.py"),
                         (0, "kinds: 4 comparisons checked, 0 with the name of a kind outside its folder\n"))

    def test_every_way_to_compare_a_name_elsewhere_fails(self):
        for place, code, name in [("src/federation/adaptive_actions.c", 'strcmp(o->accountant, "gdp") != 0', "gdp"),
                                  ("src/audit/setup.c", 'strcmp(options->paper,\n    "paper_rdp") == 0', "paper_rdp"),
                                  ("src/experiment/a.c", 'mfpg_config_is(config, "task.model", "mlp")', "mlp"),
                                  ("src/experiment/a.c", 'is_cost(&made->game, "measured-budget")', "measured-budget"),
                                  ("src/games/a.c", 'strcmp(mfpg_name(x), "gdp") == 0', "gdp"),
                                  ("cli/data.c", 'strcmp(report->format, "csv") == 0', "csv")]:
            with self.subTest(place=place, code=code):
                self.write(place, f"/* first */\nif ({code}) return;\n")
                status, text = self.call("check_kinds.py")
                self.assertEqual(status, 1)
                self.assertIn(f"{place}:2: the name '{name}' is compared", text)
                (self.tree / place).unlink()


class Numbers(Tree):
    def setUp(self):
        super().setUp()
        self.write("build/release/mfpg", '#!/bin/sh\necho "$@" >>"$0.log"\necho "loss  $1"\necho "mu 2  "\n').chmod(0o755)

    def page(self, body, command="mfpg 7"):
        return self.write("README.md", f"# Page\n<!-- numbers: {command} -->\n{body}<!-- end numbers -->\nafter\n")

    def test_what_the_program_prints_passes_with_and_without_fence(self):
        for body in ("```text\nloss  7\nmu 2\n```\n", "loss  7\nmu 2\n", "\n```\nloss  7   \nmu 2\n```\n\n"):
            self.page(body)
            self.assertEqual(self.call("check_numbers.py"),
                             (0, "check-numbers: 1 blocks, 0 differ from what the program prints\n"))

    def test_a_changed_number_fails_with_a_diff(self):
        self.page("```text\nloss  8\nmu 2\n```\n")
        code, text = self.call("check_numbers.py")
        self.assertEqual(code, 1)
        self.assertIn("-loss  8\n+loss  7\n", text)

    def test_write_fills_every_block_keeps_fences_and_runs_a_command_once(self):
        page = self.page("```text\nold\n```\n<!-- end numbers -->\n<!-- numbers: mfpg 7 -->\n<!-- end numbers -->\n<!-- numbers: mfpg 9 -->\n")
        self.assertEqual(self.call("check_numbers.py", "--write")[0], 0)
        self.assertEqual(page.read_text(), "# Page\n<!-- numbers: mfpg 7 -->\n```text\nloss  7\nmu 2\n```\n<!-- end numbers -->\n"
                         "<!-- numbers: mfpg 7 -->\n\nloss  7\nmu 2\n\n<!-- end numbers -->\n"
                         "<!-- numbers: mfpg 9 -->\n\nloss  9\nmu 2\n\n<!-- end numbers -->\nafter\n")
        self.assertEqual((self.tree / "build/release/mfpg.log").read_text().split(), ["9", "7"])
        self.assertEqual(self.call("check_numbers.py")[0], 0)

    def test_a_title_takes_the_part_under_its_heading(self):
        self.write("build/release/mfpg", "#!/bin/sh\nprintf '## A\\none\\n### B\\n\\ntwo\\n#### C\\nthree\\n### D\\nfour\\n'\n")
        for title, body in [("A", "one\n### B\n\ntwo\n#### C\nthree\n### D\nfour\n"), ("B", "two\n#### C\nthree\n"), ("D", "four\n")]:
            self.page(body, command=f"mfpg bench :: {title}")
            self.assertEqual(self.call("check_numbers.py")[0], 0, title)
        self.page("four\n", command="mfpg bench :: E")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)

    def test_long_blocks_are_left_alone_unless_asked_for(self):
        self.write("README.md", "<!-- long numbers: mfpg 7 -->\nold\n<!-- end numbers -->\n")
        self.assertEqual(self.call("check_numbers.py"),
                         (0, "check-numbers: 0 blocks, 0 differ from what the program prints; 1 long ones left alone\n"))
        self.assertEqual(self.call("check_numbers.py", "--long")[0], 1)
        self.assertEqual(self.call("check_numbers.py", "--long", "--write")[0], 0)
        self.assertEqual(self.call("check_numbers.py", "--long")[0], 0)

    def test_programs_of_the_examples_are_run_too(self):
        self.write("build/release/examples/shown", "#!/bin/sh\necho 42\n").chmod(0o755)
        self.page("42\n", command="examples/shown")
        self.assertEqual(self.call("check_numbers.py")[0], 0)
        self.page("43\n", command="examples/shown")
        self.assertEqual(self.call("check_numbers.py")[0], 1)
        self.page("42\n", command="examples/absent")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)

    def test_scripts_are_run_too_with_the_program(self):
        self.write("scripts/study.py", "import subprocess, sys\nprint(*sys.argv[3:], sys.argv[1])\n"
                   "print(subprocess.run([sys.argv[2], 'x'], stdout=subprocess.PIPE, encoding='utf-8').stdout)\n")
        self.write("build/release/mfpg", "#!/bin/sh\necho 42 $1\n").chmod(0o755)
        self.page("--seeds 3 --program\n42 x\n", command="scripts/study.py --seeds 3")
        self.assertEqual(self.call("check_numbers.py"),
                         (0, "check-numbers: 1 blocks, 0 differ from what the program prints\n"))
        self.page("43 x\n", command="scripts/study.py --seeds 3")
        self.assertEqual(self.call("check_numbers.py")[0], 1)
        self.page("42\n", command="scripts/absent.py")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)

    def test_what_cannot_be_checked_fails(self):
        self.page("", command="rm -rf x")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)
        self.write("README.md", "<!-- numbers: mfpg 7 -->\nnever closed\n")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)
        self.page("")
        self.write("build/release/mfpg", "#!/bin/sh\nexit 3\n")
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)
        (self.tree / "build/release/mfpg").unlink()
        self.assertNotEqual(self.call("check_numbers.py")[0], 0)

    def test_a_tree_without_blocks_says_so(self):
        self.assertEqual(self.call("check_numbers.py"), (0, "check-numbers: 0 blocks, 0 differ from what the program prints\n"))


class Links(Tree):
    def setUp(self):
        super().setUp()
        self.write("docs/other.md", "# One `title`, and more\n## Twice\n## Twice\n```\n# no heading\n```\n")

    def test_what_is_there_passes(self):
        self.write("README.md", "[a](docs/other.md) [b](docs/other.md#one-title-and-more) [c](docs/other.md#twice-1) [d](#here)\n"
                   "# Here\n![e](docs/) [f](https://example.org/x) `[g](nowhere)`\n```\n[h](nowhere)\n```\n"
                   '<img src="docs/other.md"> [![i](docs/other.md)](docs)\n')
        self.assertEqual(self.call("check_links.py"), (0, "links: 8 checked, 0 wrong\n"))

    def test_every_wrong_link_is_named_with_its_line(self):
        for target in ("nowhere.md", "docs/other.md#thrice", "docs/other.md#no-heading", "#nothing", "../outside.md", "/docs/other.md",
                       "docs/other.md#twice-2"):
            with self.subTest(target=target):
                self.write("README.md", f"# Page\n```\n```\nmore [a link]({target})\n")
                code, text = self.call("check_links.py")
                self.assertEqual((code, text.split(" ")[0:2]), (1, ["README.md:4:", target]))
                self.write("README.md", f'<img alt="x"\n  src="{target}">\n')
                self.assertEqual(self.call("check_links.py")[0], 1)


class Picture(Tree):
    def test_another_table_is_another_picture(self):
        page = self.write("docs/results.md", (SCRIPTS.parent / "docs/results.md").read_text(encoding="utf-8"))
        self.assertEqual(self.call("draw_frontier.py", "--check")[0], 1)  # there is none
        self.assertEqual(self.call("draw_frontier.py"), (0, ""))
        self.assertEqual(self.call("draw_frontier.py", "--check"), (0, ""))
        for old, new in (("| mfpg | 2 | 2.000 1.", "| mfpg | 2 | 2.000 0."), ("| dp-sgd | 0.", "| dp-sgd | 0.0")):
            text = page.read_text(encoding="utf-8")
            self.assertIn(old, text)
            page.write_text(text.replace(old, new, 1), encoding="utf-8")
            self.assertEqual(self.call("draw_frontier.py", "--check")[0], 1)
            page.write_text(text, encoding="utf-8")


class Pages(Tree):
    """scripts/run_page.py, with a program that says what it was given."""

    def setUp(self):
        super().setUp()
        self.program = self.write("bin/mfpg", '#!/bin/sh\necho "loss  $1"\necho "mu 2  "\n')
        self.program.chmod(0o755)

    def run_page(self, text, *arguments):
        page = self.write("page.md", text)
        done = subprocess.run([sys.executable, SCRIPTS / "run_page.py", "--program", self.program, *arguments, page],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        return done.returncode, done.stdout

    def test_a_page_that_is_so_passes(self):
        code, text = self.run_page("```sh\nx=7\necho kept > file\n```\n```sh\nmfpg $x; cat file\n```\n```text\nloss  7\nmu 2\nkept\n```\n"
                                   "```python\n>>> open('file').read()\n'kept\\n'\n>>> n = 1\n```\n```python\n>>> n\n1\n```\n"
                                   "```sh by hand\nexit 1\n```\n```text\nanything\n```\n```sh needs no-such-program\nexit 1\n```\n"
                                   "```yaml\nshown: only\n```\n")
        self.assertEqual(code, 0, text)
        self.assertIn(": 2 scripts, 1 texts, 2 sessions, 2 left", text)

    def test_dots_stand_for_what_is_there(self):
        for shown, code in (("loss  ...\nmu 2", 0), ("...", 0), ("...\nmu 2", 0), ("loss  7\n...", 0), ("l...7\nm...2\n", 0),
                            ("loss  7\n...\nmu 3", 1), ("loss  ...", 1), ("...\nloss  8\n...", 1)):
            with self.subTest(shown=shown):
                self.assertEqual(self.run_page(f"```sh\nmfpg 7\n```\n```text\n{shown}\n```\n")[0], code)

    def test_a_text_that_needs_a_program_is_compared_if_it_is_there(self):
        page = "```sh\nmfpg 7\n```\n```text needs {}\nloss  {}\nmu 2\n```\n"
        for needs, shown, code, counts in (("bash", 7, 0, "1 scripts, 1 texts, 0 sessions, 0 left"), ("bash", 8, 1, ""),
                                           ("bash no-such-program", 8, 0, "1 scripts, 0 texts, 0 sessions, 1 left")):
            with self.subTest(needs=needs, shown=shown):
                done, text = self.run_page(page.format(needs, shown))
                self.assertEqual(done, code, text)
                self.assertIn(counts, text)
        self.assertEqual(self.run_page(page.format("no-such-program", 8), "--write")[0], 0)
        self.assertEqual((self.tree / "page.md").read_text(), page.format("no-such-program", 8))

    def test_what_is_not_so_fails(self):
        for text in ("```sh\nmfpg 7\n```\n```text\nloss  8\nmu 2\n```\n", "```sh\nfalse\necho on\n```\n", "```sh\necho $unset\n```\n",
                     "```sh\nfalse | cat\n```\n", "```sh\nexit 0\n```\n", "```sh\n{\n```\n", "```python\n>>> 1 + 1\n3\n```\n",
                     "```python\n1 + 1\n```\n", "```\nno language\n```\n", "```text\nof no script\n```\n", "```sh\nnot closed\n",
                     "```sh sometimes\ntrue\n```\n", "```sh needs\ntrue\n```\n", "```sh\ntrue\n```\n```text by hand\n```\n", "```sh\nno-such-program\n```\n"):
            with self.subTest(text=text):
                code, printed = self.run_page(text)
                self.assertEqual(code, 1, printed)
                self.assertNotIn("Traceback", printed)

    def test_write_puts_in_what_is_printed_and_leaves_the_rest(self):
        page = self.tree / "page.md"
        code, text = self.run_page("a\n```sh\nmfpg 7\n```\n```text\nold\n```\nb\n```sh\nmfpg 8\n```\n```text\nloss  ...\nmu 2\n```\n",
                                   "--write")
        self.assertEqual(code, 0, text)
        self.assertEqual(page.read_text(), "a\n```sh\nmfpg 7\n```\n```text\nloss  7\nmu 2\n```\nb\n```sh\nmfpg 8\n```\n"
                         "```text\nloss  ...\nmu 2\n```\n")


class FreshSystem(Tree):
    """scripts/test_fresh_system.sh with programs that only claim to make a system and to run something in it."""

    def setUp(self):
        super().setUp()
        (self.tree / "tmp").mkdir()
        self.program("id", "echo 0")
        self.program("apt-get", "[ $1 != indextargets ] || echo bookworm http://mirror.example/debian bookworm main")
        for name in ("apt-config", "chroot", "git"):
            self.program(name, "true")
        self.program("debootstrap", 'mkdir -p "$3/etc/apt/apt.conf.d" "$3/etc/dpkg/dpkg.cfg.d" "$3/root"; '
                     'echo 12.0 >"$3/etc/debian_version"; echo "$2 $4" >>"$0.log"')
        self.program("unshare", 'shift 5; case "$*" in debootstrap*|env*) exec "$@" ;; bash*) echo "ran ${*##*isolated }" ;; esac')

    def program(self, name, script):
        self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)

    def start(self):
        environment = {**os.environ, "PATH": f"{self.tree}/bin:{os.environ['PATH']}", "TMPDIR": str(self.tree / "tmp")}
        return subprocess.Popen([SCRIPTS / "test_fresh_system.sh"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env=environment, encoding="utf-8")

    def finish(self, process):
        text = process.communicate(timeout=60)[0]
        self.assertEqual(list((self.tree / "tmp").iterdir()), [], "the folder of the system is left")
        return process.returncode, text

    def test_the_tests_run_twice_in_a_system_from_the_mirror_of_apt(self):
        code, text = self.finish(self.start())
        self.assertEqual(code, 0, text)
        self.assertEqual((self.tree / "bin/debootstrap.log").read_text(), "bookworm http://mirror.example/debian\n")
        self.assertEqual(text.count("; make test"), 2, text)
        self.assertLess(text.index("; make test"), text.index("install --no-install-recommends python3"))
        self.assertNotIn("SKIPPED", text)

    def test_tests_that_fail_there_are_a_failure(self):
        for there in ("command -v", "recommends python3"):
            with self.subTest(there=there):
                self.program("unshare", f'shift 5; case "$*" in debootstrap*|env*) exec "$@" ;; *"{there}"*) exit 8 ;; esac')
                code, text = self.finish(self.start())
                self.assertEqual(code, 8, text)
                self.assertNotIn("SKIPPED", text)

    def test_a_machine_that_does_not_permit_it_skips_and_says_why(self):
        for name, script, reason in (("id", "echo 1000", "needs root"), ("unshare", "exit 1", "does not permit namespaces"),
                                     ("apt-get", "true", "apt has no mirror of Debian 12"),
                                     ("apt-get", "[ $1 = indextargets ] || exit 1", "apt cannot reach its mirrors"),
                                     ("debootstrap", "echo refused; exit 1", "debootstrap could not make a system"),
                                     ("unshare", 'shift 5; case "$*" in env*) exec "$@" ;; bash*) exit 1 ;; esac',
                                      "does not permit mounts or chroot"),
                                     ("unshare", 'shift 5; case "$*" in env*) exec "$@" ;; *apt-get*) exit 1 ;; esac',
                                      "apt reaches no mirror")):
            with self.subTest(reason=reason):
                kept = (self.tree / "bin" / name).read_text()
                self.program(name, script)
                code, text = self.finish(self.start())
                self.assertEqual(code, 0, text)
                self.assertRegex(text, f"(?m)^SKIPPED: .*{reason}")
                self.assertNotIn("passes", text)
                self.write(f"bin/{name}", kept)

    def test_an_interrupted_one_leaves_nothing(self):
        self.program("debootstrap", 'touch "$3/half" "$0.started"; exec sleep 60')
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                process = self.start()
                started = self.tree / "bin/debootstrap.started"
                while not started.exists() and process.poll() is None:
                    time.sleep(0.02)
                started.unlink()
                process.send_signal(number)
                code, text = self.finish(process)
                self.assertEqual(code, 128 + number, text)


if __name__ == "__main__":
    unittest.main()
