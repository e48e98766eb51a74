"""Secrets in the forms of many languages, tools and vendors are masked; innocent texts are kept.

The forms are data (tests/fixtures/masking): a line each, `\\n` for a line feed, {S} for the secret.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from spark_agent_config.masking import mask_secrets, mask_text
from tests.secret_corpus import filled

FIXTURES: Final = Path(__file__).parents[3] / "fixtures" / "masking"
STRONG: Final = "Zq7kT9vLm2Xw4RbN"
SECRETS: Final = (STRONG, "tr0ub4dor&3", "geheimniswort")
FURTHER_SECRETS: Final = (STRONG, "Herbst-2031")
NUMBER: Final = "8412907"
DIGEST: Final = "5d41402abc4b2a76b9719d911017c592"
MOST_PASSING: Final = 0.02
MOST_HARMED: Final = 0.01


def families(file: str) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (FIXTURES / file).read_text("utf-8").splitlines():
        if line.startswith("== "):
            family = found.setdefault(line.removeprefix("== "), [])
        elif line:
            family.append(line.replace("\\n", "\n"))
    return found


FORMS: Final = families("forms.txt")
INNOCENTS: Final = families("innocents.txt")


@pytest.mark.parametrize("family", FORMS)
def test_nearly_no_secret_of_a_family_passes(family: str) -> None:
    texts = [
        (form, form.replace("{S}", secret), secret) for form in FORMS[family] for secret in SECRETS
    ]
    passing = [text for _, text, secret in texts if secret in mask_text(text)]
    assert len(passing) <= MOST_PASSING * len(texts), passing
    assert [
        form for form, text, secret in texts if secret == STRONG and secret in mask_text(text)
    ] == []
    changed = [text for _, text, _ in texts if mask_text(mask_text(text)) != mask_text(text)]
    assert changed == []


def test_at_most_two_in_a_hundred_secrets_of_further_forms_pass() -> None:
    given = [
        (text, text_secrets)
        for forms in families("more_forms.txt").values()
        for form in forms
        for text, text_secrets in (filled(form, secret) for secret in FURTHER_SECRETS)
    ]
    masked = [(mask_text(text), text_secrets) for text, text_secrets in given]
    passing = [text for text, hidden in masked if any(secret in text for secret in hidden)]
    assert len(given) > 2_000
    assert len(passing) <= MOST_PASSING * len(given), passing


def test_at_most_one_in_a_hundred_innocent_texts_loses_its_meaning() -> None:
    texts = [text for family in INNOCENTS.values() for text in family]
    harmed = [text for text in texts if mask_text(text) != text]
    assert len(texts) > 600
    assert len(harmed) <= MOST_HARMED * len(texts), harmed


def test_there_are_hundreds_of_forms() -> None:
    assert sum(map(len, FORMS.values())) >= 400


def test_secrets_beside_above_and_in_keys_are_masked() -> None:
    passing = []
    for line in (FIXTURES / "structures.jsonl").read_text("utf-8").splitlines():
        masked = mask_secrets(json.loads(line.replace("{S}", STRONG)))
        told = json.dumps(masked)
        if STRONG in told or NUMBER in told or mask_secrets(masked) is not masked:
            passing.append((line, told))
    assert passing == []


@pytest.mark.parametrize(
    "document",
    [
        {"columns": ["password", "email"], "pairs": [["token", "string"], ["id", "bigint"]]},
        {"groups": [["password", "email"], ["id", "token"]]},
        {"fields": {"password": {"type": "string", "inputFields": [{"field": "password"}]}}},
        {"columnMetrics": {"token": {"nullCount": 3, "distinctCount": 5}}},
        {"credentials": {"type": "ldap", "user": "u", "tokenUrl": "https://h/t"}},
        {"fields": {"credentials": {"transformationType": "IDENTITY", "inputFields": []}}},
        {"name": "color", "value": "blue"},
        {"database_url": "jdbc:postgresql://h:5432/d"},
        {"password": "${DB_PASSWORD}", "secretArn": "arn:aws:secretsmanager:x:1:secret:y"},
        {"argv": ["mysql", "-u", "u", "-h", "h", "d"]},
        {"tokens": 5, "token_count": 7, "passCount": 3},
        {"stripe": {"key": "charge_id"}, "okta": {"key": "user_id", "value": "amount"}},
        {"object": {"key": STRONG}, "s3": {"bucket": "b", "key": STRONG}},
        {"basic": {"user": "etl", "value": "2026-01-05"}, "login": {"user": "u", "value": 12}},
        {"connection": {"user": "etl", "value": "jdbc:x://h/d"}, "message": {"key": "order-17"}},
        {"sessionId": "0190a7a8-0000-7000-8000-000000000001", "salt": "none", "spin": "1234"},
        {"product_key": DIGEST, "cache_key": DIGEST, "s3Key": STRONG, "run_id": DIGEST},
        {"args": ["-u", "bob", "-p", "8080"], "password.encoder": "bcrypt", "pass_rate": "0.93"},
        {"name": "wrapping_key", "type": "binary", "idempotency_key": DIGEST},
    ],
)
def test_structures_without_a_secret_are_kept(document: object) -> None:
    assert mask_secrets(document) is document  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["session_key", "sessionIdKey", "salt_session_key", "sess_id_key"])
@pytest.mark.parametrize("digest", [DIGEST, "da39a3ee5e6b4b0d3255bfef95601890afd80709"])
def test_a_digest_is_the_secret_of_a_sessions_key(key: str, digest: str) -> None:
    assert mask_secrets({key: digest}) == {key: "*****"}


def test_masked_keys_stay_apart() -> None:
    given = {"https://a:x@h": 1, "https://b:y@h": 2}
    assert mask_secrets(given) == {"https://*****@h": 1, "https://*****@h 2": 2}


# --- forms of vendors ----------------------------------------------------------------------------


def tokens() -> Iterator[tuple[str, str]]:
    """A token of each prefix of the vendors, made of a seed: (vendor, token)."""
    made = random.Random(7)
    for line in (FIXTURES / "vendors.txt").read_text("utf-8").splitlines():
        vendor, prefixes, pattern = line.split(" | ")
        for prefix in prefixes.split():
            for _ in range(2_000):
                rest = example(pattern, made)
                if re.fullmatch(pattern, rest):
                    yield vendor, prefix + rest
                    break
            else:
                raise AssertionError(vendor)


def example(pattern: str, made: random.Random) -> str:
    """A text of a pattern of the table: sets with counts, groups, and single letters."""
    text, rest = "", re.sub(r"\(\?![^()]*\)", "", pattern)
    while rest:
        if rest.startswith("(?:"):
            depth, end, bars = 0, 0, []
            while True:
                depth += (rest[end] == "(") - (rest[end] == ")")
                if rest[end] == "|" and depth == 1:
                    bars.append(end)
                if depth == 0:
                    break
                end += 1
            part, rest, group = rest[3 : [*bars, end][0]], rest[end + 1 :], True
        else:
            found = re.match(r"\[\^?[^\]]*\]|\\.|.", rest)
            assert found
            part, rest, group = found.group(), rest[found.end() :], False
        counted = re.match(r"\{([0-9]+)(?:,([0-9]*))?\}|\?", rest)
        least = 1
        if counted:
            least = int(counted[1] or 0) + 8 * (counted[2] == "")  # a longer one where it may be
            rest = rest[counted.end() :]
        for _ in range(least):
            text += example(part, made) if group else letter(part, made)
    return text


def letter(part: str, made: random.Random) -> str:
    if part.startswith("["):
        letters = string.ascii_letters + string.digits
        return made.choice([one for one in letters if re.fullmatch(part, one)])
    if part in (r"\w", r"\S"):
        return made.choice(string.ascii_letters + string.digits)
    return part.removeprefix("\\")


PLACES: Final = (
    "{T}", "see {T} now", "'{T}'", "x={T}", "[{T}]", "https://h/x?y={T}", "run --with {T}",
    "a,{T},b", "https://h/y%3D{T}",
)  # fmt: skip


def test_at_most_two_in_a_hundred_tokens_of_vendors_pass_wherever_they_stand() -> None:
    texts = [(token, place.replace("{T}", token)) for _, token in tokens() for place in PLACES]
    assert len(texts) > 3_000
    passing = [text for token, text in texts if token in mask_text(text)]
    assert len(passing) <= MOST_PASSING * len(texts), passing


@pytest.mark.parametrize("form", [
    "password={S}; then https://h/x?a={S}", "PW='{S}' curl h/{S}", "login u {S}; password={S}",
    "token={S}\nGET /api/{S}/x",
])  # fmt: skip
def test_a_secret_is_masked_wherever_it_stands_in_its_text(form: str) -> None:
    assert STRONG not in mask_text(form.replace("{S}", STRONG))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('db = "//Rm8x!kq2Lw"  # the password', "//Rm8x!kq2Lw"),
        ("ACL SETUSER etl on >abc", "abc"),
        ("ACL SETUSER alice on >first1 >second2 ~* +@all", "first1"),
        ("ACL SETUSER alice on >first1 >second2 ~* +@all", "second2"),
        ("user alice on >first1 ~* +@all >second2 >third3", "third3"),
        ("user alice on >first1 ~* +@all >second2 >third3", "second2"),
        ('token_v2 = bytes("jtlolmbhgqwmfx")', "jtlolmbhgqwmfx"),
        ('dbPasswordOld = bytearray("jtlolmbhgqwmfx")', "jtlolmbhgqwmfx"),
        ('secret_access_key = bytes("jtlolmbhgqwmfx")', "jtlolmbhgqwmfx"),
        ('var passwordBytes = Encoding.UTF8.GetBytes("jtlolmbhgqwmfx");', "jtlolmbhgqwmfx"),
        (f"session_key={DIGEST}", DIGEST),
        (f"SET session_key = '{DIGEST}'", DIGEST),
        (f"salt_session_key: {DIGEST}", DIGEST),
        ('var secret = Encoding.UTF8.GetBytes("jtlolmbhgqwmfx");', "jtlolmbhgqwmfx"),
        ('api_key = base64.b64decode("jtlolmbhgqwmfx")', "jtlolmbhgqwmfx"),
        ("-u bob -p Castle-rocket-668", "Castle-rocket-668"),
        ("conf connect.sid: s%3AkJ8dfQ2mLx0Pz7", "kJ8dfQ2mLx0Pz7"),
        ("ftp h\nuser\tbob Castle-668x\n", "Castle-668x"),
        ("log in bob:kJ8dfQ2mLx0P failed", "kJ8dfQ2mLx0P"),
        ("salt_key: kJdQmLxPzaBwErTyQsVn", "kJdQmLxPzaBwErTyQsVn"),
    ],
)
def test_a_secret_is_masked_where_its_place_shows_it(text: str, secret: str) -> None:
    assert secret not in mask_text(text)


@pytest.mark.parametrize("text", [
    "password.encoder = bcrypt", "pass_rate = 0.93", 'password = env.str("DB_PASSWORD")',
    "db = url // the password", "user age >512", "-u bob -p 8080", "-u bob -p ./out",
    "token = bytes(header)", 'token_type = bytes("SELECT")', "passwords = getbytes('col')",
    "UPDATE t SET token_text = bytes('hello')", 'tokenizer = bytearray("utf8")',
    "customer_key=d41d8cd98f00b204e9800998ecf8427e",
])  # fmt: skip
def test_what_stands_beside_a_secrets_name_is_kept_where_it_is_none(text: str) -> None:
    assert mask_text(text) == text


def test_what_is_a_name_as_well_is_masked_at_its_secret_place_alone() -> None:
    text = "password=orders_daily read of orders_daily"
    assert mask_text(text) == "password=***** read of orders_daily"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "password='Analytics2024'; SELECT * FROM Analytics2024.t",
            "password='*****'; SELECT * FROM Analytics2024.t",
        ),
        (
            "password=customer1 SELECT customer1 FROM t WHERE customer1='customer1'",
            "password=***** SELECT customer1 FROM t WHERE customer1='customer1'",
        ),
        (
            "jdbc:sqlserver://h;databaseName=Orders-2024;password=Orders-2024",
            "jdbc:sqlserver://h;databaseName=Orders-2024;password=*****",
        ),
        ('password=Nord2031! of "Nord2031!".t', 'password=***** of "Nord2031!".t'),
        ('password=Nord2031! of t."Nord2031!"', 'password=***** of t."Nord2031!"'),
        ("password=Nord2031! is not xNord2031!x", "password=***** is not xNord2031!x"),
        ("password=Nord2031! where Nord2031!=3", "password=***** where Nord2031!=3"),
        (f"password={STRONG} SELECT 1 FROM {STRONG}", f"password=***** SELECT 1 FROM {STRONG}"),
        ("password=Nord2031! was 'Nord2031!'.", "password=***** was '*****'."),
        ("password=Nord2031! and Nord2031!. Then", "password=***** and *****. Then"),
        ("password=Nord2031! h/Nord2031!/x?a=Nord2031!", "password=***** h/*****/x?a=*****"),
    ],
)
def test_a_secret_that_stands_again_is_masked_there_unless_it_may_be_a_name(
    text: str, masked: str
) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize("secret", ["([a]+Xy7!9", "([a]+)Xy7!9", "(hidden", "(none)Xy7!9"])
def test_a_secret_that_begins_like_a_pattern_or_a_word_in_brackets_is_masked(secret: str) -> None:
    assert mask_text(f"password={secret}") == "password=*****"


def test_a_pin_in_quotes_is_masked() -> None:
    assert mask_text('log of {"pin": "652934", "n": 1}') == 'log of {"pin": "*****", "n": 1}'


@pytest.mark.parametrize("text", [
    "tool --password \\\n  {S} --x", '{"env": "A=1\\nDB_PASSWORD={S}\\nB=2"}',
    'expect "password:"\nsend "{S}\\r"', "param adminPassword string = '{S}'",
    "SELECT vault.create_secret('{S}', 'name')",
])  # fmt: skip
def test_a_secret_behind_the_end_of_a_line_or_a_type_is_masked(text: str) -> None:
    assert STRONG not in mask_text(text.replace("{S}", STRONG))


# no width, joins, directs, varies the sign before
@pytest.mark.parametrize(
    "sign", "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u2060\u2066\ufe0f\ufeff\u3164"
)
@pytest.mark.parametrize("form", [
    "pass~word={S}", "password~=~{S}", "password = '~{S}'", "--pass~word {S}", "gh~p_{S}{S}1234",
    "CREATE USER u IDENT~IFIED BY '{S}'", "postgres://u~:{S}@h/d", "-- the pass~word is {S}",
])  # fmt: skip
def test_signs_that_no_one_sees_hide_no_secret(form: str, sign: str) -> None:
    text = form.replace("~", sign).replace("{S}", STRONG)
    masked = mask_text(text)
    assert STRONG not in masked
    assert mask_text(masked) == masked
    plain = f"n{sign}ame of {sign} orders"
    assert mask_text(plain) == plain


def test_a_hexadecimal_key_is_a_secret_unless_a_thing_or_a_dimension_has_it() -> None:
    assert mask_secrets({"wrapping_key": DIGEST, "order_key": DIGEST}) == {
        "wrapping_key": "*****",
        "order_key": DIGEST,
    }
