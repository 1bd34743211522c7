"""Starts a SkyRL server on the CPU without `uv run`, for checks of our client against it. Prints a line of JSON when it may be asked.

Arguments: the model's folder, the port, a folder for the database and checkpoints. Ends when its stdin closes.
"""

from __future__ import annotations

import json
import os
import sys
import threading

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import uvicorn  # noqa: E402
from skyrl.tinker import api  # noqa: E402
from skyrl.tinker.config import EngineConfig, config_to_argv  # noqa: E402


def main() -> None:
    model, port, folder = sys.argv[1:4]
    backend = {"max_lora_adapters": 8, "max_lora_rank": 16, "train_micro_batch_size": 8, "sample_max_num_sequences": 64}
    api._build_uv_run_cmd_engine = lambda parent, config: [sys.executable, "-m", "skyrl.tinker.engine", *config_to_argv(config)]
    api.app.state.engine_config = EngineConfig(
        base_model=model,
        backend="jax",
        backend_config=backend,
        database_url=f"sqlite:///{folder}/skyrl.db",
        checkpoints_base=f"{folder}/checkpoints",
    )
    server = uvicorn.Server(uvicorn.Config(api.app, host="127.0.0.1", port=int(port), log_level="warning"))

    def end_with_stdin() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end_with_stdin, daemon=True).start()
    print(json.dumps({"event": "starting", "port": int(port)}), flush=True)
    server.run()


if __name__ == "__main__":
    main()
