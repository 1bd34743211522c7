"""Starts the engine: `python -m toolwise_engine --model NAME=FOLDER --checkpoints DIR`, with the secret key in TOOLWISE_ENGINE_KEY.

Prints one JSON line on stdout when it serves, and logs to stderr. Ends on SIGTERM or SIGINT, and when its stdin closes: the parent is gone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from toolwise_engine.base_model import BaseModel, read_base_model
from toolwise_engine.checkpoints import CheckpointStore
from toolwise_engine.device import DEVICES, choose_device
from toolwise_engine.errors import EngineError, user_error
from toolwise_engine.precision import DTYPES
from toolwise_engine.threads import choose_threads

KEY_VARIABLE = "TOOLWISE_ENGINE_KEY"
STOP_SECONDS = 5.0


def main() -> int:
    options = parse_options()
    key = os.environ.pop(KEY_VARIABLE, "")
    if not key:
        return give_up(f"{KEY_VARIABLE} is not set: the engine serves only who knows its key.")
    die_with_parent()
    try:
        device = choose_device(options.device)
        models = {name: read_base_model(name, folder, options.dtype, device) for name, folder in options.model}
        store = CheckpointStore(options.checkpoints)
        listener = listen(options.port)
    except EngineError as error:
        return give_up(error.message)
    except OSError as error:
        return give_up(f"The engine cannot start: {error}.")
    threads = choose_threads(options.threads)
    serve(models, store, key, listener, threads, device, options)
    sys.stderr.flush()
    os._exit(0)  # The worker may be deep in a tensor operation, which nothing can interrupt.


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="toolwise_engine", description="Trains and samples language models on this machine.")
    parser.add_argument("--model", action="append", required=True, type=named_folder, metavar="NAME=FOLDER", help="a base model to serve")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="number format of the compute copies")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="auto: a GPU that torch can use, else the CPU")
    parser.add_argument(
        "--threads", type=thread_count, default="auto", metavar="auto|N", help="threads of torch; auto: cores that are free"
    )
    parser.add_argument("--checkpoints", type=Path, required=True, metavar="DIR", help="where checkpoints are kept")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--session-timeout", type=positive, default=300.0, metavar="SECONDS", help="silence after which a session ends")
    parser.add_argument(
        "--poll-seconds", type=positive, default=40.0, metavar="SECONDS", help="how long retrieve_future waits for a result"
    )
    parser.add_argument("--kept-snapshots", type=int, default=4, metavar="N", help="unsaved snapshots kept of each model")
    return parser.parse_args()


def named_folder(text: str) -> tuple[str, Path]:
    name, separator, folder = text.partition("=")
    if not separator or not name or not folder:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=FOLDER")
    return name, Path(folder)


def thread_count(text: str) -> str:
    if text != "auto" and not (text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r}: expected auto or a number of at least 1")
    return text


def positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return value


def listen(port: int) -> socket.socket:
    """A listening socket on the loopback address only."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise user_error(f"Port {port} of 127.0.0.1 is in use: choose another, or 0 for any free one.") from None
        raise
    return listener


def serve(
    models: dict[str, BaseModel],
    store: CheckpointStore,
    key: str,
    listener: socket.socket,
    threads: int,
    device: str,
    options: argparse.Namespace,
) -> None:
    import torch
    import transformers
    import uvicorn

    from toolwise_engine.app import make_app
    from toolwise_engine.service import Settings

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    settings = Settings(
        models=models,
        threads=threads,
        device=device,
        session_timeout=options.session_timeout,
        poll_seconds=options.poll_seconds,
        kept_snapshots=options.kept_snapshots,
    )
    app = make_app(settings, store, key)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, timeout_keep_alive=120, backlog=2048, server_header=False
    )

    class Server(uvicorn.Server):
        """Says once that it serves; takes its signals from us, so that a wished end is a clean one."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.should_exit:
                return
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self.stop)
            watch_stdin(lambda: loop.call_soon_threadsafe(self.stop))
            print(json.dumps({"event": "ready", "port": listener.getsockname()[1], "pid": os.getpid()}), flush=True)

        def stop(self) -> None:
            self.should_exit = True
            threading.Timer(STOP_SECONDS + 2, os._exit, (0,)).start()
            state = app.state.engine
            if state.service is not None:
                state.service.futures.release_waiters()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    Server(config).run(sockets=[listener])
    worker = app.state.engine.worker
    if worker is not None:
        worker.stop(STOP_SECONDS)


def watch_stdin(then: Callable[[], object]) -> None:
    """Call `then` when stdin closes."""

    def watch() -> None:
        with contextlib.suppress(OSError, ValueError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            then()

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def die_with_parent() -> None:
    """On Linux the kernel sends SIGTERM when the parent dies, even while nothing reads stdin."""
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)


def give_up(sentence: str) -> int:
    print(sentence, file=sys.stderr, flush=True)
    return 2


if __name__ == "__main__":
    sys.exit(main())
