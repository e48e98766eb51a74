"""The values of an expression behind a secret's name: code and lists, whose words name no secret.

    password = os.environ.get("X") or "x"      const key = process.env.KEY ?? 'x'
    passwords = {"dev": "x", "prod": "y"}      USER, PASSWORD = "u", "x"
    api_keys: [x, y]                           let password = String::from("x")

The argument of a call and an index name something (``get("db-password")``), unless the call only
makes a value of its argument. Read are the next 512 characters, up to the end of the statement.

Where no sign of the grammar gives a value, ``reached`` reads on, over signs and a few words that
name nothing else, to the first text that looks like a password:

    password ==> x1y2z3     password: str | None = "x1y2z3"     DECLARE @pw VARCHAR(50) = 'x1y2z3'
    token() { return "x1"; }   Field(password, default="x1y2")  password for user "svc01": none
"""

from __future__ import annotations

import re
from typing import Final

from spark_agent_config.masking.names import NAME_LENGTH, is_secret_key
from spark_agent_config.masking.tokens import is_random
from spark_agent_config.masking.values import (
    PLAIN_WORDS,
    is_fetched,
    is_mixed,
    is_name,
    is_numbered,
    is_reference,
    is_strong,
    is_told,
    is_type,
)

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
    r"[ \t]{0,64}(?:(?<=[=:(\[{>|\\,])\n\s{0,64})?"
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
