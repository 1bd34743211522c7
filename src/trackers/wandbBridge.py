"""Calls the user's own wandb package: one line of JSON in, one out. Knows no runs: see wandb.ts."""

import contextlib
import json
import sys

answers = sys.stdout
run = None


def start(message):
    global run
    try:
        import wandb
    except ImportError:
        python = sys.executable
        return {
            "gone": f"{python} has no package wandb: `{python} -m pip install wandb`, or name a Python that has it in TOOLWISE_WANDB_PYTHON"
        }
    run = wandb.init(
        project=message["project"],
        entity=message.get("entity"),
        id=message["id"],
        name=message["name"],
        config=message["config"],
        dir=message["folder"],
        resume="allow",
    )
    for axis in ("base", "sft", "rl"):
        run.define_metric(f"{axis}/step")
        run.define_metric(f"{axis}/*", step_metric=f"{axis}/step")
        run.define_metric(f"evaluation/{axis}/*", step_metric=f"{axis}/step")
    return {"ok": True}


def log(message):
    for point in message["points"]:
        run.log({**point["values"], f"{point['axis']}/step": point["step"]})
    return {"ok": True}


def alarm(message):
    run.alert(title=message["title"], text=message["text"])
    return {"ok": True}


def end(message):
    run.finish(exit_code=message["exitCode"])
    return {"ok": True}


ACTIONS = {"start": start, "log": log, "alarm": alarm, "end": end}

for line in sys.stdin:
    message = json.loads(line)
    try:
        # what the package prints must not stand among the answers
        with contextlib.redirect_stdout(sys.stderr):
            answer = ACTIONS[message["kind"]](message)
    except Exception as error:  # noqa: BLE001
        answer = {"error": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
