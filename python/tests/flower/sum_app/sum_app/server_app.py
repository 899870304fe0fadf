"""The server: waits for all sites once, and trains."""

import json
import time

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp import ServerApp

from mfpg.flower import PrivacyStrategy, SecureSum
from sum_app import logistic

app = ServerApp()


@app.main()
def main(grid, context):
    config = context.run_config
    strategy = PrivacyStrategy(grid=logistic.ACTIONS, patience=60.0, min_train_nodes=config["needed"],
                               min_available_nodes=config["needed"],
                               secure_sum=SecureSum(threshold=3, roster=config["roster"], timeout=config["timeout"]))
    while len(list(grid.get_node_ids())) < config["sites"]:
        time.sleep(0.2)
    result = strategy.start(grid, ArrayRecord({"w": Array(np.zeros(logistic.DIMENSION, np.float32))}), num_rounds=config["rounds"])
    rounds = {number: dict(metrics) for number, metrics in result.train_metrics_clientapp.items()}
    refused = {number: sorted(why.values()) for number, why in strategy.refusals.items() if why}
    print("result " + json.dumps({"model": result.arrays["w"].numpy().tobytes().hex(), "rounds": rounds, "refused": refused}),
          flush=True)
