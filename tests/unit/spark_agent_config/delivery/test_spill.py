"""Documents in files: their lines, the folder's bound, and that each is delivered once."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from graph_model.documents.files import Piece, recognise
from spark_agent_config.delivery.document_files import (
    FileSender,
    LineWriter,
    Spill,
    append,
    default_folder,
    read_line,
    server_digest,
)
from spark_agent_config.delivery.outbox import Outbox
from spark_agent_config.delivery.post import Away, DocumentRejected, Misconfigured, Post


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
from spark_agent_config.delivery.document_files import append
for number in range(100):
    append(Path(sys.argv[1]), b"x" * 5000 + b"\\n")
"""


def test_processes_that_share_a_file_do_not_cut_each_others_lines(tmp_path: Path) -> None:
    path = tmp_path / "shared.ndjson"
    command = [sys.executable, "-c", _APPENDER, str(path)]
    processes = [subprocess.Popen(command) for _ in range(3)]

    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert path.read_bytes() == (b"x" * 5000 + b"\n") * 300


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")],
    ids=lambda error: str(error.errno),
)
def test_a_file_instead_of_a_server_that_cannot_be_written_is_told_once_and_counted(
    tmp_path: Path,
    error: OSError,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("spark_agent_config.delivery.document_files.append", fail)
    send = FileSender(tmp_path / "a.ndjson")
    box: Outbox[str] = Outbox(lambda name: [plan(name)], send, first_pause=0, longest_pause=0)
    for name in "abc":
        assert box.offer(name)
    assert box.close(60)

    assert box.counts().dropped == 3
    first, last = (record.getMessage() for record in caplog.records)
    assert first == (
        f"Lineage is not delivered, the job goes on: {tmp_path}/a.ndjson: {error.strerror}"
    )
    assert last == "Lineage at the end of the run: 3 queries are lost"


# --- the folder --------------------------------------------------------------------------------


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    kept = spill(tmp_path / "new")
    kept.keep(plan("a"))

    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_kept_documents_are_delivered_in_their_order_and_gone(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for post in (plan("a"), event("a"), plan("b"), event("b")):
        kept.keep(post)
    taker = Taker()

    deliver(spill(tmp_path, "later"), taker)

    assert taker.taken == [plan("a"), event("a"), plan("b"), event("b")]
    assert names(tmp_path) == []


def test_undelivered_documents_stay_and_a_failed_one_holds_up_nobody(tmp_path: Path) -> None:
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


def is_claimed(folder: Path) -> list[bool]:
    return [name.endswith(".claimed") for name in names(folder)]


def test_a_delivery_that_ends_early_leaves_no_claim(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for name in "abc":
        kept.keep(plan(name))
    (before,) = names(tmp_path)

    steps = kept.redelivery(Taker())
    next(steps)
    assert is_claimed(tmp_path) == [True]
    steps.close()

    assert names(tmp_path) == [before]


def test_a_process_leaves_its_file_alone_while_it_is_delivered(tmp_path: Path) -> None:
    kept, taker = spill(tmp_path), Taker()
    for name in "abc":
        kept.keep(plan(name))

    steps = kept.redelivery(taker)
    next(steps)
    kept.keep(plan("d"))
    steps.close()

    assert is_claimed(tmp_path) == [False, False]
    deliver(spill(tmp_path, "later"), taker)
    assert sorted(post.document["id"] for post in taker.taken) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("trouble", ["the name is taken", "the folder makes no links"])
def test_a_file_that_cannot_get_its_name_back_stays_claimed_and_is_delivered_later(
    tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, taker = spill(tmp_path), Taker()
    kept.keep(plan("a"))
    kept.keep(plan("b"))
    (path,) = tmp_path.iterdir()
    steps = kept.redelivery(taker)
    next(steps)
    if trouble == "the name is taken":
        path.write_bytes(LineWriter().lines(plan("c")))
    else:
        monkeypatch.setattr("os.link", FailingLink())

    steps.close()

    assert True in is_claimed(tmp_path)
    deliver(spill(tmp_path, "later"), taker)
    deliver(spill(tmp_path, "latest"), taker)
    assert taker.taken[:2] == [plan("a"), plan("b")]
    assert taker.taken[2:] == [plan("c")] * (trouble == "the name is taken")
    assert names(tmp_path) == []


class FailingLink:
    def __call__(self, *_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")


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
    taker = Taker(1, DocumentRejected("400: no"))

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


def test_a_mistake_in_the_settings_leaves_everything_where_it_was(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    for post in (plan("a"), event("a"), plan("b")):
        kept.keep(post)
    taker = Taker(2, Misconfigured("401"))

    with pytest.raises(Misconfigured):
        deliver(kept, taker)
    deliver(kept, taker)

    assert taker.taken == [plan("a"), event("a"), plan("b")]
    assert names(tmp_path) == []


def test_a_refused_document_says_why_and_can_be_imported(tmp_path: Path) -> None:
    kept = spill(tmp_path)
    kept.set_aside(plan("a"), "400: ‘operations’ is missing")
    kept.set_aside(event("a"), "400: ‘operations’ is missing")
    kept.keep(plan("b"))
    deliver(kept, Taker(1, DocumentRejected("413: too large")))

    (path,) = tmp_path.iterdir()
    assert path.name == "server-p-0001.ndjson.refused"
    lines = path.read_bytes().splitlines()
    assert [json.loads(line)["refused"] for line in lines] == [
        "400: ‘operations’ is missing",
        "400: ‘operations’ is missing",
        "413: too large",
    ]
    assert [read_line(line) for line in lines] == [plan("a"), event("a"), plan("b")]
    assert imported(path) == [("plan", "a"), ("event", "a"), ("plan", "b")]


def test_the_event_of_a_plan_refused_in_another_file_is_not_sent(tmp_path: Path) -> None:
    kept = spill(tmp_path, most_bytes=2000)
    for post in (plan("bad" + "d" * 200), event("bad" + "d" * 200), plan("good")):
        kept.keep(post)
    assert len(names(tmp_path)) == 3
    taker = Taker(1, DocumentRejected("400"))

    deliver(kept, taker)

    assert taker.taken == [plan("good")]


def test_documents_set_aside_count_against_the_bound_of_the_folder(tmp_path: Path) -> None:
    kept = spill(tmp_path, most_bytes=4000)
    kept.keep(plan("a"))
    for number in range(100):
        kept.set_aside(plan(f"{number:03}"), "400")
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 4000


def imported(path: Path) -> list[tuple[str, Any]]:
    """Documents that ``headwater journal import`` finds; refusals: ("refused", reason)."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
        return [
            (piece.kind, piece.subject_key)
            if isinstance(piece, Piece)
            else ("refused", piece.reason)
            for piece in recognise(lines, path.name, 1_000_000)
        ]


_KILLED = """
import sys
from pathlib import Path
from spark_agent_config.delivery.post import Post
from spark_agent_config.delivery.document_files import FileSender
from spark_agent_config.delivery.document_files import Spill

folder = Path(sys.argv[2])
if sys.argv[1] == "file":
    send = FileSender(folder / "a.ndjson")
else:
    send = Spill(folder, "server", "p", most_bytes=1 << 30).keep
number = 0
while True:
    number += 1
    send(Post("execution-plans", {"id": str(number), "x": "y" * 400_000}))
    print(number, flush=True)
"""


@pytest.mark.parametrize("way", ["file", "spill"])
def test_a_driver_killed_while_it_writes_leaves_a_file_that_is_read_and_imported(
    tmp_path: Path, way: str
) -> None:
    command = [sys.executable, "-c", _KILLED, way, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        written = [int(process.stdout.readline()) for _ in range(5)][-1]
        process.send_signal(signal.SIGKILL)
        written = max([written, *(int(line) for line in process.stdout)])

    (path,) = tmp_path.iterdir()
    # Wherever the signal met it: the last line may be cut, and it is cut here in any case.
    whole = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    assert written <= len(whole) <= written + 1
    path.write_bytes(b"".join(whole) + whole[0][:1000])
    expected = [("plan", str(number + 1)) for number in range(len(whole))]

    result = imported(path)
    assert result[:-1] == expected
    assert result[-1][0] == "refused"
    taker = Taker()
    if way == "spill":
        deliver(spill(tmp_path, "later"), taker)
        assert [post.document["id"] for post in taker.taken] == [name for _, name in expected]


_KEEPER = """
import sys
from pathlib import Path
from spark_agent_config.delivery.post import Post
from spark_agent_config.delivery.document_files import Spill

kept = Spill(Path(sys.argv[1]), "server", sys.argv[2])
for number in range(100):
    kept.keep(Post("execution-plans", {"id": f"{sys.argv[2]}-{number}"}))
"""


def test_drivers_that_share_a_folder_lose_nothing_while_one_of_them_delivers(
    tmp_path: Path,
) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", _KEEPER, str(tmp_path), name]) for name in "abc"
    ]
    taker = Taker()
    while any(process.poll() is None for process in processes):
        deliver(spill(tmp_path, "d"), taker)
    deliver(spill(tmp_path, "d"), taker)

    assert [process.returncode for process in processes] == [0, 0, 0]
    expected = [f"{name}-{number}" for name in "abc" for number in range(100)]
    assert sorted(post.document["id"] for post in taker.taken) == sorted(expected)
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is permitted to root")
def test_a_folder_without_permission_is_an_error_that_the_outbox_expects(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="ermission"):
        spill(tmp_path / "new").keep(plan("a"))


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
