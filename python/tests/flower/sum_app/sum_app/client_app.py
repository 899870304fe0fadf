"""A site."""

import numpy as np
from flwr.app import Array, ArrayRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from mfpg.flower import Game, PrivacyMod, SecureSum
from sum_app import logistic

app = ClientApp()
game = Game("entropic", dimension=logistic.DIMENSION, step=logistic.RATE, optimum_norm2=1.0, **logistic.CONSTANTS)
private = PrivacyMod(clip=logistic.CLIP, game=game, step=logistic.RATE, scale="sensitivity", stop_at_epsilon=1e4,
                     secure_sum=SecureSum(threshold=3), seed=logistic.SEED)


@app.train(mods=[private])
def train(message, context):
    trained = logistic.train(message.content["arrays"]["w"].numpy(), np.load(context.node_config["data"]))
    return Message(RecordDict({"arrays": ArrayRecord({"w": Array(trained)})}), reply_to=message)
