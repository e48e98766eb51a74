"""The examples of the README work as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater

_ROOT: Final = Path(__file__).parents[3]
README: Final = (_ROOT / "README.md").read_text(encoding="utf-8")
VIEWS_JS: Final = (_ROOT / "frontend" / "js" / "views.js").read_text(encoding="utf-8")


def test_the_event_that_curl_sends_is_in_the_graph(headwater: SmallHeadwater) -> None:
    pattern = r"^curl .*(/api/v1/lineage).*'Content-Type: (.*?)' -d '(\{.*?\})'$"
    example = re.search(pattern, README, re.MULTILINE | re.DOTALL)
    assert example is not None
    path, content_type, body = example.groups()
    client = client_of(headwater, now=None)
    assert client.post(path, data=body, content_type=content_type).status_code == 201
    headwater.project()
    reply = client.get("/graph/lineage", query_string={"node": "dataset:s3://lake/orders"})
    nodes = [(node["kind"], node.get("uri") or node["name"]) for node in reply.get_json()["nodes"]]
    assert sorted(nodes) == [
        ("dataset", "s3://lake/orders"), ("dataset", "s3://landing/orders"), ("job", "load-orders"),
    ]  # fmt: skip


def test_every_page_of_the_table_is_a_view() -> None:
    shown = set(re.findall(r"/\?view=(\w+)", README))
    table = VIEWS_JS.partition("export const VIEWS")[2].partition("});")[0]
    views = set(re.findall(r"^  (\w+): \{", table, re.MULTILINE))
    assert {"journal", "tables", "jobs", "runs", "run"} <= shown <= views
