"""The Terraform files, parsed: blocks as plain dicts, each with where it stands.

An expression is a text, as python-hcl2 gives it: ``"${var.name}"``. A policy is the text between
the brackets of ``jsonencode``, of which ``statements`` reads the parts that the rules ask for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hcl2

FOLDER = Path(__file__).resolve().parents[3] / "terraform"
_STATEMENT = re.compile(r'Effect\s*=\s*\\?"(Allow|Deny)\\?"(.*?)(?=Effect\s*=|\Z)', re.DOTALL)
_ACTION = re.compile(r"\bAction\s*=\s*(\[[^\]]*\]|\\?\"[^\"]*\")")
_RESOURCE = re.compile(r"\bResource\s*=\s*(\[[^\]]*\]|\\?\"[^\"]*\")")
_PRINCIPAL = re.compile(r"\bPrincipal\s*=\s*\\?\"\*\\?\"")
_TEXT = re.compile(r'"([^"\\]*)\\?"')


@dataclass(frozen=True)
class Statement:
    """The parts of a policy's statement that the rules check."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    everyone: bool
    has_condition: bool


@dataclass(frozen=True)
class Block:
    """``resource "aws_lb" "this"`` of a file => kind resource, type aws_lb, name this."""

    file: str
    kind: str
    type: str
    name: str
    body: dict[str, Any]

    @property
    def module(self) -> str:
        return str(Path(self.file).parent)

    @property
    def place(self) -> str:
        return f"{self.file}: {self.type}.{self.name}" if self.type else f"{self.file}: {self.name}"


def files(folder: Path = FOLDER) -> list[Path]:
    return sorted(path for path in folder.rglob("*.tf") if ".terraform" not in path.parts)


def read(folder: Path = FOLDER) -> list[Block]:
    return [
        block
        for path in files(folder)
        for block in blocks(path.read_text("utf-8"), str(path.relative_to(folder)))
    ]


def blocks(text: str, file: str = "main.tf") -> list[Block]:
    """Every resource, data source, variable and output of one file."""
    parsed = hcl2.loads(text)
    result = []
    for kind in ("resource", "data"):
        for item in parsed.get(kind, ()):
            for kind_of_thing, named in _named(item):
                for name, body in _named(named):
                    result.append(Block(file, kind, kind_of_thing, name, body))
    for kind in ("variable", "output"):
        for item in parsed.get(kind, ()):
            result += [Block(file, kind, "", name, body) for name, body in _named(item)]
    return result


def local_values(path: Path) -> dict[str, Any]:
    """Every ``locals`` of one file, in one dict; maps inside it without the parser's own keys."""
    parsed = hcl2.loads(path.read_text("utf-8"))
    return {
        name: _tidy(value) for block in parsed.get("locals", ()) for name, value in _named(block)
    }


def _tidy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tidy(inner) for name, inner in _named(value)}
    return value


def _named(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Its keys without the parser's own, and without the quotes that it leaves."""
    return ((key.strip('"'), value) for key, value in body.items() if not key.startswith("__"))


def plain(value: Any) -> Any:
    """``'"AES256"'`` => ``AES256``; anything else as it is."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


def within(body: Any, name: str) -> list[Any]:
    """The blocks called ``name`` anywhere inside."""
    result = []
    if isinstance(body, dict):
        result += [value for key, value in body.items() if key.strip('"') == name]
        for value in body.values():
            result += within(value, name)
    elif isinstance(body, list):
        for value in body:
            result += within(value, name)
    return result


def policies(block: Block) -> list[str]:
    """The texts of its policies."""
    names = ("policy", "assume_role_policy", "access_policy", "policy_document")
    return [value for name in names for value in within(block.body, name) if isinstance(value, str)]


def statements(policy: str) -> list[Statement]:
    """Its statements, in order; a principal may stand before the effect or behind it."""
    parts = _STATEMENT.findall(policy)
    return [
        Statement(
            effect=effect,
            actions=_texts(_ACTION, rest),
            resources=_texts(_RESOURCE, rest),
            everyone=_PRINCIPAL.search(rest) is not None,
            has_condition=re.search(r"\bCondition\s*=", rest) is not None,
        )
        for effect, rest in parts
    ]


def _texts(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(item for given in pattern.findall(text) for item in _TEXT.findall(given))
