"""Without Flower the package works, and mfpg.flower says what it needs."""

import subprocess
import sys


def test_without_flwr_there_is_a_clear_message():
    code = "import sys; sys.modules['flwr'] = None; import mfpg; assert 'mfpg.flower' not in sys.modules; import mfpg.flower"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "ImportError: mfpg.flower needs Flower, which is not installed; pip install" in done.stderr
