"""A PyTorch model, batch normalisation with its counter included, trains through mod and strategy."""

import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")
torch = pytest.importorskip("torch", reason="torch is not installed; it is too large to be fetched for one test")

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict  # noqa: E402

from messages import context  # noqa: E402
from mfpg.flower import PrivacyMod, PrivacyStrategy  # noqa: E402


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def loss_of(model, x, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)


def app(message, own):
    model, draw = network(), torch.Generator().manual_seed(own.node_id)
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    x = torch.randn(256, 4, generator=draw)
    y = (x[:, 0] > x[:, 1]).float()
    step = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(10):
        step.zero_grad()
        loss_of(model, x, y).backward()
        step.step()
    content = {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord({"num-examples": len(y)})}
    return Message(RecordDict(content), reply_to=message)


class Nodes:
    def get_node_ids(self):
        return [1, 2]


def test_a_network_trains(tmp_path):
    private = PrivacyMod(clip=2.0, noise_multiplier=0.01, stop_at_epsilon=1e5, public_arrays=["1.num_batches_tracked"])
    sites = {node: context(node=node, ledger=str(tmp_path / str(node))) for node in (1, 2)}
    strategy, arrays = PrivacyStrategy(), ArrayRecord(network().state_dict())
    for number in range(1, 6):
        messages = strategy.configure_train(number, arrays, ConfigRecord(), Nodes())
        arrays, _ = strategy.aggregate_train(number, [private(m, sites[m.metadata.dst_node_id], app) for m in messages])
    model, x = network(), torch.randn(500, 4, generator=torch.Generator().manual_seed(9))
    before = loss_of(model.eval(), x, (x[:, 0] > x[:, 1]).float()).item()
    model.load_state_dict(arrays.to_torch_state_dict())
    assert model.state_dict()["1.num_batches_tracked"].item() == 50  # a whole number that was named
    assert loss_of(model.eval(), x, (x[:, 0] > x[:, 1]).float()).item() < 0.7 * before
    assert mfpg.account(ledger=tmp_path / "1").clients[0].rounds == 5
