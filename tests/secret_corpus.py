"""A thousand planted secrets and a thousand innocent texts, the same ones every time.

The forms are data (tests/fixtures/masking); the secrets are made of a seed.
"""

from __future__ import annotations

import json
import random
import re
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_FIXTURES: Final = Path(__file__).parent / "fixtures" / "masking"
_ALPHABETS: Final = {
    "upper": string.ascii_uppercase + "234567",
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "hex": "0123456789abcdef",
    "digits": string.digits,
}
_PART: Final = re.compile(r"\{(upper|alnum|lower|hex|digits)([0-9]+)\}")


@dataclass(frozen=True)
class Planted:
    """A text with a secret in it; under ``key`` where the name of a JSON field tells it."""

    form: str
    text: str
    secret: str
    key: str = ""


def planted_secrets(number: int = 1_000, seed: int = 7) -> list[Planted]:
    """Each form at least once, then in turn."""
    made = random.Random(seed)
    forms = _fixture("planted")
    kinds = [("text", form) for form in forms["texts"]]
    kinds += [
        ("token", f"{place}\0{form}") for form in forms["tokens"] for place in forms["token_places"]
    ]
    kinds += [("key", form) for form in forms["keys"]]
    first = [kinds[place % len(kinds)] for place in range(max(number, len(kinds)))]
    return [_planted(kind, form, made) for kind, form in first]


def filled(form: str, secret: str, seed: int = 7) -> tuple[str, list[str]]:
    """A form with its secrets in place, and these: ``{S}`` is the given one, others are made."""
    made = random.Random(f"{seed} {form}")
    secrets = [secret] if "{S}" in form else []

    def put(part: re.Match[str]) -> str:
        word = _word(part[1], int(part[2]), made)
        if int(part[2]) > 12:  # shorter ones are parts of a token
            secrets.append(word)
        return word

    return _PART.sub(put, form.replace("{S}", secret)), secrets


def _planted(kind: str, form: str, made: random.Random) -> Planted:
    if kind == "token":
        place, token = form.split("\0")
        secret = _PART.sub(lambda part: _word(part[1], int(part[2]), made), token)
        return Planted(form, place.replace("{T}", secret), _told_apart(secret))
    secret = _word("alnum", 3, made) + "Zq7" + _word("alnum", made.randint(6, 24), made)
    if kind == "key":
        return Planted(form, secret, secret, form)
    return Planted(form, form.replace("{S}", secret), secret)


def _told_apart(token: str) -> str:
    """The part of a token that must not be found: a web hook's host and an id may be."""
    return token.rpartition("/")[2].strip()


def _word(alphabet: str, length: int, made: random.Random) -> str:
    return "".join(made.choice(_ALPHABETS[alphabet]) for _ in range(length))


def innocent_texts() -> list[str]:
    """Names, SQL, expressions, paths, types and sentences without a secret."""
    said = _fixture("innocent")
    texts = [
        template.replace("{w}", word) for word in said["words"] for template in said["templates"]
    ]
    return [*texts, *said["others"]]


def _fixture(name: str) -> Any:
    return json.loads((_FIXTURES / f"{name}.json").read_text("utf-8"))
