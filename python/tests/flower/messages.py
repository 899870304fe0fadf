"""Real messages of Flower."""

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.supercore.task_identity import TaskIdentity

TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1  # what a running app has


def record(arrays):
    return ArrayRecord({name: Array(np.asarray(value)) for name, value in arrays.items()})


def ask(arrays, config=None, node=7, kind="train"):
    """What a server sends."""
    content = {"arrays": record(arrays), "config": ConfigRecord(config or {})}
    return Message(RecordDict(content), dst_node_id=node, message_type=kind)


def answer(message, arrays, metrics=None):
    """What a client app replies."""
    content = {"arrays": record(arrays), "metrics": MetricRecord({"num-examples": 10, **(metrics or {})})}
    return Message(RecordDict(content), reply_to=message)


def context(node=7, **node_config):
    return Context(run_id=1, node_id=node, node_config=node_config, state=RecordDict(), run_config={})


def arrays_of(message):
    assert not message.has_error(), message.error.reason
    return {name: array.numpy() for name, array in message.content["arrays"].items()}
