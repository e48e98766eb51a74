"""Masks secrets before a document leaves the driver. Pure, and linear in the text.

The server masks what comes in by the same rules (``graph_model.naming.masking``). The rules stand
here again because this folder travels to clusters alone; ``tests/fixtures/secrets.json`` holds the
two against each other, case by case, and a test their tables, word by word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from spark_agent_config.jdbc_text import split_table

MASK: Final = "*****"

# Names are compared in lower case without punctuation. Found anywhere in a name …
SECRET_FRAGMENTS: Final = (
    "password", "passwd", "passphrase", "secret", "accesskey", "apikey", "privatekey",
    "accountkey", "sharedkey", "signingkey", "encryptionkey", "sastoken", "jaasconfig",
    "passcode", "pvtkey",
)  # fmt: skip
# … or as its end (token, but neither tokenizer nor tokens) …
SECRET_ENDINGS: Final = (
    "token", "pwd", "credential", "credentials", "authorization", "connectionstring",
)  # fmt: skip
# … or as one of its words (fs.azure.sas.<container>.<account>) …
SECRET_WORDS: Final = ("sas", "pass", "pw")
# … or, in the query of a URL, as the whole name.
SECRET_PARAMETERS: Final = (
    "key", "sig", "signature", "auth", "pin", "code", "jsessionid", "authmechanismproperties",
    "xamzsignature", "xgoogsignature",
)  # fmt: skip
# Endings that tell about a secret without being one.
PUBLIC_ENDINGS: Final = (
    "provider", "providers", "url", "uri", "endpoint", "type", "class", "scope", "policy",
    "column", "columns", "count", "length", "expiry", "enabled",
)  # fmt: skip
# Schemes whose hosts may have a login without //: kafka:u:p@h:9092
LOGIN_SCHEMES: Final = (
    "kafka", "pulsar", "kinesis", "pubsub", "cassandra", "redis", "rediss", "amqp", "amqps",
)  # fmt: skip
# container@account: what looks like user-info is part of the name.
CONTAINER_SCHEMES: Final = ("abfss", "abfs", "wasb", "wasbs")

_NAME_LENGTH: Final = 256
_SCHEME_LENGTH: Final = 64  # no scheme is longer; bounds the look backwards
_LOST_PASSWORD: Final = 256  # how far an unescaped slash in a password is followed


# --- names ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def is_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret: ``fs.s3a.secret.key``, ``API-Token``."""
    squashed = _squash(name)
    if squashed.endswith(PUBLIC_ENDINGS):
        return False
    if squashed.endswith(SECRET_ENDINGS) or any(word in squashed for word in SECRET_FRAGMENTS):
        return True
    return not set(SECRET_WORDS).isdisjoint(re.split(r"[\W_]+", name.lower()))


def _is_secret_parameter(name: str) -> bool:
    """The same for a parameter of a URL, where a bare ``key`` or ``sig`` is a secret, too."""
    name = unquote(name[:_NAME_LENGTH])  # X%2DAmz%2DSignature
    return _squash(name) in SECRET_PARAMETERS or is_secret(name)


def _squash(name: str) -> str:
    """Letters and digits alone, in lower case: Access-Key_Id => accesskeyid."""
    return "".join(filter(str.isalnum, name)).lower()


# --- texts ---------------------------------------------------------------------------------------

# //u:p@host without a scheme, as drivers print it
_BARE_LOGIN: Final = re.compile(r"(?<![:\w])//[^/@\s:;?&\"'<>]{1,256}:[^/@\s;?&\"'<>]{0,256}@")
_ORACLE_LOGIN: Final = re.compile(
    r"(?i)(:(?:thin|oci8?):)[^@/\s]{1,256}/(?:\"[^\"\n]{0,128}\"@|\S{0,256}@)"
)
# kafka:h1:9092,u:p@h2:9092: a login without //, up to the last @ of the word
_OPAQUE_LOGIN: Final = re.compile(
    rf"(?i)(?<![\w+.\-])((?:{'|'.join(LOGIN_SCHEMES)}):)(?!//)(?:[^\s\"'<>/]|/(?!/)){{1,512}}@"
)
_HEADER: Final = re.compile(
    r"(?i)\b(authorization\s?:\s?(?:bearer|basic|digest|negotiate|token|apikey)\s{1,4}"
    r"|x-[a-z\-]{0,40}(?:key|token|secret)\s?:\s{0,4})[^\s\"',;)\]}]{1,4096}"
)
_BEARER: Final = re.compile(r"\b(Bearer )[\w.~+/=\-]{16,4096}")
_MARKS: Final = ("->", '":', '" :', "--", " '", "' =", "':", "(spark.", "(fs.", "(hadoop.")


def mask_text(text: str) -> str:
    """The text with logins of URLs and values of secret settings as ``*****``."""
    if "://" in text and "@" in text:
        text = _mask_user_info(text)
    if "//" in text and "@" in text:
        text = _BARE_LOGIN.sub(f"//{MASK}@", text)
    if _may_hold_settings(text):
        text = _mask_settings(text)
    if "@" in text and ":" in text:
        text = _ORACLE_LOGIN.sub(rf"\g<1>{MASK}@", text)
        text = _OPAQUE_LOGIN.sub(rf"\g<1>{MASK}@", text)
    if ":" in text:
        text = _HEADER.sub(rf"\g<1>{MASK}", text)
    if "Bearer " in text:
        text = _BEARER.sub(rf"\g<1>{MASK}", text)
    return text


def mask_uri(uri: str) -> str:
    """The same for what is read or written: the table or query behind a URL stays as it is."""
    if uri[:7].lower() == "mongodb":
        url, slash, name = uri.rpartition("/")
        if "?" in url and _COLLECTION.fullmatch(name):
            return mask_text(url) + slash + name
    if uri[:4].lower() != "jdbc":
        return mask_text(uri)
    url = split_table(uri)
    return mask_text(url) + uri[len(url) :]


# mongodb://h/?password=x/db.collection
_COLLECTION: Final = re.compile(r"[^/=&?@#.]+\.[^/=&?@#]+")


def _may_hold_settings(text: str) -> bool:
    """Cheap: nearly every text of a plan is none (in ``(a = b)`` a space stands before ``=``)."""
    if "=" in text and text.count("=") > text.count(" ="):
        return True
    return any(mark in text for mark in _MARKS)


# --- user-info -----------------------------------------------------------------------------------

_AUTHORITY_END: Final = re.compile(r"[/?#;\s\"'<>]")


def _mask_user_info(text: str) -> str:
    parts: list[str] = []
    done = 0
    marker = text.find("://")
    while marker >= 0:
        start = marker + 3
        host = _host(text, start)
        if host > start and not _scheme_before(text, marker).endswith(CONTAINER_SCHEMES):
            parts += (text[done:start], MASK, "@")
            done = host
        marker = text.find("://", max(start, host))
    return "".join((*parts, text[done:]))


def _scheme_before(text: str, marker: int) -> str:
    before = text[max(0, marker - _SCHEME_LENGTH) : marker].lower()
    return re.split(r"[^a-z0-9+.\-]", before)[-1]


def _host(text: str, start: int) -> int:
    """Where the host begins in an authority that begins at ``start``: after the last ``@``."""
    host = _after_login(text, start)
    while host > start:  # u:p@v:q@host, whatever that means
        start, host = host, _after_login(text, host)
    return start


def _after_login(text: str, start: int) -> int:
    """``user:p/ss@host``: a slash that should have been escaped is recognised by what stands for
    a port and is none.
    """
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


# --- settings inside a text ----------------------------------------------------------------------

# A setting, up to where its value begins. The delimiter tells the form: a URL's query or fragment
# (? & ; #), a group (address=(a=b)(c=d)), a printed map ([a=b, c=d], Map(a -> b)), a line, an
# option (-Da=b, --a=b, --a b, --conf a=b), a quoted value (a="b"), a table's option in SQL
# (OPTIONS (a 'b')) or a pair of Spark's ((spark.a,b)). `where password = 'x'` is none of them: a
# column is not a secret.
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
_URL_LEADS: Final = ("?", "&", ";", "#")
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
_MASKED: Final = re.compile(r"\s*(?:\*{3,}(?:\(redacted\))?)?\s*")


def _mask_settings(text: str) -> str:
    parts: list[str] = []
    done = 0
    whole = _WHOLE.match(text) is not None
    found = _SETTING.search(text)
    while found:
        position = found.end()
        if _names_secret(found):
            start, end = _value(text, found, whole=whole)
            if end > start and not _is_masked(text[start:end]):
                parts += (text[done:start], MASK)
                done = end
            position = max(position, end)
        found = _SETTING.search(text, position)
    return "".join((*parts, text[done:]))


def _names_secret(found: re.Match[str]) -> bool:
    if found["lead"] in _URL_LEADS:
        return _is_secret_parameter(found["key"])
    return is_secret(next(found[name] for name in _KEYS if found[name]))


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


def _is_masked(value: str) -> bool:
    """``*****``, Spark's ``*********(redacted)`` and the like: nothing is left to hide."""
    return _MASKED.fullmatch(value) is not None


# --- documents -----------------------------------------------------------------------------------

# Where a plan says what it reads and writes: a URI with a table, not a plain URL.
_URI_KEYS: Final = frozenset({"outputSource", "inputSources"})
_NUMBER_SECRETS: Final = ("password", "passwd", "passphrase", "pwd", "pin")
_PAIRS: Final = (("key", "value"), ("name", "value"), ("option", "value"), ("_1", "_2"))


def mask_document(document: Any, name: str = "") -> Any:
    """A JSON document with its secrets as ``*****``, as new lists and dicts.

    Masked are the texts (and numbers, for passwords) under a secret-looking key at any depth,
    alone or in a list; the ``value`` beside a ``key`` or ``name`` that looks secret; logins and
    secret parameters inside any text. Objects under such a key are walked, not masked: a column
    named ``password`` is no secret, and a reference stays a reference. ``name`` is the key that
    the document itself stands under.
    """
    if isinstance(document, dict):
        named = _named_secret(document)
        return {
            key: mask_document(item, "password" if key == named else key)
            for key, item in document.items()
        }
    if isinstance(document, list | tuple):
        return [
            mask_document(item, "password" if _follows_name(document, index) else name)
            for index, item in enumerate(document)
        ]
    return _masked_scalar(document, name)


def _named_secret(container: dict[str, Any]) -> str | None:
    """``{"key": "fs.s3a.secret.key", "value": "…"}`` => "value"; None: no secret is named."""
    for naming, holding in _PAIRS:
        name = container.get(naming) if holding in container else None
        if isinstance(name, str):
            return holding if is_secret(name[:_NAME_LENGTH]) else None
    return None


def _follows_name(items: Any, index: int) -> bool:
    """``["--password", "…"]``, ``["spark.hadoop.fs.s3a.secret.key", "…"]``; no list of columns."""
    name, item = items[index - 1] if index else None, items[index]
    if not isinstance(name, str) or not isinstance(item, str) or len(name) > _NAME_LENGTH:
        return False
    if name.startswith("-"):
        named = "=" not in name and not item.startswith("--")
    else:
        named = len(items) == 2 and (name.count(".") > 1 or name.startswith("spark."))
    return named and not re.search(r"\s", name) and is_secret(name)


def _masked_scalar(item: object, name: str) -> object:
    if isinstance(item, str):
        if is_secret(name[:_NAME_LENGTH]):
            return item if _is_masked(item) else MASK
        return mask_uri(item) if name in _URI_KEYS else mask_text(item)
    if isinstance(item, bool) or not isinstance(item, int | float):
        return item
    return MASK if _squash(name[:_NAME_LENGTH]).endswith(_NUMBER_SECRETS) else item
