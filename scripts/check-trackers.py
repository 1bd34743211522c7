"""Reads numbers back from TensorBoard, MLflow and Weights & Biases with their own packages, and compares them with the run."""

import glob
import json
import math
import re
import sqlite3
import struct
import sys

run, url = sys.argv[1:]
store = sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True)
expected = {}
for stage, name, step, value in store.execute("SELECT stage, name, step, value FROM metrics"):
    if value is not None and math.isfinite(value):
        expected[f"{stage}/{name}", step + 1] = value
for stage, step, name, metrics in store.execute("SELECT stage, step, name, metrics FROM evaluations"):
    for key, value in json.loads(metrics).items():
        if value is not None:
            expected[f"evaluation/{stage}/{name}/{key}", step] = value
assert len(expected) > 30, len(expected)


def compare(what, found):
    missing = expected.keys() - found.keys()
    assert not missing, (what, sorted(missing)[:5])
    further = found.keys() - expected.keys()
    assert not further, (what, sorted(further)[:5])
    for key, value in expected.items():
        assert math.isclose(found[key], value, rel_tol=1e-6, abs_tol=1e-9), (what, key, found[key], value)
    print(f"{what}: {len(found)} numbers equal")


def tensorboard():
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(f"{run}/tensorboard", size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()
    assert tags["tensors"] == ["recipe"], tags["tensors"]
    compare("tensorboard", {(tag, scalar.step): scalar.value for tag in tags["scalars"] for scalar in events.Scalars(tag)})


def mlflow():
    import mlflow

    client = mlflow.MlflowClient(url)
    (found,) = client.search_runs([client.get_experiment_by_name("check").experiment_id])
    assert found.info.status == "FINISHED", found.info.status
    assert found.data.params["model"] == "nano", found.data.params
    names = {re.sub(r"[^\w\-. /]", "_", name): name for name, _ in expected}
    history = [metric for name in found.data.metrics for metric in client.get_metric_history(found.info.run_id, name)]
    compare("mlflow", {(names.get(metric.key, metric.key), metric.step): metric.value for metric in history})


def wandb():
    from wandb.proto.wandb_internal_pb2 import Record

    (file,) = glob.glob(f"{run}/wandb/offline-run-*/*.wandb")
    found = {}
    ended = False
    for piece in log_records(open(file, "rb").read()):
        record = Record()
        record.ParseFromString(piece)
        ended = ended or record.HasField("exit")
        if not record.HasField("history"):
            continue
        values = {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        steps = {name: value for name, value in values.items() if re.fullmatch(r"(base|sft|rl)/step", name)}
        (step,) = steps.values()
        found.update({(name, step): value for name, value in values.items() if name not in steps and not name.startswith("_")})
    assert ended
    compare("wandb, offline", found)


def log_records(data):
    """Of LevelDB's log format: blocks of 32 KiB, each piece with CRC, length and kind (1 whole, 2 first, 3 middle, 4 last)."""
    at = 7
    whole = b""
    while at + 7 <= len(data):
        if at % 32768 > 32768 - 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        if kind not in (1, 2, 3, 4):
            break
        whole = (b"" if kind in (1, 2) else whole) + data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole


tensorboard()
mlflow()
wandb()
