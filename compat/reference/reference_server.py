"""Runs the reference server of the weave package in this process, on SQLite, with bodies of the wire.

The package's own adapter turns `entity/project` and refs into internal ones and back, as the service does. The
reference reads the user from the request, and the service from the credentials, so the user is added here.
"""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from weave.trace_server import trace_server_interface as tsi
from weave.trace_server.errors import handle_server_exception
from weave.trace_server.external_to_internal_trace_server_adapter import (
    ExternalTraceServer,
    IdConverter,
)
from weave.trace_server.sqlite_trace_server import SqliteTraceServer, close_conn_cursor

from answers import Answer

METHODS: dict[str, tuple[str, type[BaseModel]]] = {
    "/call/start": ("call_start", tsi.CallStartReq),
    "/call/end": ("call_end", tsi.CallEndReq),
    "/call/update": ("call_update", tsi.CallUpdateReq),
    "/calls/delete": ("calls_delete", tsi.CallsDeleteReq),
    "/call/read": ("call_read", tsi.CallReadReq),
    "/calls/stream_query": ("calls_query_stream", tsi.CallsQueryReq),
    "/calls/query_stats": ("calls_query_stats", tsi.CallsQueryStatsReq),
    "/obj/create": ("obj_create", tsi.ObjCreateReq),
    "/obj/read": ("obj_read", tsi.ObjReadReq),
    "/obj/delete": ("obj_delete", tsi.ObjDeleteReq),
    "/objs/query": ("objs_query", tsi.ObjQueryReq),
    "/refs/read_batch": ("refs_read_batch", tsi.RefsReadBatchReq),
    "/table/create": ("table_create", tsi.TableCreateReq),
    "/table/update": ("table_update", tsi.TableUpdateReq),
    "/table/create_from_digests": ("table_create_from_digests", tsi.TableCreateFromDigestsReq),
    "/table/query": ("table_query", tsi.TableQueryReq),
    "/table/query_stats_batch": ("table_query_stats_batch", tsi.TableQueryStatsBatchReq),
    "/feedback/create": ("feedback_create", tsi.FeedbackCreateReq),
    "/feedback/query": ("feedback_query", tsi.FeedbackQueryReq),
    "/feedback/purge": ("feedback_purge", tsi.FeedbackPurgeReq),
    "/cost/create": ("cost_create", tsi.CostCreateReq),
    "/cost/query": ("cost_query", tsi.CostQueryReq),
    "/cost/purge": ("cost_purge", tsi.CostPurgeReq),
}
COMPLETE = "/calls/complete"
WITH_USER = {"/calls/delete", "/call/update", "/feedback/create", "/cost/create"}


class ReferenceServer:
    """The reference. It answers as HTTP does, with a status and a body without pydantic objects."""

    def __init__(self, folder: Path, user_id: str) -> None:
        self._path = str(folder / "reference.sqlite")
        inner = SqliteTraceServer(self._path)
        inner.setup_tables()
        self._server = ExternalTraceServer(inner, _Ids())
        self._user_id = user_id

    def close(self) -> None:
        close_conn_cursor(self._path)

    def ask(self, path: str, body: dict[str, Any]) -> Answer:
        if path == "/call/upsert_batch":  # The adapter does not convert batches.
            answers = [self.ask(f"/call/{item['mode']}", item["req"]) for item in body["batch"]]
            return next((answer for answer in answers if answer.status != 200), Answer(200, {}))
        try:
            return Answer(200, _plain(self._call(path, self._with_user(path, body))))
        except ValidationError as error:
            return Answer(422, str(error))
        except Exception as error:  # Any other is what the service's handler makes of it.
            return Answer(handle_server_exception(error).status_code, repr(error))

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        if path.endswith(COMPLETE):
            return self._server.calls_complete(tsi.CallsUpsertCompleteReq(**body))
        name, model = METHODS[path]
        method: Callable[[Any], Any] = getattr(self._server, name)
        return method(model(**body))

    def _with_user(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        user = {"wb_user_id": self._user_id}
        if path.endswith(COMPLETE):
            return {"batch": [{**call, **user} for call in body["batch"]]}
        if path in WITH_USER:
            return {**body, **user}
        for part in ("start", "obj"):
            if part in body:
                return {part: {**body[part], **user}}
        return body


class _Ids(IdConverter):
    """Converts project ids to internal ones, as the service does; ids of users and runs stay."""

    def ext_to_int_project_id(self, project_id: str) -> str:
        return base64.urlsafe_b64encode(f"ProjectInternalId:{project_id}".encode()).decode()

    def int_to_ext_project_id(self, project_id: str) -> str | None:
        return base64.urlsafe_b64decode(project_id).decode().removeprefix("ProjectInternalId:")

    def ext_to_int_run_id(self, run_id: str) -> str:
        return run_id

    def int_to_ext_run_id(self, run_id: str) -> str:
        return run_id

    def ext_to_int_user_id(self, user_id: str) -> str:
        return user_id

    def int_to_ext_user_id(self, user_id: str) -> str:
        return user_id


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if isinstance(value, Iterator):
        return [_plain(one) for one in value]
    return value
