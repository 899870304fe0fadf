"""What docs/python.md, docs/secure_sum.md, the engineer's tutorial and the docstrings show is what happens."""

import doctest
import importlib.util
import pathlib
import sys
import warnings

import pytest

import mfpg
from conftest import ROOT


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mfpg.MfpgWarning)
        yield


@pytest.mark.parametrize("page, examples", [("python.md", 20), ("secure_sum.md", 8)])
def test_pages(page, examples):
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert failed == 0 and tried > examples


def test_engineer():
    """docs/tutorials/engineer.md, with the programs of this environment; what it does with Flower, where that is installed."""
    spec = importlib.util.spec_from_file_location("run_page", ROOT / "scripts/run_page.py")
    run_page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_page)
    counts = run_page.run_page(ROOT / "docs/tutorials/engineer.md", pathlib.Path.cwd(), pathlib.Path(sys.executable))
    assert counts["scripts"] >= 3 and counts["texts"] >= 3 and counts["sessions"] >= 4


def test_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert failed == 0 and tried == text.count(">>> ") >= 4


def test_docstrings():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for name in mfpg.__all__:
        for test in finder.find(getattr(mfpg, name), name, module=False, globs=dict(vars(mfpg))):
            runner.run(test)
    assert runner.failures == 0 and runner.tries >= 3


def test_everything_public_is_described():
    for name in mfpg.__all__:
        assert getattr(mfpg, name).__doc__, name
