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


class LocalGrid:
    """What a strategy sees of its nodes: functions of a message here, which answer, or are silent (None)."""

    def __init__(self, nodes):
        self.nodes, self.replies, self.seen = dict(nodes), [], []

    def get_node_ids(self):
        return list(self.nodes)

    def push_messages(self, messages):
        identities = []
        for message in messages:
            message.metadata.__dict__["_message_id"] = message.object_id
            identities.append(message.metadata.message_id)
            reply = self.nodes[message.metadata.dst_node_id](message)
            self.seen.append((message, reply))
            if reply is not None:
                self.replies.append(reply)
        return identities

    def pull_messages(self, identities):
        here = [reply for reply in self.replies if reply.metadata.reply_to_message_id in identities]
        self.replies = []
        return here
