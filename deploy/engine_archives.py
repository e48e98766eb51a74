"""The lock file of the embedded engine's archives, resolved anew for an upgrade of the engine.

    python -m deploy.engine_archives    resolve again, write jars.lock

``graph_model.stores.gremlin.engine.jars`` downloads the archives that the file names.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from jgo.maven import MavenContext

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine.jars import (
    LOCK,
    REPOSITORY_SETTING,
    Jar,
    checksum,
    source_of,
)

# The parts of the engine; everything else follows from these. slf4j-api is named because the
# server asks for an older one than the log backend needs.
ROOTS: Final = (
    "org.apache.tinkerpop:gremlin-server:3.7.5",
    "org.apache.tinkerpop:tinkergraph-gremlin:3.7.5",
    "org.slf4j:slf4j-simple:1.7.36",
    "org.slf4j:slf4j-api:1.7.36",
)

# Parts of the closure that the engine never loads: consoles, other protocols, natives, tools of
# its build. A trailing * stands for any rest. Fewer archives are also fewer advisories to read.
UNUSED: Final = (
    "ch.qos.logback:*",
    "com.github.javaparser:*",
    "com.squareup:javapoet",
    "commons-io:*",
    "commons-logging:*",  # jcl-over-slf4j stands in for it
    "io.github.hakky54:ayza-for-netty",
    "io.github.hakky54:logcaptor",
    "io.netty:netty-all",
    "io.netty:netty-codec-*",  # but see KEPT
    "io.netty:netty-handler-proxy",
    "io.netty:netty-handler-ssl-ocsp",
    "io.netty:netty-resolver-dns*",
    "io.netty:netty-transport-classes-kqueue",
    "io.netty:netty-transport-native-epoll",
    "io.netty:netty-transport-native-kqueue",
    "io.netty:netty-transport-rxtx",
    "io.netty:netty-transport-sctp",
    "io.netty:netty-transport-udt",
    "jline:*",
    "net.bytebuddy:*",
    "org.abego.treelayout:*",
    "org.apache.groovy:groovy-console",
    "org.apache.groovy:groovy-groovysh",
    "org.apache.groovy:groovy-json",
    "org.apache.groovy:groovy-swing",
    "org.apache.groovy:groovy-templates",
    "org.apache.groovy:groovy-xml",
    "org.apache.ivy:*",
    "org.apache.logging.log4j:*",
    "org.mindrot:*",
    "org.mockito:*",
    "org.objenesis:*",
    "org.slf4j:jul-to-slf4j",
)
KEPT: Final = ("io.netty:netty-codec-http",)

_SECONDS: Final = 30


def is_used(coordinate: str, *, unused: Collection[str] = UNUSED) -> bool:
    """Whether the engine needs this ``group:artifact:…``, by the lists above."""
    name = ":".join(coordinate.split(":")[:2])
    if name in KEPT:
        return True
    return not any(
        name.startswith(rule[:-1]) if rule.endswith("*") else name == rule for rule in unused
    )


def resolve(
    repository: str | None, asked: Sequence[str] = ROOTS, unused: Collection[str] = UNUSED
) -> tuple[Jar, ...]:
    """Resolve all that these coordinates need anew; download and measure the used files."""
    source = source_of(repository)
    if isinstance(source, Path):
        raise ConfigurationError(f"{REPOSITORY_SETTING}: expected an http(s) address, not a folder")
    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(
            repo_cache=Path(folder), remote_repos={"maven": source}, timeout=_SECONDS
        )
        roots = [context.create_dependency(root) for root in asked]
        resolved, transitive = context.resolver.resolve(roots)
        coordinates = sorted({_coordinate(each) for each in [*resolved, *transitive]})
        return tuple(
            _measure(context, each) for each in coordinates if is_used(each, unused=unused)
        )


def _coordinate(dependency: Any) -> str:
    parts = [dependency.groupId, dependency.artifactId, dependency.version, dependency.classifier]
    return ":".join(part for part in parts if part)


def _measure(context: Any, coordinate: str) -> Jar:
    path: Path = context.create_dependency(coordinate).artifact.resolve()
    return Jar(coordinate, checksum(path), path.stat().st_size)


def lock_text(jars: Sequence[Jar]) -> str:
    """The content of ``jars.lock`` for these archives."""
    head = (
        "# The Java archives of the embedded engine: coordinate, SHA-256, size in bytes.\n"
        "# Written by: python -m deploy.engine_archives\n"
    )
    return head + "".join(f"{jar.coordinate} {jar.sha256} {jar.size}\n" for jar in sorted(jars))


if __name__ == "__main__":
    archives = resolve(os.environ.get(REPOSITORY_SETTING))
    LOCK.write_text(lock_text(archives), "utf-8")
    size = sum(archive.size for archive in archives)
    sys.stderr.write(f"{LOCK}: {len(archives)} archives, {size:,} bytes\n")
