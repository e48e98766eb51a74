"""Secrets: how they are recognised, taken out of identities and masked in documents.

Identity drops what masking hides, so a document names the same datasets before and after.
Everything here is linear in the text: a document of 12 MB passes through on every request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from graph_model.naming import jdbc_text
from graph_model.naming.rules import DEFAULT_RULES, Rules

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_AUTHORITY_END: Final = re.compile(r"[/?#;\s\"'<>]")
_SCHEME_LENGTH: Final = 64  # no scheme is longer; bounds the look backwards
_LOST_PASSWORD: Final = 256  # how far an unescaped slash in a password is followed


# --- what is a secret ----------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def is_secret_key(key: str, rules: Rules = DEFAULT_RULES) -> bool:
    """Whether a setting of this name holds a secret: ``fs.s3a.secret.key``, ``API-Token``."""
    squashed = _squash(key)
    if squashed.endswith(rules.public_endings):
        return False
    if squashed.endswith(rules.secret_endings):
        return True
    if any(fragment in squashed for fragment in rules.secret_fragments):
        return True
    return not set(rules.secret_words).isdisjoint(re.split(r"[\W_]+", key.lower()))


def is_secret_parameter(name: str, rules: Rules = DEFAULT_RULES) -> bool:
    """The same for a parameter of a URL, where a bare ``key`` or ``sig`` is a secret, too.

    What signs a URL is one as well: identity drops it, so a document must not keep it.
    """
    name = unquote(name[:256])  # X%2DAmz%2DSignature
    squashed = _squash(name)
    if squashed in rules.secret_parameters or squashed in rules.signature_parameters:
        return True
    return is_secret_key(name, rules)


def _squash(key: str) -> str:
    """Letters and digits alone, in lower case: Access-Key_Id => accesskeyid."""
    return "".join(filter(str.isalnum, key)).lower()


# --- out of identities ---------------------------------------------------------------------------


def user_info_end(text: str, start: int) -> int:
    """Where the host begins in an authority that begins at ``start``: after the last ``@``.

    ``user:p/ss@host``: a slash that should have been escaped is recognised by what stands for a
    port and is none.
    """
    host = _after_login(text, start)
    while host > start:  # u:p@v:q@host, whatever that means
        start, host = host, _after_login(text, host)
    return start


def _after_login(text: str, start: int) -> int:
    found = _AUTHORITY_END.search(text, start)
    end = found.start() if found else len(text)
    at = text.rfind("@", start, end)
    if at >= 0:
        return at + 1
    authority = text[start:end]
    if text[end : end + 1] != "/" or ":" not in authority or authority.startswith("arn:"):
        return start
    port = authority.rpartition(":")[2]
    if port.isdigit() or port.endswith("]"):
        return start
    at = text.find("@", end, end + _LOST_PASSWORD)
    return at + 1 if at >= 0 and not re.search(r"\s", text[end:at]) else start


def without_secrets(uri: str, rules: Rules) -> str:
    """A URI of an unknown kind without user-info, secret and login parameters; else as it is."""
    marker = uri.find("://")
    if 0 <= marker <= _SCHEME_LENGTH and uri[:marker].lower() not in rules.container_schemes:
        start = marker + 3
        uri = uri[:start] + uri[user_info_end(uri, start) :]
    return without_secret_parameters(uri, rules)


def without_secret_parameters(uri: str, rules: Rules) -> str:
    """``?a=1&token=x`` => ``?a=1``; a signed query goes as a whole, since it names nothing.

    A fragment of settings (``#token=x``) is read like a query; ``/C#/x`` is none.
    """
    found = _PARAMETERS.search(uri) if "=" in uri else None
    if found is None:
        return uri
    head, tail = uri[: found.start()], uri[found.start() :]
    pieces = _PARAMETER.findall(tail)
    names = [_parameter_name(text) for _, text in pieces]
    if any(_squash(unquote(name)) in rules.signature_parameters for name in names):
        return head
    kept = [
        mark + text
        for (mark, text), name in zip(pieces, names, strict=True)
        if not name or not (_is_login(name, rules) or is_secret_parameter(name, rules))
    ]
    if len(kept) == len(pieces):
        return uri
    text = "".join(kept)
    if not text or text[0] == "#":
        return head + text
    return head + found.group() + text[1:]


_FRAGMENT: Final = r"#(?=[\w.\-%]{1,256}=)"
_PARAMETERS: Final = re.compile(rf"[?;]|{_FRAGMENT}")
_PARAMETER: Final = re.compile(rf"([?&;]|{_FRAGMENT})((?:[^?&;#]|(?!{_FRAGMENT})#)*)")


def _parameter_name(text: str) -> str:
    name, separator, _ = text.partition("=")
    return name if separator and re.fullmatch(r"[\w.\-%]{1,256}", name) else ""


def _is_login(name: str, rules: Rules) -> bool:
    return _squash(unquote(name)) in rules.login_parameters


# --- out of texts --------------------------------------------------------------------------------

# A setting inside a text, up to where its value begins. The delimiter tells the form: a URL's
# query or fragment (? & ; #), a group (address=(a=b)(c=d)), a printed map ([a=b, c=d],
# Map(a -> b)), a line, an option (-Da=b, --a=b, --a b, --conf a=b), a quoted value (a="b"), a
# table's option in SQL (OPTIONS (a 'b')) or a pair of Spark's ((spark.a,b)). `where password = 'x'`
# is none of them: a column is not a secret.
_SETTING: Final = re.compile(
    r"(?P<lead>[?&;#]|(?:(?<=[)=/\[,])|(?<== ))\(\s{0,4}|[\[{,] ?|^|\n|(?:^|\s)-D"
    r"|(?:^|\s)--(?:conf[ =][\"']?)?)(?P<key>[\w.\-%]{1,128})="
    r"|(?P<arrow_lead>[(\[{,] ?)(?P<arrow_key>[\w.\-]{1,128}) ?-> ?"
    r"|(?:^|\s)--(?P<option_key>[\w.\-]{1,128})\s{1,4}(?!--)"
    r"|\s(?P<quoted_key>[\w.\-]{1,128})=(?=\")"
    r"|\\?\"(?P<json_key>[\w.\- ]{1,128})\\?\"\s{0,4}:\s{0,4}(?=\\?\")"
    r"|[({,]\s{0,8}(?:(?P<sql_key>[\w.\-]{1,128})\s{1,4}"
    r"|(?P<sql_quote>['\"`])(?P<sql_quoted_key>[\w.\-]{1,128})(?P=sql_quote)\s{0,4}[=: ]\s{0,4})"
    r"(?=['\"])"
    r"|\((?P<pair_key>(?:spark|fs|hadoop)\.[\w.\-]{1,128}), ?"
)
_KEYS: Final = (
    "key", "arrow_key", "option_key", "quoted_key", "json_key", "sql_key", "sql_quoted_key",
    "pair_key",
)  # fmt: skip
_QUERY_END: Final = re.compile(r"[&\s\"'<>]")
_PAIR_END: Final = re.compile(r"[;\s\"']")
# A comma inside a value goes on: [password=a,b, c=d]
_MAP_END: Final = re.compile(r",(?=\s|\Z|[\w.\-]{1,128}(?:=| ?->))|[)\]}]")
_GROUP_END: Final = re.compile(r",(?=\s{0,4}[\w.\-]{1,128}=)|\)(?=[()\[\],/:;?&#\s\"']|\Z)")
_OPTION_END: Final = re.compile(r"[\s\"']")
_BRACED: Final = re.compile(r"\{[^}]*+(?:\}\}[^}]*+)*+\}?")  # }} stands for } inside
# A text that is one URL or connection string as a whole has blanks in its values only.
_WHOLE: Final = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.\-]{0,63}:\S|[\w.\- ]{1,64}=[^;\s]{0,256};)")
_WHOLE_QUERY_END: Final = re.compile(r"[&\n]")
_WHOLE_PAIR_END: Final = re.compile(r"[;\n]")
# Elsewhere a blank is one of the value when another parameter follows.
_BLANK_INSIDE: Final = re.compile(r"[ \t][^&;?,\n\"'<>()\[\]{}]{0,128}(?=[&;][\w.\-]{1,128}=)")
# //u:p@host without a scheme, as drivers print it
_BARE_LOGIN: Final = re.compile(r"(?<![:\w])//[^/@\s:;?&\"'<>]{1,256}:[^/@\s;?&\"'<>]{0,256}@")
_ORACLE_LOGIN: Final = re.compile(
    r"(?i)(:(?:thin|oci8?):)[^@/\s]{1,256}/(?:\"[^\"\n]{0,128}\"@|\S{0,256}@)"
)
_HEADER: Final = re.compile(
    r"(?i)\b(authorization\s?:\s?(?:bearer|basic|digest|negotiate|token|apikey)\s{1,4}"
    r"|x-[a-z\-]{0,40}(?:key|token|secret)\s?:\s{0,4})[^\s\"',;)\]}]{1,4096}"
)
_BEARER: Final = re.compile(r"\b(Bearer )[\w.~+/=\-]{16,4096}")


# What every rule below needs some of: nearly every text of a plan has none, and is done with.
# Every choice begins with a letter of its own: the engine then skips what begins none of them.
_SUSPICIOUS: Final = re.compile(r"=|:|@|'|->|--|\((?:spark|fs|hadoop)\.|Bearer ")


def mask_text(text: str, rules: Rules = DEFAULT_RULES) -> str:
    """A text with the passwords of URLs and the values of secret settings as ``*****``."""
    if _SUSPICIOUS.search(text) is None:
        return text
    if "://" in text and "@" in text:
        text = _mask_user_info(text, rules)
    if "//" in text and "@" in text:
        text = _BARE_LOGIN.sub(f"//{rules.mask}@", text)
    if _may_hold_settings(text) and _may_name_secret(text, rules):
        text = _mask_settings(text, rules)
    if "@" in text and ":" in text:
        text = _ORACLE_LOGIN.sub(rf"\g<1>{rules.mask}@", text)
        text = _opaque_login(rules.login_schemes).sub(rf"\g<1>{rules.mask}@", text)
    if ":" in text and _may_hold_header(text) and _HEADER.search(text):
        text = _HEADER.sub(rf"\g<1>{rules.mask}", text)
    if "Bearer " in text:
        text = _BEARER.sub(rf"\g<1>{rules.mask}", text)
    return text


@lru_cache(maxsize=16)
def _opaque_login(schemes: tuple[str, ...]) -> re.Pattern[str]:
    """``kafka:h1:9092,u:p@h2:9092``: a login without ``//``, up to the last ``@`` of the word."""
    names = "|".join(map(re.escape, schemes))
    return re.compile(rf"(?i)(?<![\w+.\-])((?:{names}):)(?!//)(?:[^\s\"'<>/]|/(?!/)){{1,512}}@")


def _may_hold_settings(text: str) -> bool:
    """Cheap: nearly every text of a plan is none (in ``(a = b)`` a space stands before ``=``)."""
    if "=" in text and text.count("=") > text.count(" ="):
        return True
    for mark in _MARKS:  # noqa: SIM110 - a generator would cost more than all of them
        if mark in text:
            return True
    return False


def _may_hold_header(text: str) -> bool:
    """Whether one of the words that begin a header stands in the text; beyond ASCII ``K`` is k."""
    folded = text.lower()
    return "x-" in folded or "authorization" in folded or not text.isascii()


def _may_name_secret(text: str, rules: Rules) -> bool:
    """Whether some word of the rules stands in the text, as keys are compared; ``%`` may hide it.

    Cheap beside finding the settings: every setting of a text is looked at, one word is looked for.
    """
    if "%" in text:
        return True
    squashed = text.lower().translate(_NO_PUNCTUATION)
    return any(word in squashed for word in _telling(rules))


_NO_PUNCTUATION: Final = str.maketrans("", "", "._- ")


@lru_cache(maxsize=16)
def _telling(rules: Rules) -> tuple[str, ...]:
    """The words that make a key secret, without those that contain another: ``key``, ``pass``."""
    words = {
        *rules.secret_fragments, *rules.secret_endings, *rules.secret_words,
        *rules.secret_parameters, *rules.signature_parameters,
    }  # fmt: skip
    return tuple(sorted(word for word in words if not any(o in word for o in words if o != word)))


_MARKS: Final = ("->", '":', '" :', "--", " '", "' =", "':", "(spark.", "(fs.", "(hadoop.")


def mask_uri(uri: str, rules: Rules = DEFAULT_RULES) -> str:
    """The same for a dataset's URI: the table or query behind a JDBC URL stays as it is."""
    if uri[:7].lower() == "mongodb":
        url, slash, name = uri.rpartition("/")
        if "?" in url and _COLLECTION.fullmatch(name):
            return mask_text(url, rules) + slash + name
    if uri[:4].lower() != "jdbc":
        return mask_text(uri, rules)
    url, _ = jdbc_text.split_table(uri, rules)
    return mask_text(url, rules) + uri[len(url) :]


# mongodb://h/?password=x/db.collection
_COLLECTION: Final = re.compile(r"[^/=&?@#.]+\.[^/=&?@#]+")


def _mask_user_info(text: str, rules: Rules) -> str:
    parts: list[str] = []
    done = 0
    marker = text.find("://")
    while marker >= 0:
        start = marker + 3
        host = user_info_end(text, start)
        if host > start and not _scheme_before(text, marker).endswith(rules.container_schemes):
            parts += (text[done:start], rules.mask, "@")
            done = host
        marker = text.find("://", max(start, host))
    return "".join((*parts, text[done:]))


def _scheme_before(text: str, marker: int) -> str:
    before = text[max(0, marker - _SCHEME_LENGTH) : marker].lower()
    return re.split(r"[^a-z0-9+.\-]", before)[-1]


def _mask_settings(text: str, rules: Rules) -> str:
    parts: list[str] = []
    done = 0
    whole = _WHOLE.match(text) is not None
    found = _SETTING.search(text)
    while found:
        position = found.end()
        if _names_secret(found, rules):
            start, end = _value(text, found, whole=whole)
            if end > start and not _is_masked(text[start:end]):
                parts += (text[done:start], rules.mask)
                done = end
            position = max(position, end)
        found = _SETTING.search(text, position)
    return "".join((*parts, text[done:]))


def _names_secret(found: re.Match[str], rules: Rules) -> bool:
    if found["lead"] in _URL_LEADS:
        return is_secret_parameter(found["key"], rules)
    return is_secret_key(next(found[name] for name in _KEYS if found[name]), rules)


_URL_LEADS: Final = ("?", "&", ";", "#")


def _value(text: str, found: re.Match[str], *, whole: bool) -> tuple[int, int]:
    """Where the value behind a setting begins and ends; ``whole``: the text is one URL."""
    start = found.end()
    if found["quoted_key"] or found["json_key"]:
        start = text.index('"', start) + 1
        end = text.find('"', start)
        if end < 0:
            return start, len(text)
        return start, end - 1 if text[end - 1] == "\\" and end > start else end
    if found["sql_key"] or found["sql_quoted_key"]:
        end = text.find(text[start], start + 1)
        return start + 1, end if end >= 0 else len(text)
    held = start
    if braced := _BRACED.match(text, start):  # SQL Server: password={a;b}
        held = braced.end()
    elif text[start : start + 1] in ("'", '"') and found["lead"] not in _URL_LEADS:
        held = text.find(text[start], start + 1) + 1 or len(text)
    return start, _end(text, held, _stop(found, whole=whole))


def _end(text: str, start: int, stop: re.Pattern[str]) -> int:
    found = stop.search(text, start)
    while found and stop in (_QUERY_END, _PAIR_END):
        blank = _BLANK_INSIDE.match(text, found.start())
        if blank is None:
            break
        found = stop.search(text, blank.end())
    return found.start() if found else len(text)


def _stop(found: re.Match[str], *, whole: bool) -> re.Pattern[str]:
    lead = found["lead"]
    if lead is None:
        return _OPTION_END if found["option_key"] else _MAP_END
    if lead in ("?", "&", "#"):
        return _WHOLE_QUERY_END if whole else _QUERY_END
    if lead in (";", "", "\n"):
        return _WHOLE_PAIR_END if whole else _PAIR_END
    if "(" in lead:
        return _GROUP_END
    return _MAP_END if lead[0] in "[{," else _OPTION_END


_MASKED: Final = re.compile(r"\s*(?:\*{3,}(?:\(redacted\))?)?\s*")


def _is_masked(value: str) -> bool:
    """``*****``, Spark's ``*********(redacted)`` and the like: nothing is left to hide."""
    return _MASKED.fullmatch(value) is not None


# --- out of documents ----------------------------------------------------------------------------

# Where a plan says what it reads and writes: a URI with a table, not a plain URL.
_URI_KEYS: Final = frozenset({"outputSource", "inputSources"})
_NUMBER_SECRETS: Final = ("password", "passwd", "passphrase", "pwd", "pin")


def mask_secrets(value: JsonValue, rules: Rules = DEFAULT_RULES) -> JsonValue:
    """A whole JSON document with its secrets as ``*****``; the same object when it has none.

    Masked are the texts (and numbers, for passwords) under a secret-looking key at any depth,
    alone or in a list; the ``value`` beside a ``key`` or ``name`` that looks secret; user-info in
    URLs and secret parameters inside any text. Objects under such a key are walked, not masked:
    a column named ``password`` is no secret, and a reference stays a reference.
    """
    if isinstance(value, str):
        masked = mask_text(value, rules)
        return value if masked == value else masked
    changes = _Walk(rules).changes(value)
    return _copied(value, changes) if changes else value


def are_harmless(texts: Iterable[str], rules: Rules = DEFAULT_RULES) -> bool:
    """Whether ``mask_secrets`` leaves a document as it is that has these texts: keys and values.

    However they are arranged: a rule is about one text alone, or about what stands beside or below
    a text that looks like a secret's name. Documents repeat most of their texts, which are judged
    once: this costs a fraction of the walk. False says nothing.
    """
    known = _harmless_texts(rules)
    new = set(texts).difference(known)
    if not all(_is_harmless(text, rules) for text in new):
        return False
    if len(known) + len(new) > _MOST_KEYS:
        known.clear()
    known.update(text for text in new if len(text) <= _NAME_LENGTH)
    return True


@lru_cache(maxsize=16)
def _harmless_texts(rules: Rules) -> set[str]:  # noqa: ARG001 - each has its own
    return set()


def _is_harmless(text: str, rules: Rules) -> bool:
    name = text[:_NAME_LENGTH]
    looks_secret = is_secret_key.__wrapped__  # what is no key is no use to its memory
    if looks_secret(name, rules) or _squash(name).endswith(_NUMBER_SECRETS):
        return False
    return _SUSPICIOUS.search(text) is None or mask_text(text, rules) == text == mask_uri(
        text, rules
    )


_NESTED: Final = (dict, list)
_MOST_REMEMBERED: Final = 100_000  # texts of one document
_MOST_KEYS: Final = 20_000  # of all documents


@lru_cache(maxsize=16)
def _harmless_keys(rules: Rules) -> set[str]:  # noqa: ARG001 - each has its own
    """Keys that were seen to be no secret: producers say the same few thousand for ever."""
    return set()


class _Walk:
    """Looks at everything in a document once, and passes quickly over what cannot be a secret.

    Documents repeat few keys, which are judged once, and a document many texts, of which those that
    have no secret under a harmless key are remembered.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._changes: dict[int, dict[Any, str]] = {}
        self._objects: list[dict[str, Any]] = []  # to look into
        self._lists: list[tuple[list[Any], str]] = []  # the same, each with the key above it
        self._harmless_keys = _harmless_keys(rules)
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
        named = _named_secret(container, self._rules) if paired else None
        keys, texts = self._harmless_keys, self._harmless
        for key, item in container.items():
            if isinstance(item, str):
                if key in keys and key != named and (item in texts or self._is_plain(item)):
                    continue
            elif isinstance(item, dict):
                self._objects.append(item)
                continue
            holder = "password" if key == named else key
            if isinstance(item, list):
                self._lists.append((item, holder))
            else:
                self._look_at(container, key, holder)

    def _look_into_list(self, container: list[Any], above: str) -> None:
        options = len(container) == 2 or "-" in [
            item[:1] for item in container if isinstance(item, str)
        ]
        keys, texts = () if options else self._harmless_keys, self._harmless
        for index, item in enumerate(container):
            if isinstance(item, dict):
                self._look_into_object(item)
            elif isinstance(item, list):
                self._lists.append((item, above))
            elif not (
                above in keys and isinstance(item, str) and (item in texts or self._is_plain(item))
            ):
                follows = options and _follows_name(container, index, self._rules)
                self._look_at(container, index, "password" if follows else above)

    def _is_plain(self, text: str) -> bool:
        """Nearly all of a document: a text that no rule can apply to under a harmless key."""
        plain = _SUSPICIOUS.search(text) is None
        if plain and len(self._harmless) < _MOST_REMEMBERED:
            self._harmless.add(text)
        return plain

    def _look_at(self, container: Any, place: Any, key: str) -> None:
        """Notes the text to put in place of a scalar, unless it may stay."""
        item = container[place]
        if isinstance(item, str):
            masked = self._masked_text(item, key)
        elif isinstance(item, bool) or not isinstance(item, _NUMBERS) or not _hides_numbers(key):
            return
        else:
            masked = self._rules.mask
        if masked != item:
            self._changes.setdefault(id(container), {})[place] = masked

    def _masked_text(self, text: str, key: str) -> str:
        if self._is_secret(key):
            return text if _is_masked(text) else self._rules.mask
        if key in _URI_KEYS:
            return mask_uri(text, self._rules)
        if text in self._harmless:
            return text
        masked = mask_text(text, self._rules)
        if masked == text and len(self._harmless) < _MOST_REMEMBERED:
            self._harmless.add(text)
        return masked

    def _is_secret(self, key: str) -> bool:
        secret = is_secret_key(key[:_NAME_LENGTH], self._rules)
        if not secret and key not in _URI_KEYS and len(key) <= _NAME_LENGTH:
            if len(self._harmless_keys) >= _MOST_KEYS:  # somebody makes them up
                self._harmless_keys.clear()
            self._harmless_keys.add(key)
        return secret


_NUMBERS: Final = (int, float)


@lru_cache(maxsize=8192)
def _hides_numbers(key: str) -> bool:
    return _squash(key[:_NAME_LENGTH]).endswith(_NUMBER_SECRETS)


_PAIRS: Final = (("key", "value"), ("name", "value"), ("option", "value"), ("_1", "_2"))


def _named_secret(container: dict[str, Any], rules: Rules) -> str | None:
    """``{"key": "fs.s3a.secret.key", "value": "…"}`` => "value"; None: no secret is named."""
    for naming, holding in _PAIRS:
        name = container.get(naming) if holding in container else None
        if isinstance(name, str):
            return holding if is_secret_key(name[:256], rules) else None
    return None


def _follows_name(items: list[Any], index: int, rules: Rules) -> bool:
    """``["--password", "…"]``, ``["spark.hadoop.fs.s3a.secret.key", "…"]``; no list of columns."""
    name, item = items[index - 1] if index else None, items[index]
    if not isinstance(name, str) or not isinstance(item, str) or len(name) > _NAME_LENGTH:
        return False
    if name.startswith("-"):
        named = "=" not in name and not item.startswith("--")
    else:
        named = len(items) == 2 and (name.count(".") > 1 or name.startswith("spark."))
    return named and not re.search(r"\s", name) and is_secret_key(name, rules)


_NAME_LENGTH: Final = 256


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
