"""A hospital: trains on its rows; PrivacyMod is what its update passes on the way out."""

from flwr.app import Array, ArrayRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from hospitals import task
from mfpg.flower import Game, PrivacyMod, SecureSum

app = ClientApp()


def private(message: Message, context: Context, call_next):
    """PrivacyMod by the run's configuration. The hospital's own settings are in --node-config: data, ledger, epsilon,
    num-examples (declared, public), beta, and for secure sums roster and identity."""
    config = context.run_config
    if config["game"]:
        noise = {"game": Game(interaction=config["interaction"], privacy_scale=config["privacy-scale"]), "scale": "sensitivity"}
    else:
        noise = {"noise_multiplier": config["noise-multiplier"]}
    secure = {"secure_sum": SecureSum(config["threshold"])} if config["threshold"] else {}
    mod = PrivacyMod(clip=config["clip"], delta=config["delta"], stop_at_epsilon=config["epsilon"], **noise, **secure)
    return mod(message, context, call_next)


@app.train(mods=[private])
def train(message: Message, context: Context) -> Message:
    x, y = task.load(context.node_config["data"])
    received = {name: array.numpy() for name, array in message.content["arrays"].items()}
    learnt = task.train(received, x, y)
    arrays = ArrayRecord({name: Array(value) for name, value in learnt.items()})
    return Message(RecordDict({"arrays": arrays}), reply_to=message)
