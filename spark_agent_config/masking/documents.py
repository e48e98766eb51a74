"""JSON documents and texts without their secrets: values under, beside or behind a secret's name.

Linear in the text; masking what is masked changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unicodedata import normalize

from spark_agent_config.masking.expressions import columns
from spark_agent_config.masking.names import (
    MASK,
    NAME_LENGTH,
    hides_numbers,
    holds_url,
    is_key_of_service,
    is_method,
    is_mixed,
    is_name,
    is_name_of_service_key,
    is_numbered,
    is_of_login,
    is_public,
    is_reference,
    is_secret_key,
    is_strong,
    is_type,
    may_name_secret,
    squash,
    with_random,
)
from spark_agent_config.masking.settings import settings
from spark_agent_config.masking.statements import (
    commands,
    is_command,
    may_have_sections,
    may_run,
    may_state,
    sections,
    statements,
)
from spark_agent_config.masking.tokens import (
    is_issued,
    is_random,
    is_secret_by_value,
    is_table,
    may_be_issued,
    may_hold_token,
    tokens,
)
from spark_agent_config.masking.urls import logins, split_table

if TYPE_CHECKING:
    from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

# Where a plan names its inputs and outputs: a URI with a table, not a plain URL.
# {"login": "svc:x1y2"}
_LOGINS: Final = frozenset({"login", "basic", "logon", "account", "userid", "userinfo"})
_LOGIN: Final = re.compile(r"[\w.@\\\-]{1,64}[:/](\S{6,128})")
_URI_KEYS: Final = frozenset({"outputSource", "inputSources"})


def mask_secrets(value: JsonValue) -> JsonValue:
    """A whole JSON document with its secrets as ``*****``; the same object when it has none.

    Masked are the texts (and numbers, for passwords) under a secret-looking key at any depth,
    alone or in a list; the ``value`` beside a ``key`` or ``name`` that looks secret, or in an
    object under such a key; user-info in URLs and secret parameters inside any text or key.
    Other fields of objects under such a key are walked, not masked: a column named ``password`` is
    no secret, and a reference stays a reference.
    """
    if isinstance(value, str):
        masked = mask_text(value)
        return value if masked == value else masked
    walk = _Walk()
    changes = walk.changes(value)
    return _copied(value, changes, walk.renamed) if changes or walk.renamed else value


_LISTS: Final = (list, tuple)
_NESTED: Final = (dict, *_LISTS)
_MOST_REMEMBERED: Final = 100_000  # texts of one document


class _Walk:
    """Looks at everything in a document once, and passes quickly over harmless texts.

    Documents repeat few keys, which are judged once, and a document many texts and names, of which
    those that have no secret under a harmless key are remembered.
    """

    def __init__(self) -> None:
        self._changes: dict[int, dict[Any, str]] = {}
        self._objects: list[tuple[dict[str, Any], str]] = []  # to look into, with the key above
        self._lists: list[tuple[Any, str, bool]] = []  # the same; whether a list of pairs holds it
        self._harmless_keys: set[str] = {""}
        self._harmless: set[str] = set()
        self._harmless_names: set[str] = set()  # where they name something: see mask_name
        self._names_secret = False  # a text of the object that is looked into
        self.renamed: dict[str, str] = {}
        """Keys that hold a secret themselves, by their texts."""

    def changes(self, root: JsonValue) -> dict[int, dict[Any, str]]:
        """By the identity of a container: key or index => the text to put there."""
        self._lists.append(([root], "", False))
        while self._objects or self._lists:
            while self._objects:
                self._look_into_object(*self._objects.pop())
            if self._lists:
                self._look_into_list(*self._lists.pop())
        return self._changes

    def _look_into_object(self, container: dict[str, Any], above: str) -> None:
        keys, texts = self._harmless_keys, self._harmless
        vault = above not in keys and _holds_secrets(above)
        self._names_secret = False
        lists = 0
        for key, item in container.items():
            harmless = key in keys and not vault
            if harmless:
                if isinstance(item, str):
                    if item not in texts:
                        self._look_at_plain(container, key, key)
                    continue
                holder = key
            else:
                holder = self._judged(key)
                if key == "data" and container.get("kind") == "Secret":
                    holder = _VAULT
                elif (vault or _is_special(key)) and _is_held(container, key, above):
                    holder = _SECRET
                if holder == key and key.lower() in _COMPLETING:
                    if _completes(above, key):
                        holder = key if _is_plain_word(item) else _SECRET
                    elif _is_key_alone(container, key, above):
                        holder = _SECRET
            if isinstance(item, dict):
                self._objects.append((item, holder))
            elif isinstance(item, _LISTS):
                lists += 1
                self._lists.append((item, holder, False))
            elif not harmless:
                self._look_at(container, key, holder)
        if (self._names_secret or lists > 1) and (named := _secret_names(container)):
            self._look_beside(container, named)

    def _look_beside(self, container: dict[str, Any], named: list[Any]) -> None:
        """What looks like a password beside the name of a secret, and in rows and lists at its
        place: ``{"field": "password", "new": "x1"}``, ``{"names": [...], "values": [...]}``.
        """
        beside_text = str in map(type, named)
        lists = [names for names in named if isinstance(names, _LISTS)][:_MOST_LISTS]
        for key, item in container.items():
            if isinstance(item, str):
                if beside_text and _squashed(key) not in _OPEN and not is_public(key):
                    self._hide(container, key, key)
            elif isinstance(item, _LISTS):
                for names in lists:
                    if names is not item:
                        self._look_at_row(names, item)

    def _look_at_row(self, names: Any, row: Any) -> None:
        rows = [item for item in row if isinstance(item, _LISTS)] or [row]
        places = [at for at, name in enumerate(names) if _is_name_of_secret(name)]
        for values in rows:
            for at in places if len(values) == len(names) else ():
                self._hide(values, at, "")

    def _hide(self, container: Any, place: Any, key: str) -> None:
        value = container[place]
        if (
            isinstance(value, str)
            and is_mixed(value)
            and not (_names(key, value) or is_name(value))
        ):
            self._changes.setdefault(id(container), {})[place] = MASK

    def _judged(self, key: str) -> str:
        """The key without a secret of its own, whose look shows whether it is harmless."""
        judged = _judged(key) if len(key) <= NAME_LENGTH else _judge(key)
        if judged.is_harmless:
            self._harmless_keys.add(key)
        elif judged.shown != key:
            self.renamed[key] = judged.shown
        return judged.shown

    def _look_into_list(self, container: Any, above: str, in_pairs: bool) -> None:
        only_objects = True
        for item in container:
            if isinstance(item, dict):
                self._look_into_object(item, above)
            else:
                only_objects = False
        if not only_objects:
            self._look_at_items(container, above, in_pairs)

    def _look_at_items(self, container: Any, above: str, in_pairs: bool) -> None:
        """The items of a list that are no objects."""
        texts = [item for item in container if isinstance(item, str)]
        options = (
            "-" in [text[:1] for text in texts]
            or "set" in texts
            or (
                len(container) == 2
                and isinstance(container[0], str)
                and (is_secret_key(container[0][:NAME_LENGTH]) or is_command(container[0]))
            )
        )
        if (options and any(map(is_command, container[:_MOST_BEFORE_A_COMMAND]))) or (
            above in _ARGUMENTS
        ):
            for index, text in _of_command(container):
                if (masked := mask_text(text)) != container[index]:
                    self._changes.setdefault(id(container), {})[index] = masked
        harmless = not options and above in self._harmless_keys
        if harmless and len(texts) == len(container):  # most lists: names of columns, of tables
            known = self._harmless
            for index, text in enumerate(texts):
                if text not in known:
                    self._look_at_plain(container, index, above)
            return
        pairs = all(isinstance(item, _LISTS) and len(item) == 2 for item in container)
        for index, item in enumerate(container):
            if isinstance(item, _LISTS):
                self._lists.append((item, above, pairs))
            elif harmless:
                if isinstance(item, str) and item not in self._harmless:
                    self._look_at_plain(container, index, above)
            elif not isinstance(item, dict):
                follows = options and _follows_name(container, index, in_pairs)
                if index not in self._changes.get(id(container), ()):
                    self._look_at(container, index, _SECRET if follows else above)

    def _look_at_plain(self, container: Any, place: Any, key: str) -> None:
        """Nearly all of a document: a text under a harmless key, which few rules can apply to."""
        text = container[place]
        if text in self._harmless_names and _names(key, text):
            return
        is_named = False
        if is_plain(text):
            masked = text
        elif is_named := _names(key, text):
            masked = mask_name(text)
        else:
            masked = masked_text(text)
        if masked != text:
            self._changes.setdefault(id(container), {})[place] = masked
        else:
            self._remember(text, is_named)

    def _remember(self, text: str, is_named: bool) -> None:
        """A text without a secret: it may name one, or need not be looked at again."""
        if _is_name_of_secret(text):
            self._names_secret = True
            return
        known = self._harmless_names if is_named else self._harmless
        if len(known) < _MOST_REMEMBERED:
            known.add(text)

    def _look_at(self, container: Any, place: Any, key: str) -> None:
        """Notes the text to put in place of a scalar, unless it may stay."""
        item = container[place]
        if isinstance(item, str):
            masked = self._masked_text(item, key)
        elif isinstance(item, bool) or not isinstance(item, _NUMBERS) or not _hides(key, item):
            return
        else:
            masked = MASK
        if masked != item:
            self._changes.setdefault(id(container), {})[place] = masked

    def _masked_text(self, text: str, key: str) -> str:
        if is_secret_key(key[:NAME_LENGTH]) and not holds_url(key, text):
            is_open = is_masked(text) or is_reference(text) or is_method(key, text)
            return text if is_open else MASK
        if is_secret_by_value(key, text):
            return MASK
        if key.lower() in _LOGINS and (login := _LOGIN.fullmatch(text)) and is_mixed(login[1]):
            return text[: login.start(1)] + MASK
        if key in _URI_KEYS:
            return mask_uri(text)
        if text in self._harmless:
            return text
        is_named = _names(key, text)
        if is_named and text in self._harmless_names:
            return text
        masked = mask_name(text) if is_named else mask_text(text)
        if masked == text:
            self._remember(text, is_named)
        return masked


class _Judged(NamedTuple):
    """A key: whether nothing about it makes a value secret, and its text without a secret."""

    is_harmless: bool
    shown: str


def _judge(key: str) -> _Judged:
    shown = mask_name(key)
    special = (
        key in _URI_KEYS or key.lower() in _LOGINS or key in _ARGUMENTS or _is_special(key)
        or squash(key) in _VAULTS or len(key) > NAME_LENGTH or key.lower() in _COMPLETING
        or is_secret_key(key[:NAME_LENGTH]) or with_random(key).secret or hides_numbers(key)
    )  # fmt: skip
    return _Judged(not special and shown == key, shown)


_NAME_KEY: Final = re.compile(
    r"(?i)(?:name|namespace|field|column|table|dataset|schema|database|topic|ur[il]|path|location|key"
    r"|(?<![a-z])id|(?-i:Id|ID)|ids|version|etag|digest|checksum|hash|fingerprint|snapshot|commit"
    r"|revision|ref|sha[0-9]{0,3}|md5|guid|uuid)s?\Z"
)


def _names(key: str, text: str) -> bool:
    """Whether a text under a key is the name or the id of something: one word."""
    return _NAME_KEY.search(key[-_LONGEST_ENDING:]) is not None and not re.search(r"\s", text)


_LONGEST_ENDING: Final = 32
_judged: Final = lru_cache(maxsize=8192)(_judge)
_NUMBERS: Final = (int, float)


def _hides(key: str, number: float) -> bool:
    """Whether a number is a secret; ``{"pass": 12, "fail": 1}`` counts tests."""
    return hides_numbers(key) and not (key.lower() == "pass" and number < _SHORTEST_NUMBER)


_SHORTEST_NUMBER: Final = 1_000
_SECRET: Final = "password"  # noqa: S105 - a name
"""The key that stands for any whose values are secret."""
_VAULT: Final = "secretData"
"""The key that stands for an object all of whose values are: ``data`` of Kubernetes' Secret."""

# --- what stands beside or above a value ---------------------------------------------------------

# {"Name": "DB_PASSWORD", "Value": "…"}: fields that name a setting, as names are compared …
_NAMING: Final = frozenset({
    "key", "name", "option", "property", "parameter", "variable", "setting", "header", "1", "k",
    "n",
    "parameterkey", "parametername", "paramkey", "paramname", "propertyname", "propertykey",
    "keyname", "optionname", "variablename", "settingname", "fieldname", "attributename", "conf",
})  # fmt: skip
# … and that hold its value.
_HOLDING: Final = frozenset({
    "value", "values", "val", "v", "2", "content", "data", "default", "defaultvalue", "text", "raw",
    "parametervalue", "paramvalue", "propertyvalue", "optionvalue", "stringvalue", "plaintext",
    "plain", "literal", "string", "s", "current", "currentvalue", "payload", "setting", "secret",
})  # fmt: skip
_WEB_KEY_PARTS: Final = frozenset({"d", "k", "p", "q", "dp", "dq", "qi"})
# Objects all of whose texts are secret, and what is none in them.
_VAULTS: Final = frozenset({
    "credentials", "credential", "creds", "secrets", "passwords", "secretdata", "stringdata",
    "apikeys", "accesstokens", "secretvalues", "recoverycodes", "backupcodes",
    "cookies",
})  # fmt: skip
_OPEN: Final = frozenset({
    "user", "username", "login", "name", "type", "kind", "id", "provider", "host", "hostname",
    "port",
    "database", "schema", "role", "region", "account", "email", "principal", "producer",
    "schemaurl",
    "transformationtype", "transformationdescription", "datatype", "doc", "comment", "nullable",
    "namespace", "field", "key", "clientid", "tenantid", "profile", "source", "label", "title",
})  # fmt: skip


@lru_cache(maxsize=8192)
def _squashed(key: str) -> str:
    return squash(key[:NAME_LENGTH])


@lru_cache(maxsize=8192)
def _is_special(key: str) -> bool:
    """Whether what stands beside or above a key may show that its value is secret."""
    return (
        key in _WEB_KEY_PARTS
        or squash(key[:NAME_LENGTH]) in _HOLDING
        or is_name_of_service_key(key)
    )


@lru_cache(maxsize=8192)
def _completes(above: str, key: str) -> bool:
    """Whether a key and the one above it make the name of a secret: ``{"api": {"key": …}}``."""
    return (
        key.lower() in _COMPLETING
        and len(above) < NAME_LENGTH
        and is_secret_key(f"{above}_{key}"[:NAME_LENGTH])
    )


_COMPLETING: Final = frozenset({"key", "keys"})


def _is_key_alone(container: dict[str, Any], key: str, above: str) -> bool:
    """Whether a ``key`` that names nothing beside it is one to a service, by the service's name or
    by its look: ``{"stripe": {"key": "x1y2z3"}}``; an object of a bucket has a key, too.
    """
    item = container[key]
    if not isinstance(item, str):
        return False
    if is_key_of_service(above, item):
        return True
    beside = set(map(_squashed, container))
    names_something = not beside.isdisjoint(_HOLDING | _NAMED_BY_A_KEY) or above in _NAMED_BY_A_KEY
    return bool(above) and not names_something and is_issued(item)


_NAMED_BY_A_KEY: Final = frozenset({
    "bucket", "bucketname", "object", "s3", "etag", "message", "record", "partition", "cache",
})  # fmt: skip


def _is_plain_word(item: object) -> bool:
    """Whether a text, or each of a list, is rather a word or a name:
    ``{"account": {"key": "customer_id"}}``.
    """
    texts = item if isinstance(item, _LISTS) else [item]
    words = [text for text in texts if isinstance(text, str)]
    return not isinstance(item, dict) and not any(is_strong(w) and not is_name(w) for w in words)


@lru_cache(maxsize=8192)
def _holds_secrets(key: str) -> bool:
    """Whether the fields of an object may be secrets by its name: ``{"token": {"access": …}}``."""
    return _squashed(key) in _VAULTS or is_secret_key(key[:NAME_LENGTH])


def _secret_names(container: dict[str, Any]) -> list[Any]:
    """The fields of an object that name secrets: texts, and lists of names beside other lists."""
    named: list[Any] = []
    for item in container.values():
        if isinstance(item, str):
            if len(item) <= _LONGEST_NAME and is_secret_key(item):
                named.append(item)
        elif (
            type(item) in _LISTS and len(item) <= _MOST_NAMES and any(map(_is_name_of_secret, item))
        ):
            named.append(item)
    return named


_MOST_NAMES: Final = 64
_MOST_LISTS: Final = 4  # of names beside others, in one object


def _is_name_of_secret(name: object) -> bool:
    return isinstance(name, str) and len(name) <= _LONGEST_NAME and is_secret_key(name)


def _is_held(container: dict[str, Any], key: str, above: str) -> bool:
    """Whether a value is secret by what stands beside or above it."""
    squashed = _squashed(key)
    if is_name_of_service_key(key):
        return not _is_plain_word(container[key])
    if key in _WEB_KEY_PARTS and ("kty" in container or is_secret_key(above[:NAME_LENGTH])):
        return True
    if squashed in _HOLDING:
        is_named = _is_named(container, key)
        if is_named or (is_named is None and is_secret_key(above[:NAME_LENGTH])):
            return True
        if is_named is False:  # {"secret": {"name": "db", "value": "x1y2"}}
            value = container[key]
            strong = isinstance(value, str) and is_mixed(value)
            return strong and is_secret_key(above[:NAME_LENGTH])
        value = container[key]
        if isinstance(value, str) and is_named is None and is_of_login(above, container, value):
            return True
    if squashed in _OPEN or is_public(key):
        return False
    if _squashed(above) in _VAULTS:
        return True
    value = container[key]
    return (
        isinstance(value, str)
        and is_mixed(value)
        and not _names(key, value)
        and is_secret_key(above[:NAME_LENGTH])
    )


def _is_named(container: dict[str, Any], key: str) -> bool | None:
    """Whether a field beside a value names a secret, or says that it is one; None: no field names
    anything.

    A field that often names other things (``type``, ``label``) says so of what looks like a
    password alone.
    """
    if any(container.get(flag) is True for flag in _FLAGS):
        return True
    name = next((container[n] for n in container if _squashed(n) in _NAMING), None)
    if isinstance(name, dict):  # {"parameter": {"name": "password"}, "value": "x"}
        name = next((name[n] for n in name if _squashed(n) in _NAMING), None)
    value = container[key]
    if isinstance(name, str) and len(name) <= NAME_LENGTH:
        if is_secret_key(name):
            return True
        if isinstance(value, str) and is_secret_by_value(name, value):
            return True
    if isinstance(value, str) and is_strong(value) and not is_name(value):
        for beside, text in container.items():
            if beside == key or not isinstance(text, str) or len(text) > _LONGEST_NAME:
                continue
            if is_secret_key(text) or is_name_of_service_key(text):
                return True
    return False if isinstance(name, str) else None


_LONGEST_NAME: Final = 64
#: {"value": "…", "type": "string", "sensitive": true}: an output of Terraform
_FLAGS: Final = ("sensitive", "isSensitive", "is_sensitive", "secret", "isSecret", "is_secret")


def _follows_name(items: list[Any], index: int, in_pairs: bool) -> bool:
    """``["--password", "…"]``, ``["spark.hadoop.fs.s3a.secret.key", "…"]``; no list of columns.

    In a list of pairs any secret name is one, unless the second is the type of a column.
    """
    name, item = items[index - 1] if index else None, items[index]
    if not isinstance(name, str) or len(name) > NAME_LENGTH:
        return False
    if not isinstance(item, str):  # [["pin", 1234]]
        return in_pairs and isinstance(item, _NUMBERS) and hides_numbers(name)
    if index > 1 and items[index - 2] == "set":  # ["aws", "configure", "set", "secret_key", …]
        named = is_strong(item)
    elif name.startswith("-"):
        named = "=" not in name and not item.startswith("--")
    elif len(items) == 2:
        marked = "." in name or "_" in name or "-" in name or not name.islower()
        configured = name.count(".") > 1 or name.startswith("spark.")
        if "." in item and name.partition(".")[0] == item.partition(".")[0]:
            return False  # ["t.password", "t.token"]: columns of one table
        looks_secret = is_strong(item) and not (is_name(item) or is_numbered(item))
        named = configured or looks_secret or (in_pairs and (marked or is_strong(item)))
        named = named and not is_type(item)
    else:
        return False
    return named and not re.search(r"\s", name) and is_secret_key(name)


def _of_command(items: list[Any]) -> Iterator[tuple[int, str]]:
    """``["mysql", "-u", "u", "-px"]``: the items with passwords, without them."""
    texts = [item if isinstance(item, str) else "" for item in items[:_MOST_ARGUMENTS]]
    if len(texts) < 2 or sum(map(len, texts)) > _LONGEST_COMMAND:
        return
    line = " ".join(_BLANK.sub("_", text) or "_" for text in texts)
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + max(1, len(text)) + 1)
    spans: dict[int, list[tuple[int, int]]] = {}
    for start, end in sorted((*commands(line), *statements(line))):
        index = bisect_right(starts, start) - 1
        first = start - starts[index]
        spans.setdefault(index, []).append((first, min(end - starts[index], len(texts[index]))))
    yield from ((index, _hidden(texts[index], held)) for index, held in spans.items())


_ARGUMENTS: Final = frozenset({
    "cmd", "command", "args", "Args", "argv", "arguments", "entrypoint", "exec",
})  # fmt: skip
_MOST_BEFORE_A_COMMAND: Final = 3  # ["docker", "login", …], ["sudo", "-n", "mysql", …]
_MOST_ARGUMENTS: Final = 256
_LONGEST_COMMAND: Final = 16_384
_BLANK: Final = re.compile(r"\s")


def _copied(root: Any, changes: dict[int, dict[Any, str]], renamed: dict[str, str]) -> Any:
    """A copy of the containers, changes applied; iterative, since documents nest deeply."""
    holder: list[Any] = [root]
    stack: list[tuple[Any, Any]] = [(holder, 0)]
    while stack:
        parent, place = stack.pop()
        original = parent[place]
        masked = changes.get(id(original), {})
        copy: Any = {**original, **masked} if isinstance(original, dict) else list(original)
        if isinstance(copy, list):
            for index, text in masked.items():
                copy[index] = text
        elif not renamed.keys().isdisjoint(copy):
            copy = _with_keys(copy, renamed)
        parent[place] = copy
        items = copy.items() if isinstance(copy, dict) else enumerate(copy)
        stack.extend((copy, key) for key, item in items if isinstance(item, _NESTED))
    return holder[0]


def _with_keys(container: dict[str, Any], renamed: dict[str, str]) -> dict[str, Any]:
    """The object with masked keys, in its order; keys that become equal are numbered."""
    copy: dict[str, Any] = {}
    for key, item in container.items():
        name = spelled = renamed.get(key, key)
        number = 1
        while name in copy or (name != key and name in container):
            number += 1
            name = f"{spelled} {number}"
        copy[name] = item
    return copy


# --- texts: all recognisers in one scan -----------------------------------------------------------

# The signs beside a secret: a text without any, and without a blank, is done with.
_SIGNS: Final = re.compile(
    r"[=:@'\"% \t\n|~]|&(?=quot|lt|apos|#)|\\(?=u00)|<(?=[/\-])|-(?=[->])|\((?=spark|fs|hadoop"
    r"|[\w.\-]{0,32}(?i:passw|pwd|secret|token)\w{0,8},)"
)
_MOST_PASSES: Final = 4
_SHORTEST_TOKEN: Final = 16
_SHORTEST_WORD: Final = 10
_MOST_SECRETS: Final = 1_000
"""Of one text: more are an attack on the time that hiding takes."""


def is_plain(text: str, *, is_name: bool = False) -> bool:
    """True: the text is done with at a glance, no rule can find a secret in it."""
    text = _in_ascii(text)
    if not text.isascii():
        text = _HIDDEN_SIGN.sub("", text)
    if _SIGNS.search(text) is not None and (
        "@" in text or may_name_secret(text) or may_state(text) or may_run(text)
        or may_have_sections(text)
    ):  # fmt: skip
        return False
    if len(text) < _SHORTEST_TOKEN:
        return len(text) < _SHORTEST_WORD or is_name or not may_be_issued(text)
    return not may_hold_token(text, is_name=is_name)


def mask_text(text: str) -> str:
    """A text with its secrets as ``*****``: logins, values of secret settings, known tokens."""
    return text if is_plain(text) else masked_text(text)


def mask_name(text: str) -> str:
    """The same for what names something: it may be random, as names that machines make are."""
    return text if is_plain(text, is_name=True) else _settled(text, _name_masked_once)


def masked_text(text: str) -> str:
    """The same for a text that is not plain."""
    return _settled(text, _masked_once)


def _settled(text: str, mask: Callable[[str], str]) -> str:
    """The text after masking it until nothing changes.

    To hide a value may show another name to be one: ``password=a'b token=c'``. Once is enough for
    texts of people and programs; one that still changes is made to deceive.
    """
    for _ in range(_MOST_PASSES):
        masked = mask(text)
        if masked == text:
            return text
        text = masked
    return MASK


def _name_masked_once(text: str) -> str:
    return _masked_once(text, is_name=True)


def _masked_once(text: str, *, is_name: bool = False) -> str:
    secrets = sorted(islice(_all_secrets(text, is_name=is_name), _MOST_SECRETS + 1))
    if len(secrets) > _MOST_SECRETS:
        return MASK
    if not is_name:
        secrets = sorted({*secrets, *_repeated(text, secrets)})
    return _hidden(text, secrets)


def _hidden(text: str, secrets: Iterable[tuple[int, int]]) -> str:
    """The text with these places masked; they are in order, and may overlap."""
    parts: list[str] = []
    done = 0
    for start, end in secrets:
        if end <= done or is_masked(text[start:end]):
            continue
        if start >= done:
            parts += (text[done:start], MASK)
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _repeated(text: str, secrets: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where else in the text its first secrets stand: ``password=x1y2!z3 … retry with x1y2!z3``.

    As whole words, and only secrets that no table, column, host or folder is called: names are
    what a dataset is known by.
    """
    values = {text[start:end] for start, end in secrets[:_MOST_REPEATED]}
    for value in filter(_is_no_name, values):
        end = 0
        while (start := text.find(value, end)) >= 0:
            end = start + len(value)
            before = text[max(0, start - 2) : start]
            named = _NAME_BEFORE.search(before) or _NAME_BEHIND.match(text, end)
            if not (named or is_table(text, start)):
                yield start, end


def _is_no_name(value: str) -> bool:
    """Whether a secret is random, or has a sign that no name has; ``Orders2024`` may be a table."""
    if len(value) < _SHORTEST_REPEATED or not is_strong(value) or is_name(value):
        return False
    return not _OF_NO_NAME.isdisjoint(value) or is_issued(value) or is_random(value)


# t.x1y2, "t"."x1y2", and x1y2.t, "x1y2".t, x1y2#12, x1y2!=3; not: retry with x1y2. Then …
_NAME_BEFORE: Final = re.compile(r"(?:[\w.]|\.[\"'`\[])\Z")
_NAME_BEHIND: Final = re.compile(r"\w|[\"'`\]]?\.[\"'`\[]?[\w*]|#[0-9]|=")
_OF_NO_NAME: Final = frozenset("!?&^~")
_MOST_REPEATED: Final = 16
_SHORTEST_REPEATED: Final = 8


def _all_secrets(text: str, *, is_name: bool) -> Iterator[tuple[int, int]]:
    """The secrets of a text, and those of the text that it stands for: ``password%3Dx``."""
    text = _in_ascii(text)
    yield from _secrets(text, is_name=is_name)
    if _ENCODED_SIGN.search(text):
        shown, place_of = _decoded(text)
        for start, end in _secrets(shown, is_name=is_name):
            yield place_of(start), place_of(end)


def _in_ascii(text: str) -> str:
    """A text of the same length with wide, small and styled letters and signs, blanks and quotes
    as those of ASCII.
    """
    return text if text.isascii() else text.translate(_OF_STYLED)


class _Styled(dict[int, int]):
    """The sign of ASCII that another one stands for: ``＝``, ``﹦`` => ``=``, ``𝐩`` => ``p``."""

    def __missing__(self, sign: int) -> int:
        plain = normalize("NFKC", chr(sign))
        self[sign] = ord(plain) if len(plain) == 1 else sign
        return self[sign]


_OF_STYLED: Final = _Styled(
    {
        **dict.fromkeys(map(ord, "“”„‟«»"), ord('"')),
        **dict.fromkeys(map(ord, "‘’‚‛‹›"), ord("'")),
        **dict.fromkeys(map(ord, "∶꞉"), ord(":")),
    }
)
# Signs that no one sees: of no width, or that direct, join and vary others.
_UNSEEN: Final = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
# Signs as URLs, JSON and XML write them, and those that no one sees. A URL within a URL is encoded
# twice: %253D.
_ENCODED_SIGN: Final = re.compile(
    r"%(?:25){0,3}(?:3[ADad]|40|22|27)|\\u00(?:3[adAD]|40|22|27)|&(?:quot|apos|lt|#0{0,4}(?:39|34|61|58|64)"
    rf"|#[xX]0{{0,4}}(?:27|22|3[adAD]|40));|{_UNSEEN}"
)
_HIDDEN_SIGN: Final = re.compile(_UNSEEN)
_ENCODED: Final = re.compile(
    r"%(?:25){0,3}([2-7][0-9A-Fa-f])|\\{1,4}u00([2-7][0-9A-Fa-f])|&#[xX]0{0,4}([2-7][0-9A-Fa-f]);"
    rf"|&(?:#0{{0,4}}([0-9]{{2,3}})|(quot|apos|amp|lt|gt));|{_UNSEEN}"
)
_ENTITIES: Final = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}


def _decoded(text: str) -> tuple[str, Callable[[int], int]]:
    """A text with its encoded signs as themselves, and where a place of it stands in the given."""
    parts: list[str] = []
    places, given = [0], [0]  # where each part begins, shown and given
    size = done = 0
    for match in _ENCODED.finditer(text):
        code = match[1] or match[2] or match[3]
        if code:
            sign = chr(int(code, 16))
        elif match[4]:
            sign = chr(int(match[4]))
        else:
            sign = _ENTITIES.get(match[5], "")
        parts += (text[done : match.start()], sign)
        size += match.start() - done + len(sign)
        done = match.end()
        places.append(size)
        given.append(done)
    parts.append(text[done:])

    def place_of(shown: int) -> int:
        part = bisect_right(places, shown) - 1
        return given[part] + shown - places[part]

    return "".join(parts), place_of


def _secrets(text: str, *, is_name: bool) -> Iterator[tuple[int, int]]:
    yield from logins(text)
    yield from tokens(text, is_name=is_name)
    if may_run(text):
        yield from _no_references(text, commands(text))
    if may_name_secret(text):
        yield from settings(text)
        yield from columns(text)
    if may_have_sections(text):
        yield from sections(text)
    yield from _no_references(text, statements(text))


def _no_references(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """``mysql -p"$DB_PASSWORD"`` says where the password is."""
    return (span for span in spans if not is_reference(text[slice(*span)]))


def is_masked(value: str) -> bool:
    """``*****``, Spark's ``*********(redacted)`` and the like: nothing is left to hide."""
    shown = value.strip()
    return not shown or (shown.startswith("***") and shown.lstrip("*") in ("", "(redacted)"))


def mask_uri(uri: str) -> str:
    """The same for a dataset's URI: the table or query behind a JDBC URL stays as it is."""
    return uri if is_plain(uri, is_name=True) else _settled(uri, _uri_masked_once)


def _uri_masked_once(uri: str) -> str:
    if uri[:7].lower() == "mongodb":
        url, slash, name = uri.rpartition("/")
        if "?" in url and _COLLECTION.fullmatch(name):
            return _name_masked_once(url) + slash + name
    if uri[:4].lower() != "jdbc":
        return _name_masked_once(uri)
    url, _ = split_table(uri)
    return _name_masked_once(url) + uri[len(url) :]


# mongodb://h/?password=x/db.collection
_COLLECTION: Final = re.compile(r"[^/=&?@#.]+\.[^/=&?@#]+")
