"""Privacy games in federated learning: the C library mfpg with NumPy arrays in and out.

Names and defaults are those of the command line. Every function may be called from several threads at once; the
interpreter lock is released while the library works, and Ctrl-C ends a long call. Calls on one object (Ledger, Accountant)
wait for each other. A process made by fork() must not use the package if its parent did: start processes with "spawn".
"""

from mfpg import secure_sum, transport
from mfpg._account import account, calibrate
from mfpg._accountant import Accountant
from mfpg._answer import Account, Calibration, ClientAccount, LedgerAccount, LedgerEnd, Odometer
from mfpg._audit import Audit, AuditedClient, AuditedSite, ScoreBounds, TranscriptAudit, audit, audit_scores, audit_transcript
from mfpg._call import (AccessError, DomainError, Error, InputError, Interrupted, MfpgWarning, NumericError,
                        OutOfMemoryError, text)
from mfpg._config import examples
from mfpg._equilibrium import Equilibrium, FixedPoint, Gains, Mixing, Price, Social
from mfpg._interface import lib
from mfpg._keys import Key, keys
from mfpg._ledger import Ledger, LedgerContents, LedgerHeader, LedgerLine, Spending
from mfpg._privatise import Privatised, privatise
from mfpg._release import Release
from mfpg._run import Run, run, simulate
from mfpg._solve import solve

__version__ = text(lib.mfpg_version())
__all__ = [
    "AccessError", "Account", "Accountant", "Audit", "AuditedClient", "Calibration", "ClientAccount", "DomainError", "Equilibrium", "Error",
    "FixedPoint", "Gains", "InputError", "Interrupted", "Key", "Ledger", "LedgerAccount", "LedgerContents",
    "LedgerEnd", "LedgerHeader", "LedgerLine", "MfpgWarning", "Mixing", "NumericError", "Odometer",
    "OutOfMemoryError", "Price", "Privatised", "Release", "Run", "Social", "Spending", "account", "audit", "audit_scores", "calibrate",
    "examples", "keys", "privatise", "run", "secure_sum", "simulate", "solve", "transport",
]

for _name in __all__:  # public names tell their public place, in tracebacks and in pickles
    if _name not in ("secure_sum", "transport"):
        globals()[_name].__module__ = "mfpg"
del _name
