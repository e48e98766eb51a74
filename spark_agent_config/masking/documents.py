"""JSON documents without their secrets: values under, beside or behind a secret's name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from spark_agent_config.masking.free_text import find_suspicious, is_masked, mask_text, mask_uri
from spark_agent_config.masking.names import MASK, NAME_LENGTH, hides_numbers, is_secret_key

if TYPE_CHECKING:
    from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

# Where a plan names its inputs and outputs: a URI with a table, not a plain URL.
_URI_KEYS: Final = frozenset({"outputSource", "inputSources"})


def mask_secrets(value: JsonValue) -> JsonValue:
    """A whole JSON document with its secrets as ``*****``; the same object when it has none.

    Masked are the texts (and numbers, for passwords) under a secret-looking key at any depth,
    alone or in a list; the ``value`` beside a ``key`` or ``name`` that looks secret; user-info in
    URLs and secret parameters inside any text. Objects under such a key are walked, not masked:
    a column named ``password`` is no secret, and a reference stays a reference.
    """
    if isinstance(value, str):
        masked = mask_text(value)
        return value if masked == value else masked
    changes = _Walk().changes(value)
    return _copied(value, changes) if changes else value


_LISTS: Final = (list, tuple)
_NESTED: Final = (dict, *_LISTS)
_MOST_REMEMBERED: Final = 100_000  # texts of one document


class _Walk:
    """Looks at everything in a document once, and passes quickly over harmless texts.

    Documents repeat few keys, which are judged once, and a document many texts, of which those that
    have no secret under a harmless key are remembered.
    """

    def __init__(self) -> None:
        self._changes: dict[int, dict[Any, str]] = {}
        self._objects: list[dict[str, Any]] = []  # to look into
        self._lists: list[tuple[Any, str]] = []  # the same, each with the key above it
        self._harmless_keys: set[str] = set()
        self._harmless: set[str] = set()

    def changes(self, root: JsonValue) -> dict[int, dict[Any, str]]:
        """By the identity of a container: key or index => the text to put there."""
        self._lists.append(([root], ""))
        while self._objects or self._lists:
            while self._objects:
                self._look_into_object(self._objects.pop())
            if self._lists:
                self._look_into_list(*self._lists.pop())
        return self._changes

    def _look_into_object(self, container: dict[str, Any]) -> None:
        paired = "value" in container or "_2" in container
        named = _named_secret(container) if paired else None
        keys, texts = self._harmless_keys, self._harmless
        for key, item in container.items():
            if isinstance(item, str):
                if key in keys and key != named and (item in texts or self._is_plain(item)):
                    continue
            elif isinstance(item, dict):
                self._objects.append(item)
                continue
            holder = "password" if key == named else key
            if isinstance(item, _LISTS):
                self._lists.append((item, holder))
            else:
                self._look_at(container, key, holder)

    def _look_into_list(self, container: Any, above: str) -> None:
        options = len(container) == 2 or "-" in [
            item[:1] for item in container if isinstance(item, str)
        ]
        keys, texts = () if options else self._harmless_keys, self._harmless
        for index, item in enumerate(container):
            if isinstance(item, dict):
                self._look_into_object(item)
            elif isinstance(item, _LISTS):
                self._lists.append((item, above))
            elif not (
                above in keys and isinstance(item, str) and (item in texts or self._is_plain(item))
            ):
                follows = options and _follows_name(container, index)
                self._look_at(container, index, "password" if follows else above)

    def _is_plain(self, text: str) -> bool:
        """Nearly all of a document: a text that no rule can apply to under a harmless key."""
        plain = find_suspicious(text) is None
        if plain and len(self._harmless) < _MOST_REMEMBERED:
            self._harmless.add(text)
        return plain

    def _look_at(self, container: Any, place: Any, key: str) -> None:
        """Notes the text to put in place of a scalar, unless it may stay."""
        item = container[place]
        if isinstance(item, str):
            masked = self._masked_text(item, key)
        elif isinstance(item, bool) or not isinstance(item, _NUMBERS) or not hides_numbers(key):
            return
        else:
            masked = MASK
        if masked != item:
            self._changes.setdefault(id(container), {})[place] = masked

    def _masked_text(self, text: str, key: str) -> str:
        if self._is_secret(key):
            return text if is_masked(text) else MASK
        if key in _URI_KEYS:
            return mask_uri(text)
        if text in self._harmless:
            return text
        masked = mask_text(text)
        if masked == text and len(self._harmless) < _MOST_REMEMBERED:
            self._harmless.add(text)
        return masked

    def _is_secret(self, key: str) -> bool:
        secret = is_secret_key(key[:NAME_LENGTH])
        if not secret and key not in _URI_KEYS and len(key) <= NAME_LENGTH:
            self._harmless_keys.add(key)
        return secret


_NUMBERS: Final = (int, float)


_PAIRS: Final = (("key", "value"), ("name", "value"), ("option", "value"), ("_1", "_2"))


def _named_secret(container: dict[str, Any]) -> str | None:
    """``{"key": "fs.s3a.secret.key", "value": "…"}`` => "value"; None: no secret is named."""
    for naming, holding in _PAIRS:
        name = container.get(naming) if holding in container else None
        if isinstance(name, str):
            return holding if is_secret_key(name[:NAME_LENGTH]) else None
    return None


def _follows_name(items: list[Any], index: int) -> bool:
    """``["--password", "…"]``, ``["spark.hadoop.fs.s3a.secret.key", "…"]``; no list of columns."""
    name, item = items[index - 1] if index else None, items[index]
    if not isinstance(name, str) or not isinstance(item, str) or len(name) > NAME_LENGTH:
        return False
    if name.startswith("-"):
        named = "=" not in name and not item.startswith("--")
    else:
        named = len(items) == 2 and (name.count(".") > 1 or name.startswith("spark."))
    return named and not re.search(r"\s", name) and is_secret_key(name)


def _copied(root: Any, changes: dict[int, dict[Any, str]]) -> Any:
    """A copy of the containers, changes applied; iterative, since documents nest deeply."""
    holder: list[Any] = [root]
    stack: list[tuple[Any, Any]] = [(holder, 0)]
    while stack:
        parent, place = stack.pop()
        original = parent[place]
        masked = changes.get(id(original), {})
        copy: Any = dict(original) if isinstance(original, dict) else list(original)
        parent[place] = copy
        items = copy.items() if isinstance(copy, dict) else enumerate(copy)
        inner = [key for key, item in items if isinstance(item, _NESTED)]
        for key, text in masked.items():
            copy[key] = text
        stack.extend((copy, key) for key in inner)
    return holder[0]
