"""The HTTP side: routes, the secret key, bodies and errors. What an endpoint does stands in `service.py`.

Bodies are read raw and parsed once, so that the requests a training run makes by the hundred cost little.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwise_engine.checkpoints import CheckpointStore
from toolwise_engine.errors import EngineError, sentence_for, user_error
from toolwise_engine.futures import Futures
from toolwise_engine.service import Service, Settings
from toolwise_engine.wire import encode, parse_body
from toolwise_engine.worker import Worker

PREFIX = "/api/v1"
MAX_BODY = 512 * 2**20
SWEEP_SECONDS = 5.0

Handler = Callable[[Request], Awaitable[Response]]


class State:
    """What the app runs on; the service is made when the HTTP loop starts."""

    def __init__(self, settings: Settings, store: CheckpointStore) -> None:
        self.settings = settings
        self.store = store
        self.service: Service | None = None
        self.worker: Worker | None = None

    def get(self) -> Service:
        assert self.service is not None
        return self.service


def make_app(settings: Settings, store: CheckpointStore, key: str) -> FastAPI:
    state = State(settings, store)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        futures = Futures(asyncio.get_running_loop())
        state.worker = Worker(futures, settings.threads)
        state.service = Service(settings, store, futures, state.worker)
        state.worker.start()
        keeper = asyncio.create_task(keep_house(state.service))
        yield
        keeper.cancel()
        futures.release_waiters()

    app = FastAPI(title="Toolwise engine", lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.engine = state
    app.router.routes.extend(make_routes(state))
    app.add_exception_handler(EngineError, answer_request_error)
    app.add_exception_handler(HTTPException, answer_http_exception)
    app.add_exception_handler(Exception, answer_bug)
    app.add_middleware(KeyCheck, key=key)
    return app


def make_routes(state: State) -> list[Route]:
    def post(path: str) -> Route:
        name = path.rpartition("/")[2]
        method = "client_config" if path == "client/config" else name

        async def handle(request: Request) -> Response:
            raw = await read_body(request)
            return json_response(encode(getattr(state.service, method)(parse_body(raw), raw)))

        return Route(f"{PREFIX}/{path}", handle, methods=["POST"])

    def get(path: str, answer: Callable[[Service, dict], dict], method: str = "GET") -> Route:
        async def handle(request: Request) -> Response:
            return json_response(encode(answer(state.get(), request.path_params)))

        return Route(f"{PREFIX}/{path}", handle, methods=[method])

    async def retrieve_future(request: Request) -> Response:
        return json_response(await state.get().retrieve_future(parse_body(await read_body(request))))

    async def delete_checkpoint(request: Request) -> Response:
        path = request.path_params
        return json_response(encode(await state.get().delete_checkpoint(path["id"], path["kind"], path["name"])))

    return [
        Route(f"{PREFIX}/retrieve_future", retrieve_future, methods=["POST"]),
        *map(
            post,
            ("asample", "forward_backward", "forward", "optim_step", "session_heartbeat", "create_session", "create_model", "get_info"),
        ),
        *map(post, ("unload_model", "save_weights", "save_weights_for_sampler", "load_weights", "create_sampling_session", "weights_info")),
        *map(post, ("client/config", "telemetry")),
        get("healthz", lambda service, path: service.health()),
        get("get_server_capabilities", lambda service, path: service.capabilities()),
        get("samplers/{id}", lambda service, path: service.get_sampler(path["id"])),
        get("samplers/{id}", lambda service, path: service.delete_sampler(path["id"]), "DELETE"),
        get("training_runs", lambda service, path: service.training_runs()),
        get("training_runs/{id}", lambda service, path: service.training_run(path["id"])),
        get("training_runs/{id}/checkpoints", lambda service, path: service.checkpoints(path["id"])),
        Route(f"{PREFIX}/training_runs/{{id}}/checkpoints/{{kind}}/{{name}}", delete_checkpoint, methods=["DELETE"]),
    ]


async def keep_house(service: Service) -> None:
    """Expire sessions and forget old results, for as long as the engine runs."""
    pause = min(SWEEP_SECONDS, max(0.05, service.settings.session_timeout / 4))
    while True:
        await asyncio.sleep(pause)
        try:
            service.expire_sessions()
            service.futures.sweep()
        except Exception:
            with contextlib.suppress(OSError):  # a full disk
                traceback.print_exc(file=sys.stderr)


async def read_body(request: Request) -> bytes:
    """The raw body; what is not plain JSON, or too long, is refused."""
    headers = request.headers
    kind = headers.get("content-type", "application/json")
    if not kind.startswith("application/json"):
        raise user_error(f'Content-Type is "{kind[:80]}": this engine takes application/json.', 415)
    if headers.get("content-encoding", "identity") != "identity":
        raise user_error("Content-Encoding is set: this engine takes bodies as they are.", 415)
    length = headers.get("content-length")
    if length is not None and length.isdigit() and int(length) > MAX_BODY:
        raise user_error(f"The body has {length} bytes: at most {MAX_BODY} are taken; send fewer sequences at a time.", 413)
    return await request.body()


def json_response(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def error_response(status: int, sentence: str, category: str) -> Response:
    return json_response(encode({"detail": sentence, "category": category}), status)


async def answer_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, EngineError)
    return error_response(error.status, error.message, error.category)


async def answer_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = {404: "This engine has no endpoint", 405: "This endpoint does not take"}.get(error.status_code, str(error.detail))
    return error_response(error.status_code, f"{what} {request.method} {request.url.path}.", "user")


async def answer_bug(request: Request, error: Exception) -> Response:
    category, sentence = sentence_for(error, request.url.path.rpartition("/")[2])
    return error_response(500, sentence, category)


class KeyCheck:
    """Lets only requests with the secret key through."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app = app
        self.key = key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = next((value for name, value in scope["headers"] if name == b"x-api-key"), b"")
            if not hmac.compare_digest(given, self.key):
                await error_response(401, "The X-API-Key header is missing or wrong.", "user")(scope, receive, send)
                return
        await self.app(scope, receive, send)
