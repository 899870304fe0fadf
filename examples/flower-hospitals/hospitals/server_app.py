"""The coordinator: averages what hospitals send, and judges the model on rows of its own, if it has any."""

import json

from flwr.app import Array, ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp

from hospitals import task
from mfpg.flower import PrivacyStrategy, SecureSum

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    actions = [float(one) for one in config["grid"].split(",")] if config["game"] else None
    secure = SecureSum(config["threshold"], roster=config["roster"], timeout=config["patience"]) if config["threshold"] else None
    strategy = PrivacyStrategy(grid=actions, patience=config["patience"], min_train_nodes=config["hospitals"],
                               min_available_nodes=config["hospitals"], secure_sum=secure)
    start = ArrayRecord({name: Array(value) for name, value in task.initial().items()})
    result = strategy.start(grid, start, num_rounds=config["rounds"], timeout=config["patience"])
    weights = result.arrays["weights"].numpy() if result.arrays else task.initial()["weights"]
    rounds = {number: dict(metrics) for number, metrics in result.train_metrics_clientapp.items()}
    refused = {number: sorted(why.values()) for number, why in strategy.refusals.items() if why}
    print("result " + json.dumps({"weights": [float(w) for w in weights], "rounds": rounds, "refused": refused}), flush=True)
