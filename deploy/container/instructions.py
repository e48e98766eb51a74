"""The Dockerfile as stages, and the files of its context."""

from __future__ import annotations

import fnmatch
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dockerfile_parse import DockerfileParser

FROM: Final = "FROM"
ARG: Final = "ARG"
_STAGE: Final = re.compile(r"(?P<base>\S+)\s+AS\s+(?P<name>\S+)", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"\$\{?(\w+)\}?")
_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Instruction:
    """``RUN`` and its command, lines joined."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Stage:
    """``FROM base AS name`` and its instructions."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]


def read_stages(dockerfile: Path) -> tuple[Stage, ...]:
    """The stages in their order; arguments before the first one have their defaults."""
    parser = DockerfileParser(fileobj=io.BytesIO(dockerfile.read_bytes()))
    result = [
        Instruction(each["instruction"], each["value"])
        for each in parser.structure
        if each["instruction"] != "COMMENT"
    ]
    starts = [index for index, each in enumerate(result) if each.name == FROM]
    arguments = dict(each.value.split("=", 1) for each in result[: starts[0]] if each.name == ARG)
    ends = [*starts[1:], len(result)]
    return tuple(
        _stage(result[start:end], arguments) for start, end in zip(starts, ends, strict=True)
    )


def _stage(instructions: list[Instruction], arguments: Mapping[str, str]) -> Stage:
    first, *rest = instructions
    match = _STAGE.fullmatch(expand(first.value, arguments))
    if match is None:
        raise ValueError(f"a stage without a name: {FROM} {first.value}")
    return Stage(match["name"], match["base"], tuple(rest))


def expand(text: str, variables: Mapping[str, str]) -> str:
    """``${NAME}`` and ``$NAME`` by their values."""
    return _REFERENCE.sub(lambda match: variables[match[1]], text)


def context_files(folder: Path) -> Iterator[Path]:
    """The files that a build gets, relative to ``folder``, by a ``.dockerignore`` that leaves out
    everything, then names the included files, then patterns of excluded ones.
    """
    lines = (folder / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    if rules[0] != _ALL:
        raise ValueError(".dockerignore begins with *")
    inside = [rule[1:] for rule in rules if rule.startswith("!")]
    outside = [rule.removeprefix("**/") for rule in rules[1:] if not rule.startswith("!")]
    for name in inside:
        for path in _below(folder / name):
            relative = path.relative_to(folder)
            if not any(_matches(relative, rule) for rule in outside):
                yield relative


def _below(place: Path) -> Iterator[Path]:
    """A file or a link itself, or all files of a folder; links are not followed."""
    if place.is_dir() and not place.is_symlink():
        for entry in sorted(place.iterdir()):
            yield from _below(entry)
    else:
        yield place


def _matches(path: Path, rule: str) -> bool:
    """A rule with a slash is a path; any other is the name of a file or folder, however deep."""
    if "/" in rule:
        return path.as_posix() == rule or path.as_posix().startswith(f"{rule}/")
    return any(fnmatch.fnmatch(part, rule) for part in path.parts)
