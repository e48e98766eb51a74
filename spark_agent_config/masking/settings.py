"""Named values inside a text: ``password=x``, ``"token": "x"``, ``OPTIONS (secret 'x')``.

One pass over the names of a text. A secret name is read together with the text before and behind
it, which shows whether it has a value here, and the end of that value:

    ?password=x&…   ;Password=x;…             parameters of a URL, pairs of a connection string
    (password=x)    [password=x, …]           groups and printed maps
    password -> x   "password": "x"           maps and JSON
    password='x'    .option("password", "x")  code and SQL options
    --password x    export PASSWORD=x         command lines
    where password = 'x'                      a comparison: the name is a column and no secret

The text read around a name has a fixed length, and the pass continues behind each value: the time
is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from spark_agent_config.masking.expressions import reached, values
from spark_agent_config.masking.names import (
    NAME_LENGTH,
    PLAIN_WORDS,
    begins_as_type,
    decoded,
    hides_numbers,
    is_address,
    is_fetched,
    is_mixed,
    is_name,
    is_reference,
    is_secret_key,
    is_secret_parameter,
    is_strong,
    is_told,
    is_type,
    squash,
    with_random,
)
from spark_agent_config.masking.tokens import is_random, is_secret_by_value

_NAME: Final = re.compile(r"(?<![\w.%\-])[\w.%\-]+")
_URL_LEADS: Final = ("?", "&", ";", "#")
_STEP: Final = 64 * 1024
_OVERLAP: Final = 16  # longer than any word that is looked for
_LOOK_BACK: Final = 256  # characters before a name that may show its role
_LONGEST_PLAIN: Final = 1_024
"""Characters of a word that may be no secret: a longer one would be read for each name in it."""


def settings(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of secret settings stand, without their quotes."""
    reader = None
    done = 0
    for named in _NAME.finditer(text):
        match, word, start = named, named.group(), named.start()
        if word in _HARMLESS or start < done or not _is_secret_name(word):
            continue
        if word in _PARAMETERS and text[start - 1 : start] not in _URL_LEADS:
            spaced = _spaced(text, match)
            if spaced is None or spaced.start() < done:
                continue
            match = spaced
        reader = reader or _Reader(text)
        span = reader.value(match)
        if span is not None:
            yield span
            done = span[1]
        if is_secret_key(_bare_name(match.group()[-NAME_LENGTH:])):
            yield from reader.further_values(match)


def _is_secret_name(word: str) -> bool:
    """Whether a word of a text may be the name of a secret, as a key or in a URL."""
    name = _bare_name(word[-NAME_LENGTH:])
    secret = is_secret_key(name) or is_secret_parameter(name) or with_random(name).secret
    if not secret and len(word) <= _LONGEST_KEPT:
        if len(_HARMLESS) >= _MOST_KEPT:
            _HARMLESS.clear()
        _HARMLESS.add(word)
    return secret


def _spaced(text: str, match: re.Match[str]) -> re.Match[str] | None:
    """The name of two words that ends with this one: ``API key``."""
    first = _FIRST_WORD.search(text, max(0, match.start() - _LONGEST_FIRST), match.start())
    named = _TWO_WORDS.match(text, first.start()) if first else None
    return named if named and is_secret_key(named.group()) else None


_FIRST_WORD: Final = re.compile(r"(?<![\w.\-/])[A-Za-z]{2,16} \Z")
_TWO_WORDS: Final = re.compile(r"[A-Za-z]{2,16} [A-Za-z]{3,8}")
_LONGEST_FIRST: Final = 24
_PARAMETERS: Final = frozenset({"key", "Key", "KEY", "pin", "code", "sig"})
"""Names of secrets in a URL only, which texts are full of."""
_HARMLESS: Final[set[str]] = set()
"""Words that were seen to be no names of secrets: texts consist of the same few thousand."""
_MOST_KEPT: Final = 20_000
_LONGEST_KEPT: Final = 64


def _bare_name(word: str) -> str:
    """``-Dx.password`` => ``x.password``, ``--password`` => ``password``."""
    name = word.lstrip("-")
    if word.startswith("-D") and len(word) > 2:
        name = name[1:]
    return decoded(name) if "%" in name else name


# Behind a name: its closing quote, and the sign before its value.
_JOINT: Final = re.compile(
    r"(?P<close>\\{0,7}[\"'`]\]?)?(?:"
    # "name": "x", "value": …   name="x" value="…"   - name: x\n  value: …
    r"(?P<pair>(?:[,;]|\s{0,8}:\s{0,8}\{|:|\s{0,8}\{)?\s{0,64}-{0,2}\\{0,7}[\"']?"
    r"(?:\w{1,32}[\"']?:\s{0,4}[\"']?[^\"'\n,]{0,64}[\"']?[,\n]\s{0,64}[\"']?){0,3}"
    r"(?:\w{0,16}[Vv]alue|[Dd]efault|[Vv]al|(?<=[\"'])(?:\$|#?_?text|content|data))"
    r"\\{0,7}[\"']?\s{0,8}[:=][ \t]{0,8}|[ \t]{1,4}--?(?:string-)?[Vv]alue[ =])"
    r"|(?P<element></\w{1,32}>\s{0,64}<(?:string|data|arg|argument|item|li|t[dh](?:\s[^<>]{0,64})?)>|</(?:name|key)>\s{0,64}"
    r"(?:<(?:(?!value)\w{1,32}(?:/>|>[^<]{0,512}</\w{1,32}>)|!--[^<>]{0,512}-->)\s{0,64}){0,4}<value>"
    r"|(?:\s{1,8}[\w:.\-]{1,64}=(?:\"[^\"<>]{0,256}\"|'[^'<>]{0,256}')){0,4}"
    r"(?:\s{0,4}/>\s{0,64}<value>|>(?:\s{0,64}<value>)?(?:<!\[CDATA\[)?))"
    # password: String = …   token: Final[str] = …   password <- …
    r"|(?P<typed>\s{0,8}:\s{0,8}&?[A-Za-z_][\w.]{0,64}(?:\[[\w., ]{0,64}\])?\s{0,8}=[ \t]{0,8}"
    r"(?:(?:Some|Option|new String|SecretStr)\()?(?=[bBrRuUfF@$]{0,2}[\"'`])"
    r"|\s{0,8}<-[ \t]{0,8}(?=[\"'])"
    r"|[ \t]{1,4}(?i:secure)?(?i:string)[ \t]{0,4}=[ \t]{0,8}(?=[\"'])"
    # v_password VARCHAR2(30) := 'x'   passphrase STRING DEFAULT 'x'
    r"|\s{1,4}[A-Za-z]\w{2,32}(?:\s{0,2}\([0-9A-Za-z ,]{1,16}\))?\s{0,4}(?::=|(?i:\sdefault\s))"
    r"\s{0,4}(?=[NnEe]?'))"
    r"|(?P<arrow>\s{0,8}(?:[-=]>|[→⇒–—])\s{0,8})"
    # SET PASSWORD FOR u = x   password = <<EOF\nx   password = "a" + "x"   password=\\\n  x
    r"|(?P<equals>(?:\s{1,8}(?:for|FOR)\s{1,8}[^\s=]{1,128})?[ \t]{0,32}\s{0,8}\\?[:?+]?="
    r"[ \t]{0,32}(?:\\\r?\n[ \t]{0,64})?"
    r"(?:<<[\-~]?[\"']?[A-Z]{1,16}[\"']?\n\s{0,16})?)"
    # password: |\n  x   password: !!str x   password: &name x   "password": ["x"]   password:: eA==
    r"|(?P<colon>[ \t]{0,32}\s{0,8}\\?:(?::(?= [\w+/]{12,1024}={0,2}(?:\n|\Z)))?(?:\\?[ \t]){0,8}"
    r"(?:[|>][+\-]?[ \t]{0,8}\n[ \t]{1,64}"
    r"|!(?:!\w{1,16}|Sub)[ \t]{1,8}|&[\w\-]{1,64}[ \t]{1,8}|\[\s{0,8}(?=\\{0,7}[\"'])"
    r"|(?(close)\s{1,64}(?=\\{0,7}[\"'])|(?!)))?)"
    r"|(?P<comma>\s{0,8},\s{0,8})"
    r"|(?P<call>\(\s{0,8}(?=[\"']))"
    # the password is x, API key provided: x
    r"|(?P<told>\s{1,4}(?:for|of)\s{1,4}(?:\w{1,16}\s{1,4})?[^\s:]{1,64}:[ \t]{1,4}"
    r"|\s{1,4}(?:(?:for|of)\s{1,4}(?:(?:user|the|our)\s{1,4})?\S{1,64}\s{1,4})?(?:(?i:is|was|to|now|has|been|will|be|used"
    r"|still|here|below|changed|set|reset|provided|given|supplied)"
    r"[ \t:]{1,4}){1,4})"
    # MASTER_SYMMETRIC_KEY AS 'x'
    r"|(?P<named>\s{1,8}(?i:as)\s{1,8}(?='))"
    r"|(?P<blank>\n\s{0,32}-[ \t]{1,8}|[ \t]{1,64}\\\r?\n[ \t]{0,64}|[ \t]{1,64}|\s{1,8}))"
)
# The quote that opens a value, with the prefix of a literal: b'x', N'x', \"x\".
_OPENING: Final = re.compile(
    r"(?:[bBrRuUfFnNeE@$]{1,2}(?=[\"'])|(?<== )s(?=\"))?(\\{0,7}(?:\"\"\"|'''|[\"'`]))"
)
# A scheme in front of a credential: Authorization: Bearer x
_SCHEME: Final = re.compile(
    r"(?i)(?:bearer|basic|digest|negotiate|token|apikey|aws4-hmac-sha256)"
    r"(?:\\?[ \t]){1,4}(?=[^\s\"'])(?:(?:token|api_?key|key)=(?:\\{0,3}[\"'])?)?"
    r"|(?=\w[\w\-]{0,63}[ \t](?:[^\s\"']{0,128}[0-9]|[^\s\"']{20}))"
    r"\w[\w\-]{0,63}[ \t]{1,4}(?:(?:token|api_?key|key)=(?:\\{0,3}[\"'])?)?"
)


class _Place(NamedTuple):
    """The text before a name."""

    lead: str  # the character right before it, "" at the start of the text
    mark: str  # the last one that is no blank; "\n" at the start of a line
    word: str  # that it belongs to, in lower case, else ""


class _Setting(NamedTuple):
    """A secret's name in a text and the sign between it and a value at ``start``."""

    first: int
    word: str
    name: str
    place: _Place
    kind: str
    quoted_name: bool
    joint: str
    start: int
    opening: re.Match[str] | None
    is_doubtful: bool  # only a random value is secret

    @property
    def spaced(self) -> bool:
        return self.joint != self.joint.strip()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0  # up to where expressions were read
        self._whole = _is_whole(text)
        self._sql = _first(_QUERY_WORD, text)
        self._statement = _first(_STATEMENT_WORD, text)

    def value(self, match: re.Match[str]) -> tuple[int, int] | None:
        """The value of the name found; None where none is given here."""
        joint = _JOINT.match(self._text, match.end())
        if joint is None:
            return self._bridged(match)
        setting = self._setting(match, joint)
        if setting is None:
            return None
        if _DECISIONS[setting.kind](self, setting):
            span = self._span(setting)
            if not self._is_no_secret(setting, *span):
                return span
        return self._bridged(match)

    def _in_query(self, place: int) -> bool:
        """Whether a place is one of a query, in which a name is mostly a column; comments tell."""
        return 0 <= self._sql < place and not self._in_comment(place)

    def _in_comment(self, place: int) -> bool:
        """``-- the password is x``, ``/* login: x */``, ``# x``: on the line of the place."""
        return _COMMENT_BEFORE.search(self._text, max(0, place - _LOOK_BACK), place) is not None

    def further_values(self, match: re.Match[str]) -> Iterator[tuple[int, int]]:
        """The literals of a list, a map or an expression: ``os.getenv("X") or "x1y2z3"``."""
        if self._in_query(match.start()) or match.start() < self._read:
            return
        held, self._read = values(self._text, match.end())
        for start, end in held:
            value = self._text[start:end]
            if is_strong(value) and not (is_reference(value) or is_address(value)):
                yield start, end

    def _bridged(self, match: re.Match[str]) -> tuple[int, int] | None:
        """A text that looks like a password, behind signs and words that lead to values alone:
        ``("--password", default="x1y2")``, ``Password /d x1y2``, ``token() { return "x1y2"; }``.
        """
        if not is_secret_key(_bare_name(match.group())):
            return None
        if (
            self._text[max(0, match.start() - 8) : match.start()].rstrip(' "`')[-3:].lower()
            == " as"
        ):
            aliased = _ALIASED.search(self._text, max(0, match.start() - _LOOK_BACK), match.start())
            return aliased.span("value") if aliased and is_strong(aliased["value"]) else None
        commented = _COMMENTED.search(self._text, max(0, match.start() - _LOOK_BACK), match.start())
        if commented and is_strong(commented["value"]) and not is_reference(commented["value"]):
            return commented.span("value")
        before = _GIVEN_BEFORE.search(self._text, max(0, match.start() - _LOOK_BACK), match.start())
        if before and is_strong(before["value"]) and not is_name(before["value"]):
            return before.span("value")
        return reached(self._text, match.end(), in_query=self._in_query(match.start()))

    def _is_no_secret(self, setting: _Setting, start: int, end: int) -> bool:
        """A value that says where the secret is, or how it is used: ``${DB_PASSWORD}``, an ARN,
        ``os.environ["X"]``, ``kerberos``; a quote that ends the text in which the name stands.
        """
        if setting.is_doubtful and (
            self._in_query(setting.first)
            or not is_secret_by_value(setting.name, self._text[start:end])
        ):
            return True
        if setting.opening is not None:
            if self._closes_a_literal(setting, setting.opening):
                return True
            value = self._text[start:end]
            if setting.quoted_name and is_type(value):
                return True
            is_sign = 0 < len(value) <= _MOST_SIGNS and not any(map(str.isalnum, value))
            if is_sign and not setting.quoted_name:  # Unexpected token: ')'
                return True
            if setting.name.isupper() and value == setting.name.lower():  # PASSWORD = "password"
                return not setting.quoted_name
        elif end - start > _LONGEST_PLAIN:
            return False
        else:
            value = self._text[start:end]
            if squash(value) == squash(setting.name.rpartition(".")[2]):  # connect(token=token)
                return True
            if value[-1:] in (":", "=") and is_secret_key(value[:-1]):  # Auth: apikey: x1y2
                return True
            if "::" in value:  # token:user::string of a document, tests/x.py::test
                return True
            if value.lower() in PLAIN_WORDS or is_fetched(self._text, start):
                return True
        if squash(setting.name).endswith("secretid") and ("/" in value or not is_strong(value)):
            return True  # a name in a manager of secrets
        closed = value + self._text[end : end + 1]  # 'token=([a-z]+)': the value ends before it
        return is_reference(value) or (closed[-1:] == ")" and is_reference(closed))

    def _closes_a_literal(self, setting: _Setting, opening: re.Match[str]) -> bool:
        """``SELECT 'password: ' || hint``: the quote behind the colon is the end of a literal."""
        quote = opening[1]
        if setting.quoted_name or len(quote) != 1:
            return False
        first = max(0, setting.first - _LOOK_BACK)
        first = max(first, self._text.rfind("\n", first, setting.first) + 1)
        before = _APOSTROPHE.sub("", self._text[first : setting.first])
        behind = self._text[opening.end() : opening.end() + 1]
        return before.count(quote) % 2 == 1 and (not behind or behind in " ,)|+;\n")

    def _setting(self, match: re.Match[str], joint: re.Match[str]) -> _Setting | None:
        before = _before_quote(self._text, match.start(), joint["close"])
        place = _place(self._text, before)
        word = match.group()
        name = _bare_name(word[-NAME_LENGTH:])
        in_url = place.lead in _URL_LEADS
        is_doubtful = not (is_secret_parameter(name) if in_url else is_secret_key(name))
        # Identity keeps what is doubtful.
        if is_doubtful and (in_url or not with_random(name).secret):
            return None
        start = joint.end()
        if in_url and joint["equals"]:  # a blank is the value's own: ?password= x
            start = joint.end("equals") - len(_trailing_blanks(joint["equals"]))
        quotable = not in_url
        opening = _OPENING.match(self._text, start) if quotable else None
        kind = str(joint.lastgroup)
        return _Setting(
            match.start(),
            word,
            name,
            place,
            kind,
            joint["close"] is not None,
            joint[kind],
            start,
            opening,
            is_doubtful,
        )

    # --- whether a value is given ----------------------------------------------------------------

    def _is_pair(self, setting: _Setting) -> bool:
        """A name beside its value: as JSON, as attributes, as lines of YAML; a typed variable."""
        if setting.opening is not None and self._is_kind(setting):  # {"type": "token", "value": …}
            return is_strong(
                self._text[setting.opening.end() : _closing(self._text, setting.opening)]
            )
        if setting.opening is not None or setting.kind == "typed":
            return setting.opening is not None
        if setting.joint.lstrip().startswith(":"):  # password:\n  value: x
            return self._has_strong_value(setting)
        return self._is_named(setting)

    def _is_named(self, setting: _Setting) -> bool:
        """``key="password"``, ``- name: PASSWORD``: the name is itself the value of a field."""
        first = setting.first - setting.quoted_name
        match = _FIELD_BEFORE.search(self._text, max(0, first - 16), first)
        return match is not None

    def _is_kind(self, setting: _Setting) -> bool:
        first = setting.first - 1
        return _KIND_BEFORE.search(self._text, max(0, first - 16), first) is not None

    def _is_element(self, setting: _Setting) -> bool:
        """``<password>x</password>``, ``<name>x.password</name><value>x</value>``."""
        if setting.joint.endswith("[CDATA["):
            return True
        end = self._text.find("<", setting.start)
        if end <= setting.start or not self._text.startswith("</", end):
            return False
        if setting.quoted_name:  # <property name="password">x</property>
            return self._is_named(setting)
        if setting.joint.startswith("</"):
            first = max(0, setting.first - _LOOK_BACK)
            return _KEYED.search(self._text, first, setting.first) is not None
        return (
            setting.place.lead == "<"
            or _QUALIFIED.search(self._text, max(0, setting.first - _LOOK_BACK), setting.first)
            is not None
        )

    def _is_arrow(self, setting: _Setting) -> bool:
        """``Map(password -> x)``; a function's ``x -> …`` stands in a map, too, but names none."""
        listed = setting.place.mark in ("(", "[", "{", ",") or setting.quoted_name
        return setting.opening is not None or listed or self._has_strong_value(setting)

    def _is_comma(self, setting: _Setting) -> bool:
        """``.option("password", "x")``, ``("password", "x")`` in a list, ``(spark.password,x)``."""
        if not setting.quoted_name:  # (spark.password,x), (password,x1y2)
            if setting.word.startswith("-"):  # Array(--password, x)
                return not self._text.startswith("-", setting.start)
            if setting.opening is not None:  # put(DB_PASSWORD, "x1y2")
                end = _closing(self._text, setting.opening)
                value = self._text[setting.opening.end() : end]
                is_constant = setting.place.mark == "," and setting.word.isupper()
                return (setting.place.lead == "(" or is_constant) and is_strong(value)
            if setting.place.lead != "(" or setting.name.startswith(_CONFIGURED):
                return setting.place.lead == "("
            end = _search_end(_SCALAR_END, self._text, setting.start)
            alone = self._sql < 0 and self._text.startswith(")", end)
            return alone and is_strong(self._text[setting.start : end])
        if setting.opening is not None and setting.place.mark == ",":  # set("db", "password", "x")
            opener = _opener(self._text, setting.first)
            if opener is not None and opener[1] and opener[0] in _SETTING_CALLS:
                return True
        is_listed = setting.place.mark in ("[", ",") or setting.word.startswith("-")
        if setting.opening is not None and is_listed:
            return self._is_listed_pair(setting, setting.opening)
        if setting.opening is None or setting.place.mark != "(":
            return False
        head = self._text[max(0, setting.start - _LOOK_BACK) : setting.start].rstrip()
        head = head[: head.rfind("(")]
        called = _LAST_WORD.search(head if not head.lower().endswith("values ") else head.rstrip())
        if called is not None:
            word = called.group().lower()
            value = self._text[setting.opening.end() : _closing(self._text, setting.opening)]
            if word.endswith(_SETTERS):
                return True
            if word.rpartition(".")[2] in _ADDING:
                return is_strong(value)
            return word.endswith(_GETTERS) and _is_default(value)
        if not head.strip():
            return self._is_listed_pair(setting, setting.opening)
        return head[-1:] in ("(", "[", ",", "{") or head.rstrip()[-1:] in ("(", "[", ",", "{")

    def _is_listed_pair(self, setting: _Setting, opening: re.Match[str]) -> bool:
        """``["--password", "x"]``, ``[["password", "x1"]]``; not the columns of a list."""
        end = _closing(self._text, opening)
        value = self._text[opening.end() : end]
        if setting.word.startswith("-"):
            return not value.startswith("-")
        closed = self._text[end + len(opening[1]) : end + len(opening[1]) + 1] in ("]", ")")
        alone = setting.place.mark != "," and closed
        return alone and is_strong(value) and not is_type(value) and value.count(".") != 1

    def _is_call(self, setting: _Setting) -> bool:
        """``.password("x")``, ``setToken('x')``, ``PASSWORD('x')``; not ``getSecret("name")``."""
        last = setting.name.rpartition(".")[2].lower()
        return last in ("password", "passwd", "pwd") or last.startswith(("set", "with"))

    def _is_blank(self, setting: _Setting) -> bool:
        """``--password x``, ``OPTIONS (password 'x')``, ``ALTER USER u PASSWORD 'x'``."""
        if setting.word.startswith("-") and not setting.quoted_name:
            if setting.name == "secret" and self._names_another(setting.start):
                return False
            return not self._text.startswith(_NO_VALUES, setting.start) and len(setting.name) > 1
        if setting.opening is None:
            return self._is_line(setting)
        if setting.place.mark in ("(", ",", "{") or setting.quoted_name:
            return setting.place.mark in ("(", ",", "{")
        if setting.place.lead == ":":  # {:password "x"}
            return not setting.spaced or self._text[setting.first - 2 : setting.first - 1] != ":"
        if setting.place.word in _BEFORE_A_QUOTED_NAME:  # wrong password 'x1y2', no token 'x'
            end = _closing(self._text, setting.opening)
            value = self._text[setting.opening.end() : end]
            return setting.name.lower() in _PASSWORDS and self._sql < 0 and is_strong(value)
        looks_like_a_setting = setting.name.isupper() or "_" in setting.name or "." in setting.name
        if looks_like_a_setting or 0 <= self._statement < setting.start:
            return True
        end = _closing(self._text, setting.opening)
        is_told = self._sql < 0 and "\n" not in setting.joint
        return is_told and is_strong(self._text[setting.opening.end() : end])

    def _is_named_by_a_statement(self, _: _Setting) -> bool:
        """``UNLOAD (…) TO … MASTER_SYMMETRIC_KEY AS 'x'``; of a query it names a column."""
        return _MOVING.match(self._text) is not None

    def _names_another(self, start: int) -> bool:
        """``--secret dbPassword x``: the option is a switch."""
        match = _NAMED.match(self._text, start)
        return match is not None and is_secret_key(match["name"])

    def _is_told(self, setting: _Setting) -> bool:
        """``The password is x1y2z3``: told to a person, so the value must look like one."""
        if self._in_query(setting.first):
            return False
        if setting.quoted_name and setting.joint.strip().lower() != "to":
            return False
        if setting.opening is None:
            match = _WORD.match(self._text, setting.start)
            return match is not None and is_told(match.group())
        end = _closing(self._text, setting.opening)
        return is_told(self._text[setting.opening.end() : end])

    def _is_line(self, setting: _Setting) -> bool:
        """``spark.redis.auth x`` as a whole line; ``ENV DB_PASSWORD x``, ``configure set k x``."""
        if setting.quoted_name or "\n" in setting.joint:
            return False
        first = max(0, setting.first - _LOOK_BACK)
        if _SETTING_COMMAND.search(self._text, first, setting.first):
            return True
        if _OPTION_BEFORE.search(self._text, first, setting.first):  # jq --arg password x1y2
            return self._has_strong_value(setting)
        if setting.place.word in _TOLD_BEFORE:  # user u with password x
            return self._has_strong_value(setting)
        if setting.place.mark in ("", "\n") and _ALONE.match(self._text, setting.start):
            return setting.name.startswith(_CONFIGURED) or self._has_strong_value(setting)
        match = _WORD.match(self._text, setting.start)
        if match is None:
            return False
        if self._in_comment(setting.first) and setting.name.lower() in _PASSWORDS:
            return _is_told_alone(match.group())  # -- user etl, password x1y2z3
        return self._sql < 0 and is_random(match.group())  # wrong password Zq7kT9vLm2Xw

    def _is_colon(self, setting: _Setting) -> bool:
        """JSON, YAML, headers and free text; ``struct<password:string>`` is none."""
        if setting.quoted_name:
            return setting.opening is not None or self._is_number(setting)
        if setting.place.lead in _NOT_BEFORE_A_COLON:
            return False
        if _PLACEHOLDER.search(self._text, max(0, setting.first - _LOOK_BACK), setting.first):
            return _DEFAULT.match(self._text, setting.start) is not None
        if self._text.startswith((":", "//"), setting.start):  # a cast, a scheme
            return False
        if setting.opening is not None:
            return True
        if _SCHEME.match(self._text, setting.start) and _is_authorization(setting.name):
            return True
        scalar = _SCALAR.match(self._text, setting.start)
        if scalar is None or begins_as_type(scalar["value"]):
            return False
        if "://" in scalar["value"] and not setting.spaced:  # jdbc-secretsmanager:postgresql://h/d
            return False
        if is_strong(scalar["value"]) or setting.name.lower().startswith("x-"):
            return True
        if "cookie" in squash(setting.name) and "=" in scalar["value"]:
            return True
        alone = setting.place.mark in _AT_A_LINE and scalar["end"] is not None
        return alone and scalar["value"].lower() not in PLAIN_WORDS

    def _is_number(self, setting: _Setting) -> bool:
        return hides_numbers(setting.name) and _NUMBER.match(self._text, setting.start) is not None

    def _is_equals(self, setting: _Setting) -> bool:
        place = setting.place
        if setting.word.startswith("-") or place.lead in _URL_LEADS:
            return True
        if self._is_prefixed(setting) or self._text.startswith(("=", ">"), setting.start):
            return False
        if setting.opening is None and self._is_reference(setting):
            return False
        if self._text.startswith("(", setting.start) and _GROUP.match(self._text, setting.start):
            return False  # CREDENTIALS=(AWS_SECRET_KEY='x'): the names inside hold the values
        if setting.quoted_name and place.mark in ("(", "[", "{", ","):
            return True
        if place.mark in ("(", ","):
            return self._is_listed(setting)
        if place.mark in ("[", "{"):
            return not setting.spaced or setting.opening is not None
        return self._is_assigned(setting)

    def _is_prefixed(self, setting: _Setting) -> bool:
        """``a/password=x`` is a path; ``$password = "x"``, ``@pwd = 'x'``, ``:_auth=x`` are not."""
        lead = setting.place.lead
        if lead == "\\" and setting.word[:1] in ("n", "r", "t"):  # "a=1\\nPASSWORD=x" of JSON
            return False
        if lead in ("$", "@", ":") and setting.opening is not None:
            return False
        if lead == ":" and not setting.spaced:
            return False
        return lead in _NOT_BEFORE_A_NAME

    def _is_assigned(self, setting: _Setting) -> bool:
        place = setting.place
        if place.word in _COMPARING:  # where token = 'a', not where token = 'Winter2024!'
            return setting.opening is not None and self._is_issued(setting.opening)
        in_query = self._in_query(setting.first)
        if place.word in _JOINING and (in_query or setting.spaced):
            return setting.opening is not None and self._is_issued(setting.opening)
        if not setting.spaced:
            return True
        if place.word == "set":
            if setting.opening is not None or setting.name.count(".") > 1:
                return True
            before = self._text[max(0, setting.start - _LOOK_BACK) : setting.start].lower()
            return "update" not in before and self._has_strong_value(setting)
        is_plain = setting.opening is not None or self._has_strong_value(setting)
        listed = place.mark in ("", "\n") and _ALONE.match(self._text, setting.start) is not None
        return (is_plain or listed) and not in_query

    def _is_issued(self, opening: re.Match[str]) -> bool:
        value = self._text[opening.end() : _closing(self._text, opening)]
        issued = len(value) >= _SHORTEST_ISSUED and is_random(value)
        return issued or (is_mixed(value) and not is_name(value))

    def _is_listed(self, setting: _Setting) -> bool:
        """``WITH (a = 'b', password = 'x')``, ``connect(password=x)``, ``[a=b, password=x]``."""
        opener = _opener(self._text, setting.start)
        quoted = setting.opening is not None
        in_query = self._in_query(setting.first)
        if opener is None:
            if setting.place.mark == "(":
                return False
            return not setting.spaced or quoted or self._has_strong_value(setting)
        word, attached = opener
        if word in _OPTION_WORDS:
            return True
        if word in _COMPARING or word in _JOINING or word in _FUNCTIONS or word == "partition":
            return False
        return attached or not (setting.spaced or in_query)

    def _is_reference(self, setting: _Setting) -> bool:
        """``a.password=b.password``: a join, or a change of a row."""
        if "." not in setting.name:
            return False
        path = _PATH.match(self._text, setting.start)
        if path is None or "." not in path.group():
            return False
        return path.group().rpartition(".")[2] == setting.name.rpartition(".")[2]

    def _has_strong_value(self, setting: _Setting) -> bool:
        match = _WORD.match(self._text, setting.start)
        return match is not None and is_strong(match.group())

    # --- where it ends ---------------------------------------------------------------------------

    def _span(self, setting: _Setting) -> tuple[int, int]:
        text, start = self._text, setting.start
        if setting.kind == "element":
            end = text.find("]]>" if setting.joint.endswith("[CDATA[") else "<", start)
            return start, end if end >= 0 else len(text)
        if setting.opening is not None:
            return self._quoted_span(setting, setting.opening)
        if _is_authorization(setting.name) and (scheme := _SCHEME.match(text, start)):
            start = scheme.end()
        if setting.kind == "colon" and "cookie" in squash(setting.name):
            return start, _search_end(_LINE_END, text, start)
        if braced := _braced_end(text, start):  # SQL Server: password={a;b}
            return start, self._bare_end(setting, braced)
        return start, self._bare_end(setting, start)

    def _quoted_span(self, setting: _Setting, opening: re.Match[str]) -> tuple[int, int]:
        end = _closing(self._text, opening)
        while joined := _JOINED.match(self._text, end):  # "a" + "b"
            following = _OPENING.match(self._text, joined.end())
            if following is None:
                break
            end = _closing(self._text, following)
        if setting.word.startswith("-") and not setting.quoted_name:  # --password='a'b
            start = opening.start()
            behind = min(end + len(opening[1]), len(self._text))
            return start, _search_end(_OPTION_END, self._text, behind)
        return opening.end(), end

    def _bare_end(self, setting: _Setting, start: int) -> int:
        lead = setting.place.lead
        if lead in ("?", "&", "#"):
            return self._parameter_end(start, _WHOLE_QUERY_END if self._whole else _QUERY_END)
        if lead == ";" or setting.place.mark in ("", "\n", ";"):
            return self._parameter_end(start, _WHOLE_PAIR_END if self._whole else _PAIR_END)
        if setting.kind in ("arrow", "comma"):
            return _search_end(_MAP_END, self._text, start)
        if setting.kind == "colon":
            if setting.place.mark in _AT_A_LINE and _ALONE.match(self._text, start):
                return _search_end(_OPTION_END, self._text, start)
            return _search_end(_SCALAR_END, self._text, start)
        if setting.place.mark == "(":
            group = _GROUP_END if _opener(self._text, setting.start) in _GROUPS else _MAP_END
            return _search_end(group, self._text, start)
        if setting.place.mark in ("[", "{", ","):
            return _search_end(_MAP_END, self._text, start)
        end = _search_end(_OPTION_END, self._text, start)
        if setting.word.startswith("-"):
            return end
        while end > start + 1 and self._text[end - 1] in ",;)]}":
            end -= 1
        return end

    def _parameter_end(self, start: int, stop: re.Pattern[str]) -> int:
        """A blank is one of the value when another parameter follows."""
        end = _search_end(stop, self._text, start)
        while stop in (_QUERY_END, _PAIR_END):
            blank = _BLANK_INSIDE.match(self._text, end)
            if blank is None:
                return end
            end = _search_end(stop, self._text, blank.end())
        return end


_DECISIONS: Final = {
    "pair": _Reader._is_pair,
    "element": _Reader._is_element,
    "typed": _Reader._is_pair,
    "arrow": _Reader._is_arrow,
    "equals": _Reader._is_equals,
    "colon": _Reader._is_colon,
    "comma": _Reader._is_comma,
    "call": _Reader._is_call,
    "told": _Reader._is_told,
    "named": _Reader._is_named_by_a_statement,
    "blank": _Reader._is_blank,
}

# --- the text around a name ----------------------------------------------------------------------

# What gives a name its value with a blank: aws configure set k x, ENV K x
_SETTING_COMMAND: Final = re.compile(
    r"(?:\b(?:configure|config|variables?|secrets?|env|env-var|user-secrets|parameters?)[ :]"
    r"\s{0,8}(?:set|store|add|put)(?:\s{1,8}\S{0,128}:)?|(?:\A|\n)\s{0,8}(?:ENV|ARG|setx|SETX"
    r"|export|setenv))\s{0,8}[\"']?\Z"
)
_OPTION_BEFORE: Final = re.compile(r"\s-{1,2}[a-z][\w\-]{0,24} \Z|\A\s{0,16}SetEnv ")
# Words of a query: behind one of them `a = 'b'` compares.
_QUERY_WORD: Final = re.compile(r"(?i)\b(?:select|where|having|join|merge|qualify)\b")
# Fields and attributes that name a setting.
_FIELD_BEFORE: Final = re.compile(
    r"(?i)(?:name|key|option|property|parameter)(?:\s{0,4}[=:]|\s)\s{0,4}\Z"
)
_KIND_BEFORE: Final = re.compile(r"(?i)type\\{0,7}[\"']?\s{0,4}[=:]\s{0,4}\\{0,7}\Z")
# Words of statements that give values to names without any mark: CREATE USER u PASSWORD 'x'
_STATEMENT_WORD: Final = re.compile(r"(?i)\b(?:alter|create|copy|unload|grant|set|attach)\b")
_MOVING: Final = re.compile(r"(?i)\s{0,64}(?:copy|unload)\s")
_COMPARING: Final = frozenset({
    "where", "having", "when", "case", "then", "else", "select", "qualify", "filter", "distinct",
    "between", "is", "like", "in",
})  # fmt: skip
_JOINING: Final = frozenset({"and", "or", "on", "not", "if"})
_FUNCTIONS: Final = frozenset({
    "expr", "count", "count_if", "countif", "sum", "max", "min", "any", "every", "some", "all",
    "bool_and", "bool_or", "exists", "nvl", "coalesce", "ifnull", "iff", "decode", "cast", "join",
    "using", "equalto", "isnotnull", "isnull",
})  # fmt: skip
_GETTERS: Final = (
    "get",
    "fetch",
    "getorelse",
    "getordefault",
    "getproperty",
    "getenv",
    "string",
    "getconf",
    "env",
)
_SETTING_CALLS: Final = frozenset({"set", "put", "setitem", "setattr", "set_item", "set_attr"})
_ADDING: Final = frozenset({"add", "append", "values"})
_OPTION_WORDS: Final = frozenset({
    "options", "option", "with", "tblproperties", "properties", "dbproperties", "serdeproperties",
    "credentials", "credential", "encryption", "connection", "storage", "secret", "parameters",
    "map", "dict", "config",
})  # fmt: skip
_CONFIGURED: Final = ("spark.", "fs.", "hadoop.")
_SETTERS: Final = (
    "option", "options", "set", "setenv", "putenv", "put", "conf", "config", "property", "header",
    "parameter", "param", "env", "of", "entry", "tuple", "tuple2", "pair", "arg", "variable", "var",
    "setdefault", "text", "assign", "define", "setattr", "constant", "with_option", "literal",
)  # fmt: skip
# invalid token 'x', no such column password 'x'
_BEFORE_A_QUOTED_NAME: Final = frozenset({
    "invalid", "unexpected", "unknown", "missing", "near", "at", "column", "field", "no", "input",
    "the", "a", "extraneous", "bad", "illegal", "wrong", "this", "that", "as",
})  # fmt: skip
_SHORTEST_ISSUED: Final = 20
# 'x1y2z3' AS password, 'x1y2z3'::text AS password
_ALIASED: Final = re.compile(
    r"(?i)(?P<q>['\"])(?P<value>[^'\"\n]{6,128})(?P=q)(?:::\w{1,16}|\sas\s\w{1,16}\))?\s{1,8}as\s{1,8}[\"`]?\Z"
)
# Option("x1y2z3", "--token"), Field(default="x1y2z3", alias="password")
_GIVEN_BEFORE: Final = re.compile(
    r"\(\s{0,8}(?:default\s{0,2}=\s{0,2})?(?P<q>[\"'])(?P<value>[^\"'\s]{8,128})(?P=q)\s{0,2},\s{0,8}"
    r"(?:(?:alias|name|env|envvar|key)\s{0,2}=\s{0,2}[\"']|[\"'](?=-))\Z"
)
# = "x1y2z3"  # the password of the service
_COMMENTED: Final = re.compile(
    r"[=:][ \t]{0,8}(?P<q>[\"']?)(?:(?<=[\"'])|(?!//))(?P<value>[^'\"\s]{6,128})(?P=q)"
    r"[,;]?[ \t]{1,16}(?:#|//|--|/\*)[^\n]{0,64}\Z"
)
# -- …   /* …   # …   // …   on one line
_COMMENT_BEFORE: Final = re.compile(r"(?:--|/\*|(?:\A|\s)(?:#|//))(?:[^*\n]|\*(?!/)){0,200}\Z")
_PASSWORDS: Final = ("password", "passwd", "passphrase", "pwd")
_NO_VALUES: Final = ("--", "<", ">", "|", "&")
_NAMED: Final = re.compile(r"(?P<name>[A-Za-z][A-Za-z_.:\-]{3,64}) [^\s\-]")
_TOLD_BEFORE: Final = frozenset({
    "with", "temporary", "new", "old", "initial", "default", "current", "generated",
})  # fmt: skip
_KEYED: Final = re.compile(r">[^<>]{0,64}\Z")  # <key>Database Password</key>
# ${DB_PASSWORD:-x}, ${db.password:x}
_PLACEHOLDER: Final = re.compile(r"\$\{\Z")
_DEFAULT: Final = re.compile(r"[\-=]?[^\s}?+\-=${\"'][^\s}\"']{0,256}\}")
_QUALIFIED: Final = re.compile(r"<[\w\-]{1,64}:\Z")
_NOT_BEFORE_A_NAME: Final = ("/", "\\", ":", ".", "@", "$", "*", "+", "<", "~", "^")
_NOT_BEFORE_A_COLON: Final = ("<", ":", "/", ".", "@", "$", "#")
_AT_A_LINE: Final = ("", "\n", "-")
_GROUPS: Final = (None, ("", False))
_LAST_WORD: Final = re.compile(r"(?<![\w.])[\w.]+\Z")


def _place(text: str, position: int) -> _Place:
    before = text[max(0, position - _LOOK_BACK) : position]
    shown = before.rstrip()
    mark = "\n" if "\n" in before[len(shown) :] else shown[-1:]
    match = _LAST_WORD.search(shown[-64:])
    return _Place(before[-1:], mark, match.group().lower() if match else "")


def _before_quote(text: str, start: int, close: str | None) -> int:
    """Where a name begins with the quote that ``close`` answers; ``start`` where there is none."""
    quote = (close or "").rstrip("]")
    if quote and text.endswith(quote, 0, start):
        start -= len(quote)
        if text[start - 1 : start] in ("b", "N", "u") and text[start - 2 : start - 1] in " ([{,":
            start -= 1
    return start


def _opener(text: str, position: int) -> tuple[str, bool] | None:
    """The word before the parenthesis that a place stands in, and whether it touches it."""
    first = max(0, position - _LOOK_BACK)
    place, depth = text.rfind("(", first, position), 0
    for _ in range(8):
        if place < 0:
            return None
        depth = text.count(")", place, position) - text.count("(", place + 1, position)
        if depth <= 0:
            break
        place = text.rfind("(", first, place)
    head = text[max(0, place - 64) : max(place, 0)]
    match = _LAST_WORD.search(head.rstrip())
    word = match.group().lower().rpartition(".")[2] if match else ""
    return word, bool(word) and head == head.rstrip()


def _first(pattern: re.Pattern[str], text: str) -> int:
    """Where a pattern is found first, or -1; in steps, between which other threads can go on."""
    for start in range(0, len(text), _STEP):
        if match := pattern.search(text, start, start + _STEP + _OVERLAP):
            return match.start()
    return -1


def _trailing_blanks(text: str) -> str:
    return text[len(text.rstrip()) :]


def _is_told_alone(value: str) -> bool:
    """Whether a word right behind a password's name is one: ``hunter2``, not ``sha256``, ``v2``."""
    return is_told(value) and not (is_name(value) or is_type(value))


def _is_default(value: str) -> bool:
    """Whether a text is the password where none is given: ``getenv("PW", "hidden1")``."""
    return len(value) >= _SHORTEST_DEFAULT and value.lower() not in PLAIN_WORDS


_SHORTEST_DEFAULT: Final = 4
_MOST_SIGNS: Final = 3
"""Of a sign of a language: a parser tells the token that it stopped at."""


def _is_authorization(name: str) -> bool:
    return squash(name).endswith(("authorization", "auth"))


# --- values --------------------------------------------------------------------------------------

_QUERY_END: Final = re.compile(r"[&\s\"'<>]")
_PAIR_END: Final = re.compile(r"[;\s\"']")
# A comma inside a value goes on: [password=a,b, c=d]
_MAP_END: Final = re.compile(r",(?=\s|\Z|[\w.\-]{1,128}(?:=| ?->))|[)\]}]")
_GROUP_END: Final = re.compile(r",(?=\s{0,4}[\w.\-]{1,128}=)|\)(?=[()\[\],/:;?&#\s\"']|\Z)")
_OPTION_END: Final = re.compile(r"[\s\"']")
_SCALAR_END: Final = re.compile(r"[\s\"',;)\]}]")
_LINE_END: Final = re.compile(r"[\n\"']")
_WHOLE_QUERY_END: Final = re.compile(r"[&\n]")
_WHOLE_PAIR_END: Final = re.compile(r"[;\n]")
_BLANK_INSIDE: Final = re.compile(r"[ \t][^&;?,\n\"'<>()\[\]{}]{0,128}(?=[&;][\w.\-]{1,128}=)")
# A text that is one URL or connection string as a whole has blanks in its values only.
_WHOLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,63}:\S|[\w.\- ]{1,64}=[^;\s]{0,256};")
_WORD: Final = re.compile(r"[^\s\"',;)\]}]{1,256}")
_JOINED: Final = re.compile(r"[\"']\s{0,8}(?:\+|\|\||\.|=>)\s{0,8}(?=[\"'])")
_GROUP: Final = re.compile(r"\(\s{0,8}[\w.\-\"']{1,128}\s{0,8}[=:,]")
_PATH: Final = re.compile(r"[A-Za-z_][\w.]*")
_SCALAR: Final = re.compile(
    r"(?P<value>[^\s\"',;)\]}]{1,256})(?P<end>[^\s\"']{0,256}[ \t]{0,8}(?:\n|\Z))?"
)
_ALONE: Final = re.compile(r"[^\s\"']{1,256}[ \t]{0,8}(?:\n|\Z)")
_NUMBER: Final = re.compile(r"[0-9]{1,64}(?![\w.])")
_APOSTROPHE: Final = re.compile(r"(?<=[A-Za-z])'(?=[a-z])|\\\\.")


def _is_whole(text: str) -> bool:
    return _WHOLE.match(text, len(text) - len(text.lstrip())) is not None


def _search_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.search(text, start)
    return match.start() if match else len(text)


def _braced_end(text: str, start: int) -> int:
    """The end of ``{a;b}``, where ``}}`` stands for ``}`` inside; 0 where no brace opens."""
    if not text.startswith("{", start):
        return 0
    end = text.find("}", start)
    while end >= 0 and text.startswith("}", end + 1):
        end = text.find("}", end + 2)
    return end + 1 if end >= 0 else len(text)


def _closing(text: str, opening: re.Match[str]) -> int:
    """Where the quote that closes a value stands, or the end of the text.

    A quote behind a backslash and a quote that stands twice are the value's own.
    """
    quote, start = opening[1], opening.end()
    end = text.find(quote, start)
    while end >= 0:
        if len(quote) == 1 and _is_escaped(text, end, start):
            end = text.find(quote, end + 1)
        elif quote == "'" and end > start and text.startswith("'", end + 1):
            end = text.find(quote, end + 2)
        else:
            return end
    return len(text)


def _is_escaped(text: str, position: int, start: int) -> bool:
    """Whether an odd number of backslashes stands before a place."""
    first = position
    while first > start and text[first - 1] == "\\":
        first -= 1
    return (position - first) % 2 == 1
