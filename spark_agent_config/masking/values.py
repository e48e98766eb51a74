"""What a value looks like: a password, a type, the name of a place where a secret is kept."""

from __future__ import annotations

import re
from typing import Final

from spark_agent_config.masking.names import NAME_LENGTH, squash

_TYPE: Final = re.compile(
    r"(?i)(?:string|str|text|char|n?varchar2?|character|u?int(?:8|16|32|64|128)|float(?:32|64)|bigint|int|integer|long|short"
    r"|smallint|tinyint|float|double|real|decimal|numeric|number|boolean|bool|binary|varbinary|byte"
    r"|bytes|date|datetime|time|timestamp|timestamp_ntz|timestamptz|interval|array|map|struct|row"
    r"|uuid|json|jsonb|variant|void|null|none|option|seq|list|any|object)(?![\w\-])"
    r"(?:\([0-9]{1,6}(?:, ?[0-9]{1,6})?\))?"
)
# A value that names the place of a secret.
_REFERENCE: Final = re.compile(
    r"\$\{[^{}\n]{1,256}\}|\{\{[^{}\n]{1,256}\}\}|\$\(?[A-Z_][A-Z0-9_]{0,128}\)?|%\([\w.]{1,128}\)s"
    r"|\$\([^()\n]{1,256}\)|\[\]|\{\}|[0-9]{1,2}|[a-z_]{2,64}(?:\.[a-z_]{2,64}){2,5}"
    r"|(?:~|\.{1,2})?(?:/[a-z][\w.\-]{0,32}){1,16}/?"
    r"|(?:[a-z][a-z0-9_]{0,63}\.){2,8}[A-Z][A-Za-z0-9]{0,63}|\^\S{0,256}\$"
    r"|[xX]{4,64}|projects/\S{1,128}/secrets/\S{1,256}|%|[(\[]{1,2}[?^.\\]\S{0,256}"
    r"|%[sdrv]|\[(?:REDACTED|MASKED|HIDDEN|redacted|masked|hidden)\]"
    r"|arn:aws[\w\-]{0,16}:[\w\-]{1,64}:\S{1,512}|!(?:ref|Ref|sub|Sub|vault)|<[a-z][\w \-]{0,64}>"
    r"|(?:args|config|conf|self|settings|options|opts|this|env|params|cfg|ctx)(?:\.\w{1,64}){1,4},?"
)
# … of which blanks are a part, or which goes on behind the value.
_FETCHED: Final = re.compile(
    r"<[A-Za-z][\w \-]{0,64}>|\$\([^()\n]{1,256}\)|\$\{[\w.]{1,128}\}|@Microsoft\.KeyVault\("
    r"|%[A-Z_][A-Z0-9_]{0,64}%(?:\W|\Z)"
    r"|(?:var|local|data|module|each|self|this)\.[\w.]{1,256}(?=[\s,;)}\[]|\Z)"
    r"|(?:Optional|Union|List|Sequence|Final)\["
)
# Code that fetches it: os.environ["X"], client.secret(name="x"), lexer.next()
_CODE: Final = re.compile(
    r"[A-Za-z_]\w{0,63}(?:\.[A-Za-z_]\w{0,63}){0,5}(?:\([^()\n]{0,256}\)"
    r"|\[(?:[\"'][^\]\n]{1,128}[\"']\]|[\w:\-]{1,32}[\],])|\((?:[\"']|[a-z_]\w{0,63}[,.(=]))"
)
PLAIN_WORDS: Final = frozenset({
    "kerberos", "simple", "basic", "digest", "ntlm", "ldap", "saml", "oauth", "oauth2", "iam",
    "plain", "ssl", "tls", "mtls", "sasl", "gssapi", "anonymous", "enabled", "disabled", "default",
    "warn", "info", "debug", "error", "trace", "fatal", "nosasl", "pam", "custom", "undefined",
    "yes", "no", "true", "false", "none", "null", "on", "off", "required", "optional", "invalid",
    "hmacsha1", "hmacsha256", "hmacsha384", "hmacsha512", "s3v4",
    "missing", "expired", "unknown", "empty", "set", "unset", "hidden", "masked", "redacted",
})  # fmt: skip


def is_strong(value: str) -> bool:
    """Whether a word looks like a password rather than like a word, a number or a column."""
    if len(value) < 6 or value.rstrip(".!?").isalpha():
        return False
    bare = value.replace("_", "").replace(".", "").replace("-", "")
    return not bare.isalpha() and not bare.isdigit() and any(map(str.isalnum, bare))


def is_told(value: str) -> bool:
    """The same for a value in a sentence, where ``a=b`` and ``a/b`` are no passwords."""
    return is_strong(value) and _OF_A_PATH.isdisjoint(value)


_OF_A_PATH: Final = frozenset("=:/(")


def is_mixed(value: str) -> bool:
    """Whether a word looks like a password wherever it stands: small letters, capitals and digits,
    or two of them and a sign that names do not have; ``Base64Encoder`` and ``TLSv1.2`` are names.
    So does a long hexadecimal number: this is asked beside names of secrets only.
    """
    if _LONG_HEXADECIMAL.fullmatch(value):
        return True
    if len(value) < _SHORTEST_MIXED or not _OF_A_PATH.isdisjoint(value) or value[0] in "#$%@&":
        return False
    signed = not _OF_A_PASSWORD.isdisjoint(value)
    kinds = (
        any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    )
    if kinds + signed < _LEAST_KINDS:
        return False
    if signed or max(map(len, _DIGITS.split(value))) < _LONGEST_PIECE:
        return True
    return _WORDS_AND_NUMBER.fullmatch(value) is not None and not _ALGORITHM.search(value)


_LONG_HEXADECIMAL: Final = re.compile(r"(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{32,128}")
_SHORTEST_MIXED: Final = 8
_LEAST_KINDS: Final = 3
_LONGEST_PIECE: Final = 6
_OF_A_PASSWORD: Final = frozenset("!#^&+~")
# blauerHase77, Winter2024: people put words and a number together; HmacSHA256 is a name
_WORDS_AND_NUMBER: Final = re.compile(
    r"[A-Za-z][a-z0-9]{0,32}(?:[_\-]?[A-Z][a-z0-9]{1,32}){1,4}_?[0-9]{2,6}"
    r"|[A-Z][a-z]{2,32}[_\-]?[0-9]{4}"
)
_ALGORITHM: Final = re.compile(
    r"(?i)(?:sha|md|aes|rsa|des|hmac|base|utf|crc|cbc|gcm)[_\-]?[0-9]{1,4}\Z"
)
_DIGITS: Final = re.compile(r"[0-9._\-]")


def is_name(value: str) -> bool:
    """Whether a text is rather a page, a host, a column or a sentence."""
    return _NAME.fullmatch(value) is not None


def is_numbered(value: str) -> bool:
    """Whether a word in small letters has a number at most: ``region07``."""
    return _NUMBERED.fullmatch(value) is not None


_NUMBERED: Final = re.compile(r"[a-z_\-]+[0-9]{0,2}")
_NAME: Final = re.compile(
    r"[a-z0-9]{1,64}(?:[_\-][a-z0-9]{1,64}){1,8}|\S*[/=:]\S*"
    r"|[\w\-]{1,64}(?:\.[\w\-]{1,64}){2,8}|[a-z][a-z0-9_]{0,64}\.[a-z0-9_]{1,64}|[A-Z]{1,16}[_\-][A-Z0-9_\-]{1,64}|.*\s.*"
)


def is_type(value: str) -> bool:
    """Whether a word is the type of a column."""
    return _TYPE.fullmatch(value) is not None


def is_reference(value: str) -> bool:
    """Whether a text says where a secret is: ``${DB_PASSWORD}``, an ARN."""
    return _REFERENCE.fullmatch(value) is not None


def is_method(name: str, value: str) -> bool:
    """Whether a text says how one logs in: ``"auth": "ldap"``."""
    return squash(name[-NAME_LENGTH:]).endswith("auth") and value.lower() in PLAIN_WORDS


def begins_as_type(value: str) -> bool:
    """The same for the first word of a text."""
    return _TYPE.match(value) is not None


def is_fetched(text: str, start: int) -> bool:
    """Whether code at a place fetches the secret: ``os.environ["X"]``, ``var.db_password``."""
    return _CODE.match(text, start) is not None or _FETCHED.match(text, start) is not None
