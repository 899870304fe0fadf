"""How calls behave: exceptions, warnings, threads, the interpreter lock, Ctrl-C, memory."""

import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

import mfpg
from conftest import ROOT

SLOW = {"blocks": [(0.05 * (1 + i / 40), 1 + i / 40, 1) for i in range(20)]}  # about a second


def test_version_is_that_of_the_build():
    header = (ROOT / "include/mfpg/version.h").read_text().splitlines()
    line = next(line for line in header if line.startswith("#define MFPG_VERSION "))
    assert f'"{mfpg.__version__}"' in line


def test_every_status_has_its_exception():
    from mfpg._call import ERRORS
    from mfpg._interface import lib

    statuses = {name for name in dir(lib) if name.startswith("MFPG_ERR_")}
    assert {getattr(lib, name) for name in statuses} == set(ERRORS)
    assert len(set(ERRORS.values())) == len(ERRORS)
    for error, base in ((mfpg.InputError, ValueError), (mfpg.DomainError, ValueError), (mfpg.AccessError, OSError),
                        (mfpg.OutOfMemoryError, MemoryError), (mfpg.NumericError, ArithmeticError)):
        assert issubclass(error, base) and issubclass(error, mfpg.Error)
    assert issubclass(mfpg.Interrupted, KeyboardInterrupt)


def test_public_names_are_told_as_such():
    assert repr(mfpg.InputError("x")) == "InputError('x')" and mfpg.InputError.__module__ == "mfpg"
    answer = mfpg.account(noise_multiplier=1)
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_threads_at_once_get_the_answers_of_one():
    expected = [mfpg.account(noise_multiplier=1 + i / 10, sampling_rate=0.1, steps=50).epsilon for i in range(8)]
    found = [None] * 8

    def ask(i):
        found[i] = mfpg.account(noise_multiplier=1 + i / 10, sampling_rate=0.1, steps=50).epsilon

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_interpreter_lock_is_released():
    """While the library works in another thread, this one runs Python."""
    worker = threading.Thread(target=mfpg.account, kwargs=SLOW)
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks >= 10  # a lock that is kept lets this thread run before and after the call alone


def test_ctrl_c_ends_a_call():
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        while True:  # a fast machine is not done before the signal comes
            mfpg.account(**SLOW)
    left = [thread for thread in threading.enumerate() if thread.name == "mfpg"]
    assert left  # the call ended before the work did
    for thread in left:
        if thread.is_alive():  # or the signal came before it began
            thread.join()


def test_calls_leave_nothing_behind():
    def work():
        mfpg.account(noise_multiplier=1, sampling_rate=0.01, steps=10)
        mfpg.transport.project([0.0, 1.0, 2.0], regularisation=1)
        with pytest.raises(mfpg.InputError):
            mfpg.account(noise_multiplier=1, accountant="gpd")

    def largest():
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(50):
        work()
    before = largest()
    for _ in range(150):
        work()
    assert largest() - before < 8 * 1024  # KiB; a context or an accountant that was kept would be ten times that


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
