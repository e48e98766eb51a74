"""Documents in files: their lines, the folder's bound, and that each is delivered once."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from spark_agent_config.delivery import Away, Post, Refused
from spark_agent_config.document_file import LineWriter, append, read_line
from spark_agent_config.spill import Spill, default_folder, server_digest


def plan(name: str) -> Post:
    return Post("execution-plans", {"id": name})


def event(name: str) -> Post:
    return Post("execution-events", [{"planId": name}])


def spill(folder: Path, process: str = "p", **more: Any) -> Spill:
    return Spill(folder, "server", process, **more)


def deliver(kept: Spill, send: Callable[[Post], None]) -> None:
    for _ in kept.redelivery(send):
        pass


class Taker:
    """Takes posts; the call with the given number (from 1) raises."""

    def __init__(self, fails_at: int = 0, error: Exception | None = None) -> None:
        self.taken: list[Post] = []
        self._fails_at = fails_at
        self._error = error
        self._calls = 0

    def __call__(self, post: Post) -> None:
        self._calls += 1
        if self._calls == self._fails_at and self._error is not None:
            raise self._error
        self.taken.append(post)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- lines -------------------------------------------------------------------------------------


def test_a_line_has_the_fields_of_an_exported_journal() -> None:
    writer = LineWriter(now=lambda: 1_700_000_000_000)

    scoped = Post("execution-plans", {"id": "ä", "labels": {"captureScope": [" lab "]}})
    lines = writer.lines(scoped) + writer.lines(event("ä"))

    first, second = (json.loads(line) for line in lines.splitlines())
    assert first == {
        "position": 1,
        "kind": "plan",
        "apiVersion": "1.2",
        "planId": "ä",
        "scope": "lab",
        "receivedAt": 1_700_000_000_000,
        "body": scoped.document,
    }
    assert (second["position"], second["kind"], second["scope"]) == (2, "event", "")
    assert second["body"] == {"planId": "ä"}
    assert lines.isascii()


@pytest.mark.parametrize("post", [plan("a"), event("a")])
def test_a_line_is_read_back_as_the_request_it_was(post: Post) -> None:
    assert read_line(LineWriter().lines(post)) == post


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b'{"kind": "plan", "apiVer',
        b"[1]",
        b"null",
        b'{"kind": "cat", "apiVersion": "1.2", "body": {}}',
        b'{"kind": ["plan"], "apiVersion": "1.2", "body": {}}',
        b'{"kind": "plan", "apiVersion": "9", "body": {}}',
        b'{"kind": "plan", "apiVersion": "1.2", "body": []}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_torn_or_foreign_line_is_nothing(line: bytes) -> None:
    assert read_line(line) is None


def test_a_line_that_a_crash_has_cut_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"torn": ')

    append(path, b"whole\n")

    assert path.read_bytes().splitlines() == [b'{"torn": ', b"whole"]


def test_a_disk_that_fills_up_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ndjson"
    append(path, b"first\n")

    class Full(FileIO):
        def write(self, data: Any) -> int:
            if len(data) < 4:
                raise OSError(28, "No space left on device")
            return super().write(data[:4])

    def full(descriptor: int, *_: Any, **__: Any) -> Full:
        return Full(descriptor, "r+b")

    with monkeypatch.context() as patched:
        patched.setattr("os.fdopen", full)
        with pytest.raises(OSError, match="No space"):
            append(path, b"second\n")

    assert path.read_bytes() == b"first\n"


def test_a_link_that_someone_laid_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / "a.ndjson").symlink_to(target)

    with pytest.raises(OSError, match="symbolic links"):
        append(tmp_path / "a.ndjson", b"x\n")
    assert target.read_text() == "mine"


_APPENDER = """
import sys
from pathlib import Path
from spark_agent_config.document_file import append
for number in range(100):
    append(Path(sys.argv[1]), b"x" * 5000 + b"\\n")
"""


def test_processes_that_share_a_file_do_not_cut_each_others_lines(tmp_path: Path) -> None:
    path = tmp_path / "shared.ndjson"
    command = [sys.executable, "-c", _APPENDER, str(path)]
    processes = [subprocess.Popen(command) for _ in range(3)]

    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert path.read_bytes() == (b"x" * 5000 + b"\n") * 300


# --- the folder --------------------------------------------------------------------------------


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    kept = spill(tmp_path / "new")
    kept.keep(plan("a"))

    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_kept_is_delivered_in_its_order_and_gone(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for post in (plan("a"), event("a"), plan("b"), event("b")):
        kept.keep(post)
    taker = Taker()

    deliver(spill(tmp_path, "later"), taker)

    assert taker.taken == [plan("a"), event("a"), plan("b"), event("b")]
    assert names(tmp_path) == []


def test_what_is_not_delivered_stays_and_what_failed_holds_up_nobody(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for post in (plan("a"), plan("b"), event("b"), plan("c")):
        kept.keep(post)
    taker = Taker(2, Away("gone"))

    with pytest.raises(Away):
        deliver(kept, taker)
    deliver(kept, taker)

    assert taker.taken == [plan("a"), plan("c"), plan("b"), event("b")]
    assert names(tmp_path) == []


def test_a_delivery_that_is_stopped_keeps_the_rest(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for name in ("a", "b", "c"):
        kept.keep(plan(name))
    first, second = Taker(), Taker()

    steps = kept.redelivery(first)
    next(steps)
    steps.close()
    deliver(spill(tmp_path, "later"), second)

    assert first.taken + second.taken == [plan("a"), plan("b"), plan("c")]


def test_a_delivery_that_is_stopped_at_its_end_leaves_nothing(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.keep(plan("a"))

    steps = kept.redelivery(Taker())
    next(steps)
    steps.close()

    assert names(tmp_path) == []


def test_two_processes_do_not_deliver_one_file(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.keep(plan("a"))
    kept.keep(plan("b"))
    first, second = Taker(), Taker()

    steps = spill(tmp_path, "one").redelivery(first)
    next(steps)
    deliver(spill(tmp_path, "two"), second)
    for _ in steps:
        pass

    assert (first.taken, second.taken) == ([plan("a"), plan("b")], [])
    assert names(tmp_path) == []


def test_a_file_is_delivered_while_its_process_goes_on(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.keep(plan("a"))
    taker = Taker()

    steps = spill(tmp_path, "later").redelivery(taker)
    next(steps)
    kept.keep(plan("b"))
    for _ in steps:
        pass
    assert len(names(tmp_path)) == 1
    deliver(spill(tmp_path, "latest"), taker)

    assert taker.taken == [plan("a"), plan("b")]


def test_a_delivery_that_died_is_taken_up(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.keep(plan("a"))
    (path,) = tmp_path.iterdir()
    path.rename(path.with_name(path.name + ".claimed"))
    taker = Taker()

    deliver(spill(tmp_path, "later"), taker)

    assert taker.taken == [plan("a")]
    assert names(tmp_path) == []


def test_a_refused_plan_is_set_aside_with_its_event_and_never_sent_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = spill(tmp_path)
    for post in (plan("bad"), event("bad"), plan("good"), event("good")):
        kept.keep(post)
    taker = Taker(1, Refused("400: no"))

    deliver(kept, taker)
    deliver(kept, taker)

    assert taker.taken == [plan("good"), event("good")]
    assert names(tmp_path) == ["server-p-0001.ndjson.refused"]
    aside = (tmp_path / "server-p-0001.ndjson.refused").read_bytes().splitlines()
    assert [read_line(line) for line in aside] == [plan("bad"), event("bad")]
    assert len(caplog.records) == 1


def test_a_torn_last_line_does_not_stop_the_others(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.keep(plan("a"))
    (path,) = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(b'{"kind": "pl')
    taker = Taker()

    deliver(kept, taker)

    assert taker.taken == [plan("a")]
    assert names(tmp_path) == []


def test_files_of_another_server_are_left_alone(tmp_path: Path) -> None:
    Spill(tmp_path, "other", "p").keep(plan("a"))
    taker = Taker()

    deliver(spill(tmp_path), taker)

    assert taker.taken == []
    assert len(names(tmp_path)) == 1


def test_the_folder_stays_below_its_bound_and_the_oldest_go_first(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = spill(tmp_path, most_bytes=4000)
    for number in range(100):
        kept.keep(plan(f"{number:03}"))
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 4000
    taker = Taker()

    deliver(kept, taker)

    survivors = [post.document["id"] for post in taker.taken]
    assert len(survivors) > 10
    assert survivors == [f"{number:03}" for number in range(100 - len(survivors), 100)]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_document_larger_than_the_folder_may_be_is_not_kept(tmp_path: Path) -> None:
    kept = spill(tmp_path, most_bytes=4000)
    kept.keep(plan("a"))

    with pytest.raises(OSError, match="larger"):
        kept.keep(plan("x" * 4000))
    assert len(names(tmp_path)) == 1


def test_a_folder_that_is_not_there_has_nothing_to_deliver(tmp_path: Path) -> None:
    deliver(spill(tmp_path / "missing"), Taker())


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "/home/me/.local/state/headwater/spill"),
        ("linux", {"XDG_STATE_HOME": "/state"}, "/state/headwater/spill"),
        ("darwin", {}, "/home/me/Library/Application Support/headwater/spill"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/headwater/spill"),
    ],
)
def test_the_default_folder_is_the_users(
    platform: str, environment: dict[str, str], expected: str
) -> None:
    assert default_folder(environment, platform, Path("/home/me")) == Path(expected)


def test_a_server_is_one_address_and_one_key() -> None:
    assert server_digest("http://a/", "k") == server_digest("http://a", "k")
    assert len({server_digest("http://a", k) for k in (None, "k", "l")}) == 3
    assert server_digest("http://a", None) != server_digest("http://b", None)
