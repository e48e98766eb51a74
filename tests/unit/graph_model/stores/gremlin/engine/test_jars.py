"""The engine's Java archives: locked, fetched through a repository, checked, kept."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy import engine_archives
from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.engine.jars import Jar

CONTENT = {"one": b"first archive", "two": b"second archive", "three": b"third" * 1000}


def jar(name: str) -> Jar:
    content = CONTENT[name]
    return Jar(f"org.example:{name}:1.0", hashlib.sha256(content).hexdigest(), len(content))


ALL = tuple(jar(name) for name in CONTENT)


@dataclass
class Repository:
    """A Maven repository over HTTP; also plays a proxy, for which paths are whole addresses."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str) -> bytes | None:
        self.asked.append(path)
        return self.files.get(path.rpartition("/org/")[2])


@contextmanager
def serving(content: Mapping[str, bytes]) -> Iterator[Repository]:
    repository = Repository(
        {f"example/{name}/1.0/{name}-1.0.jar": data for name, data in content.items()}
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = repository.answer(self.path)
            if data is not None and self.path.endswith(".jar") and repository.failures:
                repository.failures.pop()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2])  # and the line goes dead
                self.close_connection = True
                return
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    repository.url = f"http://127.0.0.1:{server.server_port}/maven/"
    try:
        yield repository
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is reached without the proxy that this machine may have."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "_PAUSE_SECONDS", 0.0)


def environment(cache: Path, repository: str) -> dict[str, str]:
    return {"HEADWATER_CACHE": str(cache), "HEADWATER_MAVEN_REPOSITORY": repository}


def fetched(repository: str, cache: Path, wanted: tuple[Jar, ...] = ALL) -> list[bytes]:
    paths = jars.fetch(environment(cache, repository), jars=wanted)
    return [path.read_bytes() for path in paths]


# --- the lock ------------------------------------------------------------------------------------


def test_the_lock_names_the_archives_of_the_engine() -> None:
    names = {":".join(each.coordinate.split(":")[:2]) for each in jars.locked()}
    assert {
        "org.apache.tinkerpop:gremlin-server",
        "org.apache.tinkerpop:tinkergraph-gremlin",
        "org.slf4j:slf4j-simple",
    } <= names


def test_every_line_of_the_lock_is_whole_and_used() -> None:
    locked = jars.locked()
    assert len({each.filename for each in locked}) == len(locked) > 20
    for each in locked:
        assert len(each.sha256) == 64
        assert each.size > 1000
        assert engine_archives.is_used(each.coordinate)


def test_the_lock_survives_being_written_and_read() -> None:
    assert jars.locked(engine_archives.lock_text(jars.locked())) == tuple(sorted(jars.locked()))
    assert engine_archives.lock_text(jars.locked()) == jars.LOCK.read_text("utf-8")


@pytest.mark.parametrize(
    ("coordinate", "used"),
    [
        ("io.netty:netty-codec:4.1", True),
        ("io.netty:netty-codec-http:4.1", True),
        ("io.netty:netty-codec-http2:4.1", False),
        ("io.netty:netty-transport-native-epoll:4.1:linux-x86_64", False),
        ("io.netty:netty-transport-native-unix-common:4.1", True),
        ("org.apache.groovy:groovy:4.0", True),
        ("org.apache.groovy:groovy-console:4.0", False),
    ],
)
def test_parts_that_the_engine_never_loads_are_left_out(coordinate: str, used: bool) -> None:
    assert engine_archives.is_used(coordinate) is used


def test_a_classifier_is_part_of_the_file_name() -> None:
    assert Jar("g:a:1.0:linux", "0" * 64, 1).filename == "a-1.0-linux.jar"


# --- the cache -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HEADWATER_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/headwater")),
        ({}, Path.home() / ".cache" / "headwater"),
    ],
)
def test_the_cache_stands_where_the_environment_says(
    variables: dict[str, str], folder: Path
) -> None:
    assert jars.cache_folder(variables) == folder


@pytest.mark.usefixtures("direct")
def test_archives_come_in_the_order_of_the_lock(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        assert fetched(repository.url, tmp_path) == list(CONTENT.values())


@pytest.mark.usefixtures("direct")
def test_archives_in_the_cache_are_not_downloaded_again(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        fetched(repository.url, tmp_path, ALL[:2])
        repository.asked.clear()
        fetched(repository.url, tmp_path)
        assert [path for path in repository.asked if path.endswith(".jar")] == [
            "/maven/org/example/three/1.0/three-1.0.jar"
        ]
        repository.asked.clear()
        fetched(repository.url, tmp_path)
        assert repository.asked == []


@pytest.mark.usefixtures("direct")
def test_a_warm_cache_is_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(CONTENT) as repository:
        fetched(repository.url, tmp_path)
    hashed: list[Path] = []
    monkeypatch.setattr(jars, "checksum", hashed.append)
    jars.fetch(environment(tmp_path, "/nowhere"), jars=ALL)
    assert hashed == []


@pytest.mark.usefixtures("direct")
def test_a_file_that_was_changed_is_noticed_and_replaced(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        path = jars.fetch(environment(tmp_path, repository.url), jars=ALL)[0]
        path.write_bytes(CONTENT["one"].swapcase())  # as long as before
        assert fetched(repository.url, tmp_path) == list(CONTENT.values())


@pytest.mark.usefixtures("direct")
def test_a_file_that_was_only_copied_is_checked_once_and_kept(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        path = jars.fetch(environment(tmp_path, repository.url), jars=ALL)[0]
    os.utime(path, (1, 1))
    jars.fetch(environment(tmp_path, "/nowhere"), jars=ALL)
    assert path.stat().st_mtime == ALL[0].stamp


@pytest.mark.usefixtures("direct")
def test_a_truncated_file_is_replaced(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        path = jars.fetch(environment(tmp_path, repository.url), jars=ALL)[2]
        path.write_bytes(b"third")
        assert fetched(repository.url, tmp_path)[2] == CONTENT["three"]


@pytest.mark.usefixtures("direct")
def test_progress_ends_with_everything(tmp_path: Path) -> None:
    answer: list[tuple[int, int, str]] = []
    with serving(CONTENT) as repository:
        jars.fetch(
            environment(tmp_path, repository.url),
            jars=ALL,
            progress=lambda done, total, archive: answer.append((done, total, archive)),
        )
    total = sum(each.size for each in ALL)
    assert answer[-1][:2] == (total, total)
    assert sorted(archive for _, _, archive in answer) == sorted(each.filename for each in ALL)
    assert [done for done, _, _ in answer] == sorted(done for done, _, _ in answer)


# --- repositories --------------------------------------------------------------------------------


@pytest.mark.usefixtures("direct")
def test_another_content_than_the_locked_one_is_refused_by_name(tmp_path: Path) -> None:
    with (
        serving({**CONTENT, "two": b"something else"}) as repository,
        pytest.raises(ConfigurationError, match=r"two-1\.0\.jar.*SHA-256"),
    ):
        fetched(repository.url, tmp_path)
    assert not list(tmp_path.glob("jars/*/two*"))
    assert not list(tmp_path.glob("jars/.draft*"))


@pytest.mark.usefixtures("direct")
def test_an_archive_that_the_repository_lacks_is_named(tmp_path: Path) -> None:
    with (
        serving({"one": CONTENT["one"]}) as repository,
        pytest.raises(ConfigurationError, match=r"(two|three)-1\.0\.jar"),
    ):
        fetched(repository.url, tmp_path)


@pytest.mark.usefixtures("direct", "quick")
def test_a_download_that_breaks_off_is_begun_again(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        repository.failures = [1, 1]
        assert fetched(repository.url, tmp_path) == list(CONTENT.values())


@pytest.mark.usefixtures("direct", "quick")
def test_the_password_of_a_mirror_is_never_told(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        gone = repository.url.replace("http://", "http://user:secret@")
    with pytest.raises(ConfigurationError) as caught:
        fetched(gone, tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("direct", "quick")
def test_a_repository_that_cannot_be_reached_names_the_setting(tmp_path: Path) -> None:
    with serving(CONTENT) as repository:
        gone = repository.url
    with pytest.raises(ConfigurationError, match="HEADWATER_MAVEN_REPOSITORY"):
        fetched(gone, tmp_path)


def test_a_proxy_of_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(CONTENT) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert fetched("http://maven.example/repo", tmp_path) == list(CONTENT.values())
        assert "http://maven.example/repo/org/example/one/1.0/one-1.0.jar" in proxy.asked


def test_a_folder_can_be_the_repository(tmp_path: Path) -> None:
    for name, content in CONTENT.items():
        place = tmp_path / "maven" / "org" / "example" / name / "1.0" / f"{name}-1.0.jar"
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
    cache = tmp_path / "cache"
    assert fetched(str(tmp_path / "maven"), cache) == list(CONTENT.values())
    assert fetched("warm, so never looked at", cache) == list(CONTENT.values())


@pytest.mark.parametrize("repository", ["ftp://maven.example", "/does/not/exist", "maven.example"])
def test_a_repository_that_is_none_is_refused_by_its_setting(
    tmp_path: Path, repository: str
) -> None:
    with pytest.raises(ConfigurationError, match="HEADWATER_MAVEN_REPOSITORY"):
        fetched(repository, tmp_path)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match="HEADWATER_CACHE"):
        fetched("http://127.0.0.1:9/", tmp_path / "file")


@pytest.mark.usefixtures("direct")
def test_the_command_downloads_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jars, "locked", lambda text=None: ALL)
    with serving(CONTENT) as repository:
        assert jars.main([], environment(tmp_path, repository.url)) == 0
    assert "3 archives" in capsys.readouterr().err
    assert jars.main([], environment(tmp_path / "other", "/nowhere")) == 1
    assert "HEADWATER_MAVEN_REPOSITORY" in capsys.readouterr().err
