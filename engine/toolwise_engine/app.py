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

import zstandard
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwise_engine import proto
from toolwise_engine.checkpoints import CheckpointStore
from toolwise_engine.errors import EngineError, sentence_for, user_error
from toolwise_engine.futures import Futures
from toolwise_engine.sample_stream import SampleStream
from toolwise_engine.service import Service, Settings
from toolwise_engine.wire import encode, parse_body
from toolwise_engine.worker import Worker

PREFIX = "/api/v1"
MAX_BODY = 128 * 2**20
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
        state.worker = Worker(futures, settings.threads, settings.device)
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
        method = path.replace("/", "_") if path.startswith("client/") else name

        async def handle(request: Request) -> Response:
            raw = await read_body(request)
            return json_response(encode(getattr(state.service, method)(parse_body(raw), raw)))

        return Route(f"{PREFIX}/{path}", handle, methods=["POST"])

    def get(path: str, answer: Callable[[Service, dict], dict], method: str = "GET") -> Route:
        async def handle(request: Request) -> Response:
            return json_response(encode(answer(state.get(), {"query": request.query_params, **request.path_params})))

        return Route(f"{PREFIX}/{path}", handle, methods=[method])

    async def retrieve_future(request: Request) -> Response:
        result = await state.get().retrieve_future(parse_body(await read_body(request)))
        if proto.CONTENT_TYPE in request.headers.get("accept", ""):
            message = proto.write_result(result)
            if message is not None:
                return Response(message, media_type=proto.CONTENT_TYPE)
        return json_response(result)

    async def stream_future(request: Request) -> SampleStream:
        return state.get().stream_future(parse_body(await read_body(request)))

    async def forward_backward(request: Request) -> Response:
        if not request.headers.get("content-type", "").startswith(proto.CONTENT_TYPE):
            raw = await read_body(request)
            return json_response(encode(state.get().forward_backward(parse_body(raw), raw)))
        raw = await read_body(request, proto.CONTENT_TYPE)
        body, forward_only = proto.read_training_request(raw)
        answer = state.get().forward if forward_only else state.get().forward_backward
        return json_response(encode(answer(body, raw)))

    async def delete_checkpoint(request: Request) -> Response:
        path = request.path_params
        return json_response(encode(await state.get().delete_checkpoint(path["id"], path["kind"], path["name"])))

    return [
        Route(f"{PREFIX}/retrieve_future", retrieve_future, methods=["POST"]),
        Route(f"{PREFIX}/stream_future", stream_future, methods=["POST"]),
        Route(f"{PREFIX}/forward_backward", forward_backward, methods=["POST"]),
        *map(
            post,
            ("asample", "forward", "optim_step", "session_heartbeat", "create_session", "create_model", "get_info"),
        ),
        *map(post, ("unload_model", "save_weights", "save_weights_for_sampler", "load_weights", "create_sampling_session", "weights_info")),
        *map(post, ("client/config", "client/dynamic_config", "telemetry")),
        get("healthz", lambda service, path: service.health()),
        get("get_server_capabilities", lambda service, path: service.capabilities()),
        get("samplers/{id}", lambda service, path: service.get_sampler(path["id"])),
        get("samplers/{id}", lambda service, path: service.delete_sampler(path["id"]), "DELETE"),
        get("training_runs", lambda service, path: service.listings.training_runs(path["query"])),
        get("checkpoints", lambda service, path: service.listings.all_checkpoints(path["query"])),
        get("sessions", lambda service, path: service.listings.list_sessions(path["query"])),
        get("sessions/{id}", lambda service, path: service.listings.session(path["id"])),
        get("training_runs/{id}", lambda service, path: service.listings.training_run(path["id"])),
        get("training_runs/{id}/checkpoints", lambda service, path: service.listings.checkpoints(path["id"])),
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


async def read_body(request: Request, wanted: str = "application/json") -> bytes:
    """The raw body, unpacked where it is a packed message; what is of another kind, or too long, is refused."""
    headers = request.headers
    kind = headers.get("content-type", wanted)
    if not kind.startswith(wanted):
        raise user_error(f'Content-Type is "{kind[:80]}": this engine takes {wanted} here.', 415)
    packing = headers.get("content-encoding", "identity")
    if packing != "identity" and (packing != "zstd" or wanted == "application/json"):
        raise user_error(
            f'Content-Encoding is "{packing[:80]}": this engine takes JSON as it is, and messages as they are or as zstd.', 415
        )
    length = headers.get("content-length")
    if length is not None and length.isdigit() and int(length) > MAX_BODY:
        raise user_error(f"The body has {length} bytes: at most {MAX_BODY} are taken; send fewer sequences at a time.", 413)
    pieces, size = [], 0
    async for piece in request.stream():  # A body sent in chunks announces no length.
        size += len(piece)
        if size > MAX_BODY:
            raise user_error(f"The body has more than {MAX_BODY} bytes; send fewer sequences at a time.", 413)
        pieces.append(piece)
    body = b"".join(pieces)
    return unpack(body) if packing == "zstd" else body


def unpack(body: bytes) -> bytes:
    """A zstd body; one that would unfold to more than a body may have is refused, however small it comes."""
    pieces, size = [], 0
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=128 * 2**20).stream_reader(body)
        while piece := reader.read(2**20):
            size += len(piece)
            if size > MAX_BODY:
                raise user_error(f"The body unfolds to more than {MAX_BODY} bytes: send fewer sequences at a time.", 413)
            pieces.append(piece)
    except zstandard.ZstdError:
        raise user_error("The body is no whole zstd frame.") from None
    return b"".join(pieces)


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
