"""Flower: a client mod that makes updates private and pays for them, and a strategy that plays the privacy game.

Needs flwr (``pip install 'mfpg[flower]'``); docs/flower.md has a recipe for two sites and says what is promised.
"""

try:
    import flwr.app  # noqa: F401
except ImportError as problem:
    raise ImportError("mfpg.flower needs Flower, which is not installed; pip install 'mfpg[flower]', or pip install flwr "
                      "(Python 3.11 or later)") from problem

from mfpg.flower._game import Game
from mfpg.flower._mod import PrivacyMod
from mfpg.flower._refusal import Refusal
from mfpg.flower._secure_sum import SecureSum
from mfpg.flower._site import Site
from mfpg.flower._strategy import PrivacyStrategy

__all__ = ["Game", "PrivacyMod", "PrivacyStrategy", "Refusal", "SecureSum", "Site"]

for _name in __all__:  # public names tell their public place
    globals()[_name].__module__ = "mfpg.flower"
del _name
