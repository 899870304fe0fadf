"""A round that a client does not take part in, and how the server is told."""

from __future__ import annotations

from logging import WARNING

from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.supercore import log


class Refusal(Exception):
    """Why nothing leaves the client this round. Neither text nor fact depends on data: a refusal is about the budget, the ledger, the
    message or the configuration, and is decided before training. What only the site may know is in `detail`, which stays in its
    log."""

    def __init__(self, text: str, detail: str | None = None) -> None:
        super().__init__(text)
        self.detail = detail


def refuse(message: Message, refusal: Refusal) -> Message:
    """The reply that carries the reason and no arrays."""
    log(WARNING, "mfpg: nothing was sent: %s%s", refusal, f" ({refusal.detail})" if refusal.detail else "")
    return Message(Error(code=ErrorCode.MOD_FAILED_PRECONDITION, reason=f"mfpg: {refusal}"), reply_to=message)
