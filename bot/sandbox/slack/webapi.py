"""The HTTP edge as an app sees Slack: methods, uploads, response URLs; it must decide nothing about a call."""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.sandbox.slack.faults import Fault, Faults
from bot.sandbox.slack.methods import METHODS
from bot.sandbox.slack.methods.files import decoded, encoded
from bot.sandbox.slack.responses import answer_url
from bot.sandbox.slack.sockets import Sockets
from bot.sandbox.slack.wire import Call, Json, Refusal
from bot.sandbox.slack.workspace import Workspace

LARGEST_BODY = 16 * 1024 * 1024
BEARER = "bearer "
AWAY = "away"
CONNECTIONS_OPEN = "apps.connections.open"
"""The only method of the app-level token: it opens a connection of the app, and is no matter of the workspace."""


@dataclass(slots=True)
class WebApi:
    workspace: Workspace
    faults: Faults
    sockets: Sockets

    def routes(self) -> list[Route]:
        return [
            Route("/api/{method:path}", self.on_method, methods=["GET", "POST"]),
            Route("/upload/v1/{file}", self.on_upload, methods=["POST"]),
            Route("/response/{response}", self.on_response, methods=["POST"]),
            Route("/files/{file}", self.on_file, methods=["GET"]),
        ]

    async def on_method(self, request: Request) -> Response:
        name = request.path_params["method"]
        try:
            args = arguments(request, await body_of(request))
        except Refusal as refusal:
            return JSONResponse(refusal.body())
        token = token_of(request, args)
        limited = self._limited(name, args)
        if limited is not None:
            return limited

        def called() -> Response:
            if name == CONNECTIONS_OPEN:
                return JSONResponse(self.sockets.connections_open(token))
            headers = {"x-oauth-scopes": ",".join(sorted(self.workspace.state.scopes))}
            return JSONResponse(self.workspace.call(name, args, token), headers=headers)

        return await self._faulty(request, name, args, called)

    async def on_upload(self, request: Request) -> Response:
        try:
            body = await body_of(request)
        except Refusal as refusal:
            return JSONResponse(refusal.body(), status_code=413)
        args: Json = {"file": request.path_params["file"], "content": encoded(body)}

        def uploaded() -> Response:
            self.workspace.perform("files.upload", args, run=_upload(len(body)))
            return PlainTextResponse(f"OK - {len(body)}")

        return await self._faulty(request, "files.upload", args, uploaded, refusal_status=400)

    async def on_response(self, request: Request) -> Response:
        try:
            body = arguments(request, await body_of(request))
        except Refusal as refusal:
            return JSONResponse(refusal.body(), status_code=400)
        args: Json = {"response": request.path_params["response"], "body": body}

        def answered() -> Response:
            return JSONResponse(self.workspace.perform("response_url", args, run=answer_url))

        return await self._faulty(request, "response_url", args, answered, refusal_status=404)

    async def on_file(self, request: Request) -> Response:
        file = self.workspace.state.files.get(request.path_params["file"])
        if file is None or file["state"] == "waiting":
            return PlainTextResponse("file_not_found", status_code=404)
        kind = "image/png" if file["filetype"] == "png" else "text/plain; charset=utf-8"
        return Response(decoded(file), media_type=kind, headers={"x-content-type-options": "nosniff"})

    def _limited(self, name: str, args: Json) -> Response | None:
        method = METHODS.get(name)
        if method is None:
            return None
        channel = str(args.get("channel") or "") if method.per_channel else ""
        wait = self.workspace.rates.wait(name, tier=method.tier, channel=channel, now=self.workspace.clock())
        if not wait:
            return None
        self.workspace.remember(name, args, "ratelimited")
        return too_many(wait)

    async def _faulty(
        self, request: Request, name: str, args: Json, accept: Any, *, refusal_status: int = 200
    ) -> Response:
        """Let the call be accepted, or meet the fault that was ordered for it; while the workspace is away nothing is."""
        if self.workspace.state.away:
            self.workspace.remember(name, args, AWAY)
            return answered_with(503, None)
        fault = self.faults.next_for(name, args)
        if fault is not None:
            await asyncio.sleep(fault.delay_ms / 1000)
            spoiled = await spoiled_before(request, fault)
            if spoiled is not None:
                self.workspace.remember(name, args, spoiled_name(fault))
                return spoiled
        try:
            response: Response = await run_in_threadpool(accept)
        except Refusal as refusal:
            self.workspace.remember(name, args, refusal.error)
            return JSONResponse(refusal.body(), status_code=refusal_status)
        outcome = "ok" if fault is None or fault.after is None else f"accepted, then {fault.after}"
        self.workspace.remember(name, args, outcome)
        if fault is not None and fault.after is not None:
            return await spoiled_after(request, fault)
        return response


def _upload(size: int) -> Any:
    def run(call: Call) -> Json:
        file = call.state.files.get(call.args.required("file"))
        if file is None:
            raise Refusal("file_not_found")
        if size != file["length"]:
            raise Refusal("length_mismatch", expected=file["length"])
        return {"ok": True}

    return run


async def body_of(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refusal("request_too_large")
    return bytes(body)


def arguments(request: Request, body: bytes) -> Json:
    """The arguments of a call, from the query, a form or a JSON object."""
    args: Json = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body:
        return args
    if kind == "application/json":
        try:
            decoded_body = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as broken:
            raise Refusal("invalid_json") from broken
        if not isinstance(decoded_body, dict):
            raise Refusal("json_not_object")
        return {**args, **decoded_body}
    if kind == "application/x-www-form-urlencoded":
        try:
            return {**args, **dict(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True))}
        except ValueError as broken:
            raise Refusal("invalid_form_data") from broken
    raise Refusal("invalid_post_type")


def token_of(request: Request, args: Json) -> str | None:
    """The token of the header, else of the arguments, where it does not stay."""
    given = args.pop("token", None)
    header = request.headers.get("authorization", "")
    if header.lower().startswith(BEARER):
        return header[len(BEARER) :].strip()
    return given if isinstance(given, str) else None


def too_many(wait: int) -> Response:
    return JSONResponse({"ok": False, "error": "ratelimited"}, status_code=429, headers={"retry-after": str(wait)})


def answered_with(status: int, retry_after: int | None) -> Response:
    if status == 429:
        return too_many(retry_after or 1)
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return PlainTextResponse("The server could not answer this request.", status_code=status, headers=headers)


def spoiled_name(fault: Fault) -> str:
    return fault.error or (f"status {fault.status}" if fault.status else f"{fault.before} before acceptance")


async def spoiled_before(request: Request, fault: Fault) -> Response | None:
    if fault.before is not None:
        return await silenced(request, fault.before)
    if fault.after is not None:
        return None
    if fault.error is not None:
        return JSONResponse({"ok": False, "error": fault.error}, status_code=fault.status or 200)
    return answered_with(fault.status, fault.retry_after) if fault.status else None


async def spoiled_after(request: Request, fault: Fault) -> Response:
    if fault.after == "status":
        return answered_with(fault.status or 500, fault.retry_after)
    return await silenced(request, str(fault.after))


async def silenced(request: Request, how: str) -> Response:
    """No answer: cut the connection, or keep it open until the other side goes away."""
    abort = request.scope.get("state", {}).get("abort")
    if how == "drop":
        if abort is None:
            raise ConnectionResetError("dropped")
        abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue
    return Response(status_code=500)
