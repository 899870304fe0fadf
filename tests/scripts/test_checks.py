#!/usr/bin/env python3
"""The checks of the tree must fail where they should: each is tried on small trees made for it."""
import pathlib
import subprocess
import sys
import tempfile
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
                              ("src/games/dots.c", "../base/error.h"), ("src/games/lost.c", "nowhere.h"),
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


if __name__ == "__main__":
    unittest.main()
