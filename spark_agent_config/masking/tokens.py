"""Secrets recognised by their look alone: random words, the prefixes of vendors, private keys.

A word that a machine made differs from one that a person made in the letters that stand beside each
other: nine of ten neighbours in a name are neighbours in many words (``th``, ``er``), fewer than
half in a token. So a random word needs no table of vendors. What looks like an id is none: a UUID,
a digest (hexadecimal), a segment of a path, a table of a schema, a word behind ``…Id=``, ``etag:``.

Prefixes are listed for tokens that are hexadecimal, short, or have several parts. They are facts
that vendors publish; decision 165 says why there are no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import add
from typing import Final

from spark_agent_config.masking.names import is_pin, with_random

# --- words that are random -----------------------------------------------------------------------

_LONG: Final = 20
"""Characters of a word that is looked at: shorter ones are random by chance too often."""
_LONGEST: Final = 256
"""Characters of a word that are judged."""
_RUN: Final = re.compile(r"(?<![\w\-+~])[\w\-+~]{16,}", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_LEAST_NEIGHBOURS: Final = 14
_MOST_LIKELY: Final = 0.65
"""Share of likely neighbours from which on a word is no random one: names have 0.9 and more."""
# The 300 pairs of letters that are the most frequent in the names and words of documents.
_PAIRS: Final = (
    "abacadafagaiakalamanaparasatauavawaxaybabebibjblbobrbsbubycacccechcickclcocrcsctcucydadb"
    "dddedfdgdidldodrdsdudyeaebecedeeefegeielemeneoepeqereseteuevewexeyfafefffiflfofrfsftfuga"
    "geggghgiglgngogrgsguhahehihohrhthuiaibicidieifigiliminioipirisitivixizjajejojskekiknksku"
    "laldlelilllolsltlulvlymambmemimlmmmnmompmsmunancndnenfngninknlnnnonpnsntnunvnyoaobocodof"
    "ogoiojokolomonoooporosotouovowoxpapdpephpiplpoppprpsptpupyqlqurarcrdrerfrgrirkrlrmrnrorr"
    "rsrtrurvrwrysascsesfshsiskslsmsospsqssstsuswsytatctdtethtitltotptrtstttutwtyuaubucudueuf"
    "uguiulumunuoupurusutvavevivowawewhwiwnwowrwsxcxexixpxtycyeyiymynypysytze"
)
_LIKELY: Final = frozenset(
    (
        *(_PAIRS[place : place + 2] for place in range(0, len(_PAIRS), 2)),
        *(f"{number:02}" for number in range(100)),
    )
)


def is_random(word: str) -> bool:
    """Whether a word has the neighbours that chance gives it: ``acme_live_8Hs…``; digits beside
    digits are as in dates and numbers, and a segment that is hexadecimal is one of an id.
    """
    neighbours = likely = 0
    for segment in _SEGMENT.findall(word):
        size = len(segment) - 1
        likely_here = size if _HEXADECIMAL.fullmatch(segment) else _likely(segment.lower())
        if _is_unlikely(size, likely_here) and segment != word and is_random(segment):
            return True
        neighbours += size
        likely += likely_here
    if not _is_unlikely(neighbours, likely):
        return False
    return any(map(str.isdigit, word)) or len(_CAPITALS.findall(word)) >= _LEAST_CAPITALS


def is_secret_by_value(name: str, value: str) -> bool:
    """Whether a name is that of a secret where its value is random, and this value is:
    ``salt_key=8Hs…``; a UUID, a place and a number are none, a long hexadecimal number is,
    but for the digest of a ``device_key``. Or both are of a PIN.
    """
    of_random = with_random(name)
    if not of_random.secret or _OF_A_VALUE.fullmatch(value) is None:
        return is_pin(name, value)
    if _DIGEST_OF_A_KEY.fullmatch(value) is not None and not of_random.digest:
        return False
    return _RANDOM_DIGITS.fullmatch(value) is not None or is_issued(value) or is_random(value)


# … no ARN, no path
_OF_A_VALUE: Final = re.compile(r"(?!arn:)(?!(?:[^/]{0,256}/)?[a-z]{3,64}(?:/|\Z))[^\s:]{10,256}")
# MD5, SHA-1
_DIGEST_OF_A_KEY: Final = re.compile(r"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40})")
_RANDOM_DIGITS: Final = re.compile(r"(?i)(?=[0-9]{0,64}[a-f])[0-9a-f]{20,128}")


def _likely(lowered: str) -> int:
    return sum(map(_LIKELY.__contains__, map(add, lowered, lowered[1:])))


def _is_unlikely(neighbours: int, likely: int) -> bool:
    return neighbours >= _LEAST_NEIGHBOURS and likely <= _MOST_LIKELY * neighbours


_CAPITALS: Final = re.compile(r"[a-z](?=[A-Z])")
_LEAST_CAPITALS: Final = 4
"""Of a random word without digits; other words without digits are those of other languages."""


# Behind these a random word is an id …
_ID_BEFORE: Final = re.compile(
    r"(?i)(?:(?<!session)(?<!session_)(?<!sess)(?<!\bs)ids?|versions?|etag|hash|digest|checksum|fingerprint"
    r"|sha[0-9]{0,3}|md5|integrity|commit|guid|cursor|serial|ssh-\w{1,16})"
    r"[\"'\\]{0,4}\s{0,4}[:=]?\s{0,4}[\"'\\]{0,4}\Z"
)
# … and behind these, in a statement, the name of a table; "rotated from 8Hs…" is told to a person.
_TABLE_BEFORE: Final = re.compile(
    r"(?i)\b(?:from|join|into|table|update|view|exists|using)\s{1,4}[\"`\[]?\Z"
)
_STATEMENT: Final = re.compile(
    r"(?i)\b(?:select|insert|merge|update|delete|create|alter|drop|truncate|refresh|copy|describe)\s"
)
_STATEMENT_BEFORE: Final = 4096
# Ids of services begin with the word for the thing.
_ID: Final = re.compile(
    r"(?:user|org|acct|cus|sub|evt|req|run|job|task|file|msg|thread|batch|order|pi|ch|in)[_\-]"
)
_LOOK_BACK: Final = 48
_FILE_ENDING: Final = re.compile(r"\.[a-z][a-z0-9]{1,9}(?![\w.])")
_PARTS_BEFORE: Final = re.compile(r"(?:[\w\-~+]{1,64}[.!]){1,4}\Z")
_REST: Final = re.compile(r"[\w\-.~+=!]*[\w\-~+=]")
# Parts of tokens; before a dot other words are schemas and packages.
_PARTS: Final = frozenset({
    "s", "b", "u", "sl", "st", "pat", "sat", "tkn", "local", "public", "snyk_sat", "snyk_uat",
})  # fmt: skip


def _random(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The token that a run of characters is or belongs to; None where it is an id or a name."""
    if not is_random(text[start : min(end, start + _LONGEST)]) or _is_name_there(text, start, end):
        return None
    before = text[max(0, start - _LOOK_BACK) : start]
    if before.endswith((".", "!")):  # a table of a schema, or the next part of a token
        parts = _PARTS_BEFORE.search(before)
        if parts is None or not any(map(_is_part_of_token, re.split(r"[.!]", parts.group()))):
            return None
        start -= len(parts.group())
    if text[end : end + 2] == "==" and end - start == _DIGEST_OF_16:
        return None
    rest = _REST.match(text, end)
    return start, rest.end() if rest else end


def _is_name_there(text: str, start: int, end: int) -> bool:
    """Whether the place of a random word makes it an id, a segment of a path or a table."""
    if _ID.match(text, start):
        return True
    before = text[max(0, start - _LOOK_BACK) : start]
    in_path = before.endswith("/") or text.startswith("/", end)
    if in_path and text.find("~", start, end) < 0:
        return True
    if before.endswith("$") or _ID_BEFORE.search(before) or _FILE_ENDING.match(text, end):
        return True
    return is_table(text, start)


def is_table(text: str, start: int) -> bool:
    """Whether a statement names a table at a place: ``SELECT a FROM x1y2``."""
    return (
        _TABLE_BEFORE.search(text[max(0, start - _LOOK_BACK) : start]) is not None
        and _STATEMENT.search(text, max(0, start - _STATEMENT_BEFORE), start) is not None
    )


_DIGEST_OF_16: Final = 22
"""Signs of a digest of 16 bytes in base64, behind which two signs of equality stand."""


def _is_part_of_token(word: str) -> bool:
    return word in _PARTS or any(map(str.isdigit, word))


# --- shorter random words ------------------------------------------------------------------------

# A digit beside a capital (none of a time: 01T00), or letters and digits in turns, with a sign at
# most between them: x9!mQ2.
_IN_TURNS: Final = re.compile(
    r"[0-9](?:(?=[A-SU-Y])|(?<=[A-Z][0-9])|(?<=[a-z][0-9])[0-9]{0,3}[!#^&~+_\-]{0,2}[A-Za-z]{1,6}"
    r"[!#^&~+_\-]{0,2}[0-9])"
)
_RUN_OR_TURNS: Final = re.compile(f"{_RUN.pattern}|{_IN_TURNS.pattern}", re.ASCII)
_WORD_BEFORE: Final = re.compile(r"[\w!#^&~+\-]{0,64}\Z", re.ASCII)
_WORD_BEHIND: Final = re.compile(r"[\w!#^&~+\-]{0,64}", re.ASCII)
_ATTRIBUTE: Final = re.compile(r"#[0-9]{1,19}L?\Z")  # Spark's: name#12L
_CHANGES: Final = re.compile(
    r"[A-Za-z](?=[^A-Za-z0-9]{0,2}[0-9])|[0-9](?=[^A-Za-z0-9]{0,2}[A-Za-z])"
)
_SIGN_INSIDE: Final = re.compile(r"[A-Za-z0-9][!#^&~](?=[A-Za-z0-9])")
_SHORTEST: Final = 10
_LONGEST_SHORT: Final = 64
_LEAST_CHANGES: Final = 4
"""Between letters and digits: three are those of names, as ``s3Bucket2Copy``."""
_LEAST_SHORT_NEIGHBOURS: Final = 5
_MOST_LIKELY_SHORT: Final = 0.5
# … or words with fewer changes, if their neighbours are rarer still.
_LEAST_RARE_NEIGHBOURS: Final = 9
_MOST_LIKELY_RARE: Final = 0.45
_NEVER_BEFORE: Final = frozenset("/.$%@")
_ENDS_A_TEXT: Final = re.compile(r"\.(?:\s|\Z)")


def is_issued(word: str) -> bool:
    """Whether a short word is random: letters of both cases and digits in turns, or with a sign
    between them that no name has: ``Zq7kT9vLm2Xw``, ``tr0ub4dor&3``.
    """
    if word.isupper() or not _SHORTEST <= len(word) <= _LONGEST_SHORT:
        return False
    changes = len(_CHANGES.findall(word))
    if _SIGN_INSIDE.search(word) is not None:
        return changes >= _LEAST_CHANGES - 1
    if word.islower() or not changes:
        return False
    segments = _SEGMENT.findall(word)
    neighbours = sum(map(len, segments)) - len(segments)
    likely = sum(_likely(segment.lower()) for segment in segments)
    if changes >= _LEAST_CHANGES and neighbours >= _LEAST_SHORT_NEIGHBOURS:
        return likely <= _MOST_LIKELY_SHORT * neighbours
    return neighbours >= _LEAST_RARE_NEIGHBOURS and likely <= _MOST_LIKELY_RARE * neighbours


def _issued(text: str) -> Iterator[tuple[int, int]]:
    """Where short random words stand that are no part of a path, of a name with dots, no id."""
    done = 0
    for match in _IN_TURNS.finditer(text):
        if match.start() < done:
            continue
        before = _WORD_BEFORE.search(text, max(0, match.start() - _LONGEST_SHORT), match.start())
        behind = _WORD_BEHIND.match(text, match.start())
        if before is None or behind is None:
            continue
        done = behind.end()
        word = text[before.start() : done].lstrip("!#^&~+-")
        start = done - len(word)
        word = _ATTRIBUTE.sub("", word)
        if is_issued(word) and not _is_part(text, start, start + len(word), word):
            yield start, start + len(word)


def _is_part(text: str, start: int, end: int, word: str) -> bool:
    """Whether a word is one of a path, a name with dots or before a sign, a query or an id."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    if before in _NEVER_BEFORE or behind in ("/", "="):
        return True
    if behind == "." and _ENDS_A_TEXT.match(text, end) is None:
        return True
    if "&" in word and before == "=":
        return True
    return _is_name_there(text, start, end)


# --- prefixes of vendors -------------------------------------------------------------------------


def _alternatives(words: Iterable[str]) -> str:
    """A pattern of any of these words that looks at each letter once: ``gh(?:o_|p_)``."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    if "" in tails:
        return ""
    parts = [re.escape(first) + _alternatives(rest) for first, rest in sorted(tails.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


# Behind these stands a token of any form, which has a digit …
_TELLING: Final = (
    "hf_ "
    "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp- sk_live_ sk_test_ sk_prod_ "
    "rk_live_ rk_test_ rk_prod_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glptt- gldt- "
    "glrt- glrtr- glcbt- glft- glimt- glwt- glagent- glsoat- glffct- gloas- GR1348941 dckr_pat_ "
    "dckr_oat_ SG. eyJ ya29. GOCSPX- AIza npm_ pypi- hvs. hvb. hvr. dp.pt. dp.ct. dp.st. dp.sa. "
    "dp.scim. dp.audit. FLWSECK tskey- rzp_live_ rzp_test_ perm: WPL_AP0. WPL_AP1. hawk. VF. "
    "secret-token: access_token$ amzn.mws. amzn1.oa2-cs. AGE-SECRET-KEY- aio_ sk-proj- "
    "sk-ant- sk-svcacct- sk-admin- sk-or- sk-lf- scauth_ authress_ glc_ xkeysib- xsmtpsib- cfut_ "
    "cfat_ cfk_ ddapp_ ddpat_ ddsat_ essu_ esau_ glsa_ pscale_tkn_ pscale_pw_ pscale_oauth_ "
    "phx_ phc_ phs_ pha_ phr_ PMAK- PMAT- sb_secret_ sb_publishable_ sbp_ apify_api_ "
    "apify_proxy_ rubygems_ shippo_live_ shippo_test_ shpat_ shpca_ shppa_ shpss_ shpua_ "
    "shptka_ pdus+ pdeu+ endr+ tr_dev_ tr_prod_ tr_stg_ tr_pat_ tr_preview_ sm_aat_ sm_pat_ "
    "sm_sat_ BBFF- BBUS- NRAK- NRII- NRIQ- NRRA- NRSP- NRJS- sq0atp- sq0csp- sq0idp- sq0icp- "
    "$2a$ $2b$ $2y$ $1$ $5$ $6$ $y$ $7$ $apr1$ $argon2id$ $argon2i$ $argon2d$ $scrypt$ AVNS_ "
    "pcsk_ nfp_ nvapi- pplx- lin_api_ figd_ napi_ dbtc_ dbtu_ tgp_v1_ tvly-dev- tvly-prod- "
    "hxtp_ rdme_ fm1r_ fm2_ fo1_ duffel_live_ duffel_test_ "
    "dnkey- sha256~ pnu_ pnb_ ops_ LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQy "
    "LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS LS0tLS1CRUdJTiBEU0Eg"
)
# … behind these capitals and digits, the secret perhaps right behind …
_KEY_IDS: Final = "AKIA ASIA ABIA ACCA AROA AIDA ANPA AGPA A3T LTAI AKID GOOG"
# … and behind these a digest or a UUID, which alone were an id.
_BEFORE_DIGESTS: Final = (
    "sk- ctx7sk- lin_oauth_ sntryu_ sntrys_ bkua_ bkat_ bkaj_ bkpt_ CCIPAT_ CCIPRJ_ squ_ sqp_ sqa_ "
    "sgp_ zpka_ depot_ e2b_ emb_ st. CLOJARS_ "
    "pat dapi dose dkea dsap dop_v1_ doo_v1_ dor_v1_ lsv2_pt_ lsv2_sk_ ls__ sdk- mob- api- "
    "live_ test_ key- pubkey- access-sandbox- access-development- access-production- pul- xaat- "
    "waka_ xapt- sk_ fc- signkey- packagist_ rootly_ slk_ cs scp-live- scp-test- s-s4t2ud- "
    "u-s4t2ud- 1000. SK v1.0- pat-na1- pat-na2- pat-eu1- pat-ap1- HRKU-"
)
_PREFIXES: Final = f"{_TELLING} {_KEY_IDS} {_BEFORE_DIGESTS}".split()
_PREFIX: Final = re.compile(r"(?<![\w\-])" + _alternatives(_PREFIXES))
_LISTED: Final = re.compile(
    rf"(?<![\w\-])(?:(?:{_alternatives(_TELLING.split())})"
    r"(?=[A-Za-z_./+\-=$,]{0,64}?(?:[0-9]|[a-z][A-Z]))[\w\-.+=%/$,~]{10,}"
    rf"|(?:{_alternatives(_KEY_IDS.split())})[A-Za-z0-9]{{12,61}}(?!\w)"
    r"(?:[^A-Za-z0-9\n]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9+]))?"
    rf"|(?:{_alternatives(_BEFORE_DIGESTS.split())})[\w.\-:]{{0,40}}?"
    r"(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[\w.\-]*)"
)
# Before a run may stand the head of a prefix, up to its last sign: SG.…, hvs.…, v1.0-…
_ENDS_OF_PARTS: Final = frozenset(".:~$!+")


def _head(prefix: str) -> str:
    return prefix[: max(map(prefix.rfind, _ENDS_OF_PARTS)) + 1]


_HEADS_OF_PREFIXES: Final = re.compile(
    r"(?<![\w\-])" + _alternatives(head for head in map(_head, _PREFIXES) if head)
)
_BEFORE_RUN: Final = 40


def _listed(text: str, start: int) -> tuple[int, int] | None:
    """The token that begins with a run, or some parts before it."""
    first = start
    if text[start - 1 : start] in _ENDS_OF_PARTS:
        head = _HEADS_OF_PREFIXES.search(text, max(0, start - _BEFORE_RUN), start)
        first = head.start() if head else start
    match = _LISTED.match(text, first)
    return match.span() if match else None


@lru_cache(maxsize=8192)
def _looks_like_a_name(run: str) -> bool:
    """Whether a run is neither random nor begins with a prefix, as nearly all."""
    if _PREFIX.match(run) is not None or _OF_A_REGION.fullmatch(run) is not None:
        return False
    return len(run) < _LONG or not is_random(run)


# A digest with the region that the key is of is no id.
_OF_A_REGION: Final = re.compile(r"[0-9a-f]{32}-[a-z]{2}[0-9]{1,2}")


# A token begins behind an escape of a URL, too: %3Dghp_ => three blanks in its place
_ESCAPE: Final = re.compile(r"%[0-9A-F]{2}")
# The path of a web hook is its secret; and what has slashes by itself.
_WEB_HOOKS: Final = tuple(
    (mark, re.compile(form))
    for mark, form in (
        ("hooks.slack.com/", r"hooks\.slack\.com/[a-z]{1,16}/([\w/\-]{16,})"),
        ("/IncomingWebhook/", r"/(\w+[\w/@\-]{36,}/IncomingWebhook/[\w/\-]{16,})"),
        (".webhook.office.com/", r"\.webhook\.office\.com/(\w+/[\w/@\-]{36,})"),
        ("/triggers/", r"/triggers/[\w/]{1,64}\?[^\s\"']{0,400}sig=([\w\-%]{20,})"),
        (
            "/api/webhooks/",
            r"discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[\w\-]{20,})",
        ),
        (
            "chat.googleapis.com/",
            r"chat\.googleapis\.com/v1/spaces/[^\s?\"']{1,64}\?([^\s\"']{20,})",
        ),
        ("api.telegram.org/bot", r"/bot([0-9]{8,10}:[\w\-]{30,})"),
        ("{SSHA", r"\{SSHA[0-9]{0,3}\}([\w+/=]{20,})"),  # a directory's
        ("1//0", r"(?<![\w/])(1//0[\w\-]{24,})"),  # a refresh token of Google
        ("hooks.zapier.com/", r"hooks\.zapier\.com/hooks/(?:catch/)?([\w/]{8,})"),
    )
)
# Headers without their names
_BEARER: Final = re.compile(r"\bBearer ([\w.~+/=\-]{16,})")
_BASIC: Final = re.compile(r"\bBasic ([A-Za-z0-9+/]{12,}={0,2})")
_HEADS: Final = ("Basic ", "Bearer ", '"kty', "Private-", "<RSAKey")
"""Of secrets that are found by a word beside them."""
# A key as base64 writes it, with slashes; 43 signs with one of equality are a digest of 32 bytes.
_BASE64: Final = re.compile(
    r"(?<![\w+/\-.:~])[A-Za-z0-9+][A-Za-z0-9+/]{38,}[A-Za-z0-9+](={0,2})(?![\w/])"
)
_DIGEST: Final = 43


def may_hold_token(text: str, *, is_name: bool = False) -> bool:
    """Whether a text has a token; not told of all that stands beside a word of its own."""
    for head in _HEADS:
        if head in text:
            return True
    if _RUN_OR_TURNS.search(text) is None:
        return False
    if len(text) == _LENGTH_OF_UUID and _UUID.fullmatch(text):
        return False
    if not is_name and may_be_issued(text):
        return True
    if _RUN.search(text) is None:
        return False
    if any(mark in text for mark, _ in _WEB_HOOKS):
        return True
    return next(_words(text, is_name=is_name), None) is not None


def may_be_issued(text: str) -> bool:
    """Whether a text has a short random word."""
    return _IN_TURNS.search(text) is not None and next(_issued(text), None) is not None


def tokens(text: str, *, is_name: bool = False) -> Iterator[tuple[int, int]]:
    """Where secrets stand that their look shows; in a name only those with a known prefix: tables,
    columns and places may be called as a machine likes.
    """
    if "Bearer " in text:
        yield from (match.span(1) for match in _BEARER.finditer(text))
    if "Basic " in text:
        yield from (match.span(1) for match in _BASIC.finditer(text) if _is_encoded(match[1]))
    yield from _private_keys(text)
    for mark, pattern in _WEB_HOOKS:
        if mark in text:
            yield from (match.span(1) for match in pattern.finditer(text))
    if not is_name:
        yield from _issued(text)
    yield from _words(text, is_name=is_name)


def _words(text: str, *, is_name: bool) -> Iterator[tuple[int, int]]:
    shown = _ESCAPE.sub("   ", text) if "%" in text else text
    done = 0
    for run in _RUN.finditer(shown):
        start, end = run.span()
        if start < done or (
            _looks_like_a_name(run.group()[:_LONGEST])
            and shown[start - 1 : start] not in _ENDS_OF_PARTS
        ):
            continue
        span = _listed(shown, start)
        if span is None and end - start >= _LONG and not is_name:
            of_a_region = _OF_A_REGION.fullmatch(shown, start, end) is not None
            span = (start, end) if of_a_region else _random(shown, start, end)
        if span is not None:
            done = span[1]
            yield span
    if "/" in shown and not is_name:
        yield from (match.span() for match in _BASE64.finditer(shown) if _is_key(match))


_LENGTH_OF_UUID: Final = 36


def _is_key(match: re.Match[str]) -> bool:
    """Whether a word with slashes is base64: the parts of a path are words."""
    word = match.group().rstrip("=")
    if "/" not in word or (match[1] == "=" and len(word) == _DIGEST):
        return False
    parts = word.split("/")
    return is_random(word) and not any(len(part) > 2 and part.islower() for part in parts)


def _is_encoded(word: str) -> bool:
    """Whether a word is base64 rather than one of a language."""
    return word.endswith("=") or any(map(str.isdigit, word))


# --- private keys --------------------------------------------------------------------------------

_PUTTY: Final = re.compile(r"Private-Lines: [0-9]{1,4}\s{1,4}([^:]{1,16384})(?=\nPrivate-|\Z)")
# A JSON Web Key names its secret parts by letters, an RSA key in XML by elements.
_WEB_KEY: Final = re.compile(
    r"\"(?:d|k|p|q|dp|dq|qi)\\{0,3}\"\s{0,8}:\s{0,8}\\{0,3}\"([\w\-+/=]{1,8192})"
)
_XML_KEY: Final = re.compile(r"<(?:D|P|Q|DP|DQ|InverseQ)>([\w\-+/=\s]{1,8192})</")


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """``-----BEGIN … PRIVATE KEY-----`` to its end; to the end of the text where it was cut."""
    if "BEGIN" in text and "PRIVATE" in text:
        yield from _armoured(text)
    if "Private-Lines" in text:
        yield from (match.span(1) for match in _PUTTY.finditer(text))
    if '"kty' in text:
        yield from (match.span(1) for match in _WEB_KEY.finditer(text))
    if "<RSAKeyValue" in text:
        yield from (match.span(1) for match in _XML_KEY.finditer(text))


_HEADING: Final = re.compile(
    r"----[- ]BEGIN(?: |%20|\+)"
    r"((?:[A-Z0-9]{1,16}(?: |%20|\+)){0,4}PRIVATE(?: |%20|\+)KEY[A-Z ]{0,8})-{1,5}"
)
_ENDING: Final = re.compile(r"----[- ]END")


def _armoured(text: str) -> Iterator[tuple[int, int]]:
    heading = _HEADING.search(text)
    while heading:
        ending = _ENDING.search(text, heading.end())
        end = ending.start() if ending else len(text)
        yield heading.end(), end
        heading = _HEADING.search(text, end)
