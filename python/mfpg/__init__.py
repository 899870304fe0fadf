"""Privacy games in federated learning: the C library mfpg with NumPy arrays in and out.

Names and defaults are those of the command line. Every function may be called from several threads at once; the
interpreter lock is released while the library works, and Ctrl-C ends a long call. An object (Ledger, Accountant) serves
one thread at a time. A process made by fork() must not use the package if its parent did: start processes with "spawn".
"""

from mfpg import transport
from mfpg._account import account
from mfpg._accountant import Accountant
from mfpg._answer import Account, Calibration
from mfpg._calibrate import calibrate
from mfpg._call import (AccessError, DomainError, Error, InputError, Interrupted, MfpgWarning, NumericError,
                        OutOfMemoryError, text)
from mfpg._interface import lib
from mfpg._ledger import (ClientAccount, Ledger, LedgerAccount, LedgerContents, LedgerEnd, LedgerHeader, LedgerLine,
                          Odometer)
from mfpg._privatise import Privatised, privatise
from mfpg._release import Release

__version__ = text(lib.mfpg_version())
__all__ = [
    "AccessError", "Account", "Accountant", "Calibration", "ClientAccount", "DomainError", "Error", "InputError",
    "Interrupted", "Ledger", "LedgerAccount", "LedgerContents", "LedgerEnd", "LedgerHeader", "LedgerLine",
    "MfpgWarning", "NumericError", "Odometer", "OutOfMemoryError", "Privatised", "Release", "account",
    "calibrate", "privatise", "transport",
]

for _name in __all__:  # public names tell their public place, in tracebacks and in pickles
    if _name != "transport":
        globals()[_name].__module__ = "mfpg"
del _name
