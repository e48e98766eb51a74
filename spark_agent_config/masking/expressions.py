"""Values of code, lists, calls and rows, which a secret's name alone does not hold.

Behind a secret's name the words of an expression name no secret:

    password = os.environ.get("X") or "x"      const key = process.env.KEY ?? 'x'
    passwords = {"dev": "x", "prod": "y"}      USER, PASSWORD = "u", "x"
    api_keys: [x, y]                           let password = String::from("x")

The argument of a call and an index name something (``get("db-password")``), unless the call only
makes a value of its argument. Read are the next 512 characters, up to the end of the statement.

Where no sign of the grammar gives a value, ``reached`` reads on, over signs and a few words that
name nothing else, to the first text that looks like a password:

    password ==> x1y2z3     password: str | None = "x1y2z3"     DECLARE @pw VARCHAR(50) = 'x1y2z3'
    token() { return "x1"; }   Field(password, default="x1y2")  password for user "svc01": none

Of a call that takes a secret its place among the arguments shows it: ``HTTPBasicAuth("me", "x")``.

In the column of a secret's name stand inserted rows, and lines of printed tables. Every line and
every row is read once:

    INSERT INTO c (name, password) VALUES ('a', 'x')     user,password
    | user | password |                                  svc,x
    | svc  | x        |                                  |key        |value|
                                                         |db.password|x    |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from spark_agent_config.masking.names import (
    NAME_LENGTH,
    PLAIN_WORDS,
    is_fetched,
    is_mixed,
    is_name,
    is_numbered,
    is_reference,
    is_secret_key,
    is_strong,
    is_told,
    is_type,
)
from spark_agent_config.masking.tokens import is_random

_LONGEST: Final = 512
# Behind the name: password: str =   passwords[] =   apiKeys:   credentials <-
_ASSIGNED: Final = re.compile(
    r"\\{0,3}[\"'`]?\]?(?:\s{0,4}:\s{0,4}[A-Za-z_][\w.\[\], <>]{0,64}(?==))?"
    r"(?:\s{0,4}:?=(?![=>~])\s{0,4}|\s{0,4}<-\s{0,4}|(?P<colon>:[ \t]{0,8}))"
)
_ITEMS: Final = re.compile(r"(?:\n[ \t]{0,32}-[ \t]{1,8}[^\n]{1,256}){1,32}")
_ITEM: Final = re.compile(r"-[ \t]{1,8}[\"']?([^\s\"',]{1,256})")
_FLOW_LIST: Final = re.compile(r"\[([^\[\]\n\"'(){}]{1,512})\]")
_WORD: Final = re.compile(r"[^\s,]{1,256}")
_SIGN: Final = re.compile(r"[\"'`(){}\[\],;\n]")
# Calls that make a value of their argument.
_MAKERS: Final = frozenset({
    "from", "fromhex", "b64decode", "a85decode", "unhexlify", "some", "option", "string", "str",
    "bytes", "bytearray", "list", "set", "tuple", "array", "aslist", "of", "seq", "map", "vec",
    "securestring", "secretstr", "secret", "just", "text",
})  # fmt: skip
_HOLDER: Final = re.compile(r"\w{0,64}(?:sensitive|secret|credentials?|password)\Z")
# What stands between a value and the one before it: "or", "||", a comma …
_LEADS: Final = re.compile(
    r"(?:\A|[(\[{,?+]|\|\||\bor|\belse|\breturn|\blambda:|\s:|=>|->)\s{0,8}\Z"
)
_KEY_LEADS: Final = re.compile(r"(?::|=>|->|=)\s{0,8}\Z")
_PREFIX: Final = re.compile(r"[bBrRuUfF@]{1,2}\Z")
_OF_A_KEY: Final = re.compile(r"\s{0,4}(?::|=)")


def values(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Where the texts of the expression stand that is given to the name which ends at ``start``,
    and where what was read ends.
    """
    assigned = _ASSIGNED.match(text, start)
    if assigned is None:
        return [], start
    first = assigned.end()
    if listed := _ITEMS.match(text, first):
        return [match.span(1) for match in _ITEM.finditer(text, first, listed.end())], listed.end()
    if flow := _FLOW_LIST.match(text, first):
        return [word.span() for word in _WORD.finditer(text, *flow.span(1))], flow.end()
    if assigned["colon"] is None or text.startswith(("[", "(", "{"), first):
        return _literals(text, first)
    return [], first


def _literals(text: str, first: int) -> tuple[list[tuple[int, int]], int]:
    """The literals of code that are values of the expression, not names in it; and its end."""
    stop = min(len(text), first + _LONGEST)
    held: list[tuple[int, int]] = []
    holding: list[bool] = []  # for each open bracket: whether its items are values
    place = behind = first
    while sign := _SIGN.search(text, place, stop):
        mark, place = sign.group(), sign.end()
        if mark in _QUOTES:
            end = text.find(mark, place, stop)
            if end < 0:
                break
            if all(holding) and _is_value(text, behind, sign.start(), end, bool(holding)):
                held.append((place, end))
            place = behind = end + 1
        elif mark in "([{":
            called = _called(text, first, sign.start())
            holding.append(called is None or _makes_value(called))
            behind = sign.start()
        elif mark in ")]}":
            if not holding:
                break
            holding.pop()
        elif mark == "," or holding:
            behind = sign.start()
        else:
            break
    return held, place


_QUOTES: Final = "\"'`"


def _makes_value(called: str) -> bool:
    """``String::from("x")``, ``Sensitive("x")``; not ``get_secret("name")``."""
    name = called.lower()
    return name in _MAKERS or (called[:1].isupper() and _HOLDER.match(name) is not None)


def _called(text: str, first: int, opener: int) -> str | None:
    """The word that a bracket touches; "" for another value, None for nothing."""
    if opener == first or not (text[opener - 1].isalnum() or text[opener - 1] in "_)]!"):
        return None
    match = _TOUCHING.search(text, max(first, opener - 64), opener)
    return match.group(1) if match else ""


_TOUCHING: Final = re.compile(r"(?<!\w)(\w{1,64})!?\Z")


def _is_value(text: str, behind: int, quote: int, end: int, nested: bool) -> bool:
    """Whether a literal follows a sign that gives values, and is no key itself."""
    if _OF_A_KEY.match(text, end + 1):
        return False
    before = _PREFIX.sub("", text[max(behind, quote - 64) : quote])
    return _LEADS.search(before) is not None or (nested and _KEY_LEADS.search(before) is not None)


# --- beyond the signs of the grammar -------------------------------------------------------------

# … and that of a property: ApiKey { get; set; } = "x1y2z3"
_NAME_END: Final = re.compile(
    r"\\{0,7}[\"'`]?\]?(?:\s{0,8}\{\s{0,8}get;[^{}\n=]{0,64}\})?"
    r"(?:\s{1,4}[Aa]s\s{1,4}[A-Z]\w{0,32}(?=\s{0,4}=))?"
)
# Blanks, a line feed behind a sign that goes on, and the next text in quotes, sign or word.
_STEP: Final = re.compile(
    r"[ \t]{0,64}(?:(?<=[=:(\[{>|\\,])\r?\n\s{0,64})?"
    r"(?:[bBrRuUfFsN@]{0,2}(?P<quote>\\{0,3}[\"'`])(?P<text>[^\"'`\\\n]{0,256})(?:\\{1,2}[rnt]){0,2}(?P=quote)"
    r"|(?P<sign>[\"'`,;(){}\[\]<>=:|~?\\])|(?P<word>[^\s\"'`,;(){}\[\]<>=:|~?\\]{1,256}))"
)
_MOST_STEPS: Final = 16
_MOST_WORDS: Final = 5
_FARTHEST: Final = 160
_HOLDING: Final = frozenset(
    {
        "default",
        "value",
        "fallback",
        "default_value",
        "initial",
        "else",
        "default_var",
        "defaultvalue",
    }
)
_LINK: Final = re.compile(r"[A-Za-z_@$%.&][\w.\-$]{0,64}|[0-9]{1,4}|[+\-]|!=?")
# Behind these another thing is named, or the sentence is over.
_ELSEWHERE: Final = frozenset({
    "user", "username", "login", "for", "of", "on", "at", "in", "column", "field",
    "table", "file", "path", "host", "line", "version", "id", "ids", "name", "job", "run", "type",
    "account", "since", "until", "after", "before", "expires", "expired", "position", "near", "as",
    "url", "where", "and", "select", "import", "endpoint", "region", "class", "policy", "scope",
    "provider",
})  # fmt: skip
_SHORTEST_ISSUED: Final = 20


def reached(text: str, start: int, *, in_query: bool) -> tuple[int, int] | None:
    """The first text behind a name that looks like a password, if nothing else is named between.

    In a query a name is mostly a column: there only a random word is one, or what looks like a
    password and is compared with it: ``passwd = md5('x')``, ``api_key IN ('x')``.
    """
    closed = _NAME_END.match(text, start)
    place = closed.end() if closed else start
    stop = min(len(text), start + _FARTHEST)
    words = 0
    signs = ""
    listed = False  # behind a comma, where a name may have a value of its own
    for _ in range(_MOST_STEPS):
        step = _STEP.match(text, place, stop)
        if step is None:
            return None
        place = step.end()
        value = step["text"] if step["text"] is not None else step["word"]
        if step["sign"] or not value or (step["quote"] and _BETWEEN.fullmatch(value)):
            if step["sign"] == ";":
                return None
            if value:  # the quote closes a text before
                place = step.start("text")
            signs += step["sign"] or step["quote"]
            listed = listed or step["sign"] == ","
            continue
        is_key = _OF_A_KEY.match(text, place) is not None and (
            value.lower() not in _HOLDING and value.lower() not in PLAIN_WORDS
        )
        if is_key and (listed or words) and not is_type(value):
            return None
        fetched = not step["quote"] and is_fetched(text, step.start("word"))
        if not fetched and _is_reached(value, bool(step["quote"]), words, signs, in_query=in_query):
            return step.span("text" if step["quote"] else "word")
        words += 1
        if in_query and (
            value.lower() in _COMPARING or (signs == "=" and text[place : place + 1] == "(")
        ):
            signs += "="
            continue
        if words > _MOST_WORDS or in_query or not _leads_on(text, step, value):
            return None
    return None


_COMPARING: Final = frozenset({"in", "like", "ilike", "rlike", "not"})
_BETWEEN: Final = re.compile(r"[\s,:;=+)(%\]\[]{0,64}")


def _is_reached(value: str, quoted: bool, words: int, signs: str, *, in_query: bool) -> bool:
    """``signs``: those before it, of which some give a value and others, as a comma, list names."""
    if is_reference(value) or is_type(value) or value.lower() in PLAIN_WORDS:
        return False
    if is_secret_key(value[-NAME_LENGTH:]) and not is_mixed(value):
        return False
    if in_query:
        if not quoted or not signs:
            return False
        if signs[0] in "=<>" and "," not in signs and is_mixed(value) and not is_name(value):
            return True
        return len(value) >= _SHORTEST_ISSUED and is_random(value)
    gives = not _GIVING.isdisjoint(signs)
    if (quoted and signs) or (gives and words == 0):
        return is_told(value) and not is_name(value) and (gives or not is_numbered(value))
    return is_mixed(value)


_GIVING: Final = frozenset("=:>|~")


def _leads_on(text: str, step: re.Match[str], value: str) -> bool:
    """Whether a word, a call or a short text may stand between a name and its value."""
    if step["quote"]:
        return not is_secret_key(value[-NAME_LENGTH:]) and not is_strong(value)
    called = text.startswith("(", step.end())
    return _LINK.fullmatch(value) is not None and (called or value.lower() not in _ELSEWHERE)


# --- calls ---------------------------------------------------------------------------------------


class _Call(NamedTuple):
    """Which argument is secret, from 0 or from the end, of a call with ``least`` arguments."""

    place: int
    least: int = 1


_LAST_OF_TWO: Final = _Call(1, 2)
_LAST: Final = _Call(-1, 2)
_FIRST: Final = _Call(0)
_CALLS: Final[Mapping[str, _Call]] = {
    # Java and Scala: logins
    "usernamepasswordcredentials": _LAST_OF_TWO, "passwordauthentication": _LAST_OF_TWO,
    "basicawscredentials": _LAST_OF_TWO, "awscredentials": _LAST_OF_TWO,
    "basicsessioncredentials": _LAST_OF_TWO, "awsbasiccredentials": _LAST_OF_TWO,
    "plaintextauthprovider": _LAST_OF_TWO,
    "plaintextauthenticator": _LAST_OF_TWO, "storagesharedkeycredential": _LAST_OF_TWO,
    "azurenamedkeycredential": _LAST_OF_TWO,
    "basiccredentials": _LAST_OF_TWO, "networkcredential": _LAST_OF_TWO,
    "pscredential": _LAST_OF_TWO, "getconnection": _Call(2, 3), "withcredentials": _LAST_OF_TWO,
    "passwordcredential": _LAST_OF_TWO, "credentials": _LAST, "login": _LAST_OF_TWO,
    # Python and others
    "httpbasicauth": _LAST_OF_TWO, "httpdigestauth": _LAST_OF_TWO, "httpproxyauth": _LAST_OF_TWO,
    "basicauth": _LAST_OF_TWO, "basic_auth": _LAST_OF_TWO, "digestauth": _LAST_OF_TWO,
    "set_basic_auth": _LAST_OF_TWO, "setbasicauth": _LAST_OF_TWO, "plaincredentials": _LAST_OF_TWO,
    "checkpw": _FIRST, "hashpw": _FIRST, "boto3.session": _LAST_OF_TWO, "url.create": _Call(2, 3),
    "fernet": _FIRST, "secretstr": _FIRST, "azurekeycredential": _FIRST, "clientsecret": _FIRST,
    "azuresascredential": _FIRST, "azuresaskeycredential": _FIRST, "secretkeyspec": _FIRST,
    "from_connection_string": _FIRST, "tokencredentials": _FIRST, "pbekeyspec": _FIRST,
    # SQL: keys of functions, and the tables of other databases
    "basicauthentication": _LAST_OF_TWO, "jwtauthentication": _FIRST, "minio": _Call(2, 3),
    "clientsecretcredential": _Call(2, 3), "ssh.connect": _Call(3, 4),
    "create_credential": _Call(2, 3), "awsbasiccredentials.create": _LAST_OF_TWO,
    "awssessioncredentials.create": _LAST_OF_TWO, "credentials.basic": _LAST_OF_TWO,
    "authenticate": _LAST_OF_TWO, "withbasicauth": _LAST_OF_TWO, "set_password": _Call(-1, 2),
    "set_secret": _LAST_OF_TWO, "redis": _Call(3, 4), "strictredis": _Call(3, 4), "totp": _FIRST,
    "securestring": _FIRST, "secret.fromstring": _FIRST, "pdo": _Call(2, 3), "mysqli": _Call(2, 3),
    "mysqli_connect": _Call(2, 3), "mysql_real_connect": _Call(3, 4), "old_password": _FIRST,
    "dbi->connect": _Call(2, 3), "dbi.connect": _Call(2, 3),
    "decryptbykeyautocert": _LAST_OF_TWO, "crypt": _Call(0, 2),
    "auth": _LAST_OF_TWO, "user_auth": _LAST_OF_TWO, "hmac.new": _FIRST, "aes.new": _FIRST,
    "jwt.encode": _LAST_OF_TWO, "jwt.sign": _LAST_OF_TWO, "jwt_encode": _LAST_OF_TWO,
    "jwt.decode": _LAST_OF_TWO, "pbkdf2_hmac": _LAST_OF_TWO,
    "pymysql.connect": _Call(2, 3), "mysqldb.connect": _Call(2, 3), "mariadb.connect": _Call(2, 3),
    "cx_oracle.connect": _LAST_OF_TWO, "oracledb.connect": _LAST_OF_TWO,
    "dbapi.connect": _Call(3, 4), "pgp_sym_encrypt": _LAST_OF_TWO, "pgp_sym_decrypt": _LAST_OF_TWO,
    "aes_encrypt": _LAST_OF_TWO, "aes_decrypt": _LAST_OF_TWO, "try_aes_decrypt": _LAST_OF_TWO,
    "des_encrypt": _LAST_OF_TWO, "des_decrypt": _LAST_OF_TWO, "encode_password": _FIRST,
    "encryptbypassphrase": _FIRST, "decryptbypassphrase": _FIRST, "decrypt_raw": _LAST_OF_TWO,
    "decrypt": _LAST_OF_TWO, "encrypt": _LAST_OF_TWO, "hmac": _LAST_OF_TWO,
    "mysql": _Call(-1, 4), "postgresql": _Call(4, 5), "remote": _Call(-1, 4),
    "remotesecure": _Call(-1, 4), "mongodb": _Call(4, 5), "s3": _Call(2, 3), "gcs": _Call(2, 3),
    "s3cluster": _Call(3, 4), "hudi": _Call(2, 3), "deltalake": _Call(2, 3), "iceberg": _Call(2, 3),
    "openrowset": _Call(3, 5), "set_wallet": _LAST_OF_TWO, "vault.create_secret": _FIRST,
    "dbms_crypto.encrypt": _Call(2, 3), "dbms_crypto.decrypt": _Call(2, 3),
    "dbms_crypto.mac": _Call(2, 3), "azureblobstorage": _Call(4, 5),
}  # fmt: skip
_LAST_PART: Final = re.compile(r"\.|->")
_CIPHER: Final = "crypt"
_MODE: Final = re.compile(r"\s{0,8}'aes-")  # encrypt('aes-256-gcm', text, 'key') of ClickHouse
_CALL: Final = re.compile(r"(?<!\w)((?:[A-Za-z_]\w{0,63}(?:\.|->))?[A-Za-z_]\w{0,63})\s{0,4}\(")
# Read backwards, a call begins with its parenthesis, and other words cost nothing.
_CALLED: Final = re.compile(r"\( {0,4}(\w{1,40})")
_CALLED_NAMES: Final = frozenset(_LAST_PART.split(name)[-1][::-1] for name in _CALLS)
_MOST_CALLS: Final = 1_000
"""Of one text: one with more is masked as a whole, as one with more secrets is."""
_LONGEST_CALL: Final = 1_024
_ARGUMENT: Final = re.compile(
    r"\s{0,64}(?:\w{1,64}\s{0,2}=>?\s{0,2})?(?P<called>(?:[\w.]{1,64}\(\s{0,4}){1,4})?"
    r"[NbBrRuUfF]?(?P<quote>'''|\"\"\"|['\"])"
)
_STRING_OR_SIGN: Final = re.compile(r"['\"(){}\[\],;]")


def calls(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The secrets among the arguments of calls. ``lowered`` is the text in lower case."""
    if not _has_literal(text):
        return
    if "auth" in lowered or "cred" in lowered or "login" in lowered:
        yield from (match.span("secret") for match in _TUPLE.finditer(text))
    if not may_call(text, lowered):
        return
    done = seen = 0
    for match in _CALL.finditer(text):
        name = match[1].lower()
        call = _CALLS.get(name) or _CALLS.get(_LAST_PART.split(name)[-1])
        if call is None and _CIPHER in name:
            call = _LAST_OF_TWO
        looks_like_a_login = call is None and _OF_LOGINS.search(name[::-1]) is not None
        if looks_like_a_login:
            call = _LAST
        if call is None or match.start() < done:
            continue
        seen += 1
        if seen > _MOST_CALLS:
            yield 0, len(text)
            return
        held = list(_arguments(text, match.end()))
        if call.least <= len(held):
            if _CIPHER in name and len(held) > 2 and _MODE.match(text, *held[0]):
                call = _Call(2)
            span = _literal(text, *held[call.place])
            if span and not (looks_like_a_login and not _is_password(text[slice(*span)])):
                done = held[-1][1]
                yield span


def _has_literal(text: str) -> bool:
    """Whether an argument of a call begins with a quote."""
    return "(" in text and _LITERAL.search(text) is not None


_LITERAL: Final = re.compile(r"[\"'](?<=[(,\s=bBrRuUfFN][\"'])")


def may_call(text: str, lowered: str) -> bool:
    """Whether the text may have a call that takes a secret."""
    if not _has_literal(text):
        return False
    if _CIPHER in lowered:
        return True
    called = _CALLED.findall(lowered[::-1])
    return not _CALLED_NAMES.isdisjoint(called) or any(map(_OF_LOGINS.search, called))


# auth, connect, login, logon, cred, passw, userpass, bind, create_user, read backwards:
# LdapBind("cn=a", "x1y2")
_OF_LOGINS: Final = re.compile(
    r"resu_?(?:etaerc|dda)|htua|tcennoc|nigol|nogol|derc|wssap|ssapresu|dnib"
)


def _is_password(value: str) -> bool:
    """Whether the last argument of such a call is no page, name or host."""
    named = is_name(value) or is_numbered(value) or "." in value
    return is_strong(value) and not is_reference(value) and not named


# auth=("svc", "x"), creds = ("svc", "x")
_TUPLE: Final = re.compile(
    r"(?i)\b\w{0,64}(?:auth|creds?|credentials?|login)[\"']?\]?\s{0,4}[=:]\s{0,4}[(\[]\s{0,4}"
    r"[bru]?[\"'][^\"'\n]{0,128}[\"']\s{0,4},\s{0,4}[bru]?(?P<q>[\"'])(?P<secret>[^\"'\n]{1,256})"
    r"(?P=q)\s{0,4}[)\]]"
)


def _arguments(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The places of a call's arguments; none where it does not end soon."""
    depth, first, stop = 0, start, min(len(text), start + _LONGEST_CALL)
    position = start
    for _ in range(_LONGEST_CALL):
        match = _STRING_OR_SIGN.search(text, position, stop)
        if match is None:
            return
        sign, position = match.group(), match.end()
        if sign in "'\"":
            end = text.find(sign, position, stop)
            if end < 0:
                return
            position = end + 1
        elif sign in "([{":
            depth += 1
        elif depth:
            depth -= sign in ")]}"
        elif sign in ",;":
            yield first, match.start()
            first = position
        else:
            yield first, match.start()
            return


def _literal(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The inside of an argument that begins with a text in quotes: ``'x'``, ``sha2('x1', 256)``."""
    opening = _ARGUMENT.match(text, start, end)
    if opening is None:
        return None
    first = opening.end()
    close = text.find(opening["quote"], first, end)
    if close <= first or (opening["called"] and not _is_password(text[first:close])):
        return None
    return first, close


# --- columns -------------------------------------------------------------------------------------

Span = tuple[int, int]


def columns(text: str) -> Iterator[Span]:
    """Where values stand in columns whose names are those of secrets."""
    if _INSERT.search(text):
        yield from _of_inserts(text)
    if "|" in text or ("\n" in text and ("," in text or ";" in text or "\t" in text)):
        yield from _of_lines(text)


# --- rows of a statement -------------------------------------------------------------------------

_INSERT: Final = re.compile(
    r"(?i)\b(?:insert|upsert|replace)\s{1,8}(?:overwrite|into)\s[^()\n;]{1,256}"
    r"\((?P<names>[^()]{1,2048})\)\s{0,16}values\s{0,16}(?=\()"
)
_MOST_ROWS: Final = 1_000


def _of_inserts(text: str) -> Iterator[Span]:
    for insert in _INSERT.finditer(text):
        names = [name.strip(" \t\r\n\"'`[]\\") for name in insert["names"].split(",")]
        secret = [at for at, name in enumerate(names) if is_secret_key(name[:NAME_LENGTH])]
        row = insert.end()
        for _ in range(_MOST_ROWS if secret else 0):
            given = list(_arguments(text, row + 1))
            held = [_literal(text, *given[at]) for at in secret if at < len(given)]
            yield from (span for span in held if span and _is_secret(text[slice(*span)]))
            following = _NEXT_ROW.match(text, given[-1][1]) if given else None
            if following is None:
                break
            row = following.end() - 1


_NEXT_ROW: Final = re.compile(r"\)\s{0,16},\s{0,16}\(")


def _is_secret(value: str) -> bool:
    return not (is_reference(value) or is_type(value) or value.lower() in _NO_SECRETS)


_NO_SECRETS: Final = frozenset({"yes", "no", "true", "false", "y", "n", "null", "none", "-", "?"})

# --- printed tables ------------------------------------------------------------------------------

_LINE: Final = re.compile(r"[^\n]+")
_ROW: Final = re.compile(r"[ \t]{0,8}\|[^\n]{1,4096}\|[ \t\r]{0,8}")
_RULE: Final = re.compile(r"[ \t]{0,8}[+|\-: \t=]+")
_HEADER: Final = re.compile(
    r"[\w.\-]{1,64}(?:(?P<sign>[,;\t])[\w.\-]{1,64})(?:(?P=sign)[\w.\-]{1,64}){0,31}"
)
_PAIR: Final = ("name", "value")
_KEYS: Final = frozenset({"key", "name", "property", "setting", "option", "conf", "parameter"})
_VALUES: Final = frozenset({"value", "val", "default", "current"})


def _of_lines(text: str) -> Iterator[Span]:
    header: list[str] = []
    divider = ","
    for line in _LINE.finditer(text):
        shown = line.group()
        if _RULE.fullmatch(shown):
            continue
        if heading := _HEADER.fullmatch(shown):
            divider = heading["sign"]
        sign = "|" if _ROW.fullmatch(shown) else divider
        cells = list(_cells(shown, sign, line.start()))
        names = [text[slice(*cell)].lower() for cell in cells]
        if sign == "|" and len(cells) == len(_PAIR) and _names(names[0]):  # | password | x1y2 |
            yield from (cell for cell in cells[1:] if is_strong(text[slice(*cell)]))
        if len(cells) != len(header):
            header = names if sign == "|" or heading else []
            continue
        for at, (cell, name) in enumerate(zip(cells, header, strict=True)):
            value = text[slice(*cell)]
            keyed = at and header[at - 1] in _KEYS and name in _VALUES and _names(names[at - 1])
            holds = value and _is_secret(value) if sign == "|" else is_strong(value)
            if holds and (keyed or _names(name)):
                yield cell


def _names(name: str) -> bool:
    return len(name) <= NAME_LENGTH and is_secret_key(name)


def _cells(line: str, sign: str, start: int) -> Iterator[Span]:
    """Where the cells stand, without the blanks around them."""
    places = [place for place, character in enumerate(line) if character == sign]
    if sign != "|":
        places = [-1, *places, len(line)]
    for first, last in pairwise(places):
        cell = line[first + 1 : last]
        yield (
            start + first + 1 + len(cell) - len(cell.lstrip()),
            start + first + 1 + len(cell.rstrip()),
        )
