"""Names and values: the tables of words, and the comparison with them.

A name says whether its value is secret. A value may look like a password, or like none: a type, the
name of a place where a secret is kept, code that fetches one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

MASK: Final = "*****"
NAME_LENGTH: Final = 256
"""Characters of a name that are compared."""

# Names are compared in lower case without punctuation. Found anywhere in a name …
SECRET_FRAGMENTS: Final = (
    "password", "passwd", "passphrase", "secret", "accesskey", "apikey", "privatekey",
    "accountkey", "sharedkey", "signingkey", "encryptionkey", "sastoken", "jaasconfig",
    "passcode", "pvtkey", "masterkey", "storagekey", "sharedaccesssignature", "credentialsjson",
    "fernetkey", "aeskey", "symmetrickey", "cipherkey", "cryptokey", "decryptionkey", "hmackey",
    "passwrd", "pswd", "sshkey", "appkey", "subscriptionkey", "instrumentationkey",
    "keysource", "principalkey", "credentialsbase64", "credentialsinfo", "clientkeydata",
    "accesstokens", "authtokens", "apitokens", "bearertokens", "refreshtokens", "encryptkey",
    # … and in other languages
    "passwort", "kennwort", "motdepasse", "motpasse", "contraseña", "contrasena", "contrasenya",
    "wachtwoord", "lösenord", "losenord", "passord", "adgangskode", "salasana", "jelszó", "jelszo",
    "пароль", "пароля", "parolă", "κωδικόςπρόσβασης", "密码", "密碼", "口令",
    "密钥", "パスワード", "暗証番号", "비밀번호", "암호", "סיסמה", "סיסמא", "كلمةالمرور",
    "كلمةالسر", "mậtkhẩu",
)  # fmt: skip
# … or as its end (token, but neither tokenizer nor tokens) …
SECRET_ENDINGS: Final = (
    "token", "pwd", "credential", "credentials", "authorization", "connectionstring", "bearer",
    "jwt", "cookie", "oauth2refresh", "awskeyid", "creds", "pwrd", "passw", "authkey",
    "basicauth", "bindpw",
    "tlskey", "keystorekey",
    "rootpw", "dbpw", "userpw", "adminpw", "masterauth", "connstr", "connectionuri", "dsn",
    "databaseurl", "databaseuri", "dburl", "licensekey", "apisecret",
    "recoverycode", "otp", "totp", "otpseed", "authuserinfo", "openaikey",
    "jsessionid", "sessionsecret", "samlresponse", "samlassertion", "mfaseed", "pepper", "propskey",
    "passhash", "ntlmhash", "writekey", "securestring", "functionskey", "psk", "dbcred",
    "psw", "sslkey", "plaintextkey", "sensitive", "codeverifier", "securityanswer", "seedphrase",
    "recoveryphrase", "clientassertion",
)  # fmt: skip
# ... or as its end, unless the end is one of a word of the language (compass, bypass) ...
_PASS: Final = "pass"  # noqa: S105 - a name
_WORDS_IN_PASS: Final = (
    "compass", "bypass", "trespass", "surpass", "overpass", "underpass", "encompass", "lowpass",
    "highpass", "bandpass", "multipass", "firstpass", "onepass", "twopass", "singlepass",
)  # fmt: skip
_WORDS_WITH_SECRET: Final = re.compile(r"secretar|secretion|secretkeyref")
# ... where these hold a URL, its login alone is the secret
URL_NAMES: Final = (
    "connectionuri", "dsn", "databaseurl", "databaseuri", "dburl", "connstr",
)  # fmt: skip
# … or as one of its words (fs.azure.sas.<container>.<account>) …
SECRET_WORDS: Final = (
    "sas",
    "pass",
    "pw",
    "senha",
    "hasło",
    "haslo",
    "heslo",
    "şifre",
    "sifre",
    "парола",
)
# … or as its last word (proxy.auth, but neither auth_date nor typeSignature) …
SECRET_LAST_WORDS: Final = ("auth", "signature", "parola", "cred", "kek", "dek")
# … or, in the query of a URL, as the whole name.
SECRET_PARAMETERS: Final = (
    "key", "sig", "signature", "auth", "pin", "code", "jsessionid", "authmechanismproperties",
    "delegation", "sid", "sessionid", "phpsessid",
)  # fmt: skip
# One of these in a query means: signed for a while, the query names nothing.
SIGNATURE_PARAMETERS: Final = ("sig", "xamzsignature", "xgoogsignature", "signature")
# Services whose ``key`` is that of their API: {"stripe": {"key": …}}. None is a dimension of a
# warehouse, whose keys are numbers of rows (segment_key).
SERVICES: Final = frozenset((
    "stripe", "braintree", "adyen", "paypal", "plaid", "razorpay", "paddle", "checkoutcom",
    "twilio", "nexmo", "vonage", "plivo", "messagebird", "sinch", "sendgrid", "mailgun", "mailjet",
    "mailchimp", "mandrill", "postmark", "sparkpost", "sendinblue", "brevo", "klaviyo",
    "openai", "anthropic", "cohere", "mistral", "huggingface", "pinecone", "weaviate", "deepl",
    "datadog", "newrelic", "honeycomb", "sumologic", "loggly", "logdna", "bugsnag", "rollbar",
    "pagerduty", "opsgenie", "amplitude", "mixpanel", "launchdarkly", "algolia", "typesense",
    "cloudflare", "fastly", "mapbox", "rapidapi", "firebase", "supabase", "zendesk", "hubspot",
    "intercom", "airtable", "shopify", "fivetran", "snowplow", "sentry", "grafana", "auth0", "okta",
))  # fmt: skip
# Objects that are a login: {"basic": {"user": "u", "value": …}}
LOGINS: Final = frozenset((
    "auth", "authentication", "basic", "basicauth", "httpbasic", "digest", "ntlm", "login", "logon",
    "bind", "ldap", "sasl", "scram", "plain", "smtp", "imap", "ftp", "sftp", "ssh", "jdbc", "odbc",
    "proxy", "credentials", "credential", "creds", "identity", "serviceaccount", "dblogin",
    "connection", "registry",
))  # fmt: skip
# Fields that name who logs in.
USERS: Final = frozenset((
    "user", "username", "login", "userid", "uid", "usr", "principal", "binddn", "account",
))  # fmt: skip
# Parameters without effect on the data: no secrets, but identity drops them as well.
LOGIN_PARAMETERS: Final = ("user", "username", "uid", "login", "userid")
# Endings that tell about a secret without being one.
PUBLIC_ENDINGS: Final = (
    "provider", "providers", "url", "uri", "endpoint", "type", "class", "scope", "policy",
    "column", "columns", "count", "length", "expiry", "enabled", "changedat", "updatedat",
    "createdat", "expiresat", "issuedat", "resetat", "rotatedat", "usedat", "date", "time",
    "timestamp", "expires", "attempts", "strength", "version", "algorithm", "status", "required",
    "arn", "file", "path", "secretname", "tokenname", "location", "ttl", "expiration",
    "description", "hint", "existingsecret", "secretbackend", "secretsbackend", "secretref",
    "secretmanager", "secretsmanager", "passwordcommand", "passwordencryption", "days", "hours",
    "minutes", "seconds", "table", "pagetoken", "nexttoken", "continuationtoken",
    "metastoretokensignature", "passwordfrom", "secretfrom", "tokenfrom", "keyheader",
    "tokenheader", "passwordstdin", "encoder", "hasher", "validator", "passrate", "passratio",
    "bits", "size", "passwordsource", "keyname", "managerregion",
    "passwordsecretkey", "keyfooter",
    "eostoken", "bostoken", "padtoken", "unktoken", "septoken", "clstoken",  # of language models
)  # fmt: skip
# Names of secrets where the value is random; else they name, count or join something …
RANDOM_ENDINGS: Final = (
    "sessionid", "sessid", "session", "connectsid", "sailssid", "salt", "authcode", "accesscode",
    "authorizationcode", "securitycode", "verificationcode", "devicecode", "backupcode",
    "resetcode", "invitecode", "oauthverifier",
)  # fmt: skip
# … as any key, but of these: machines make the keys of rows, objects and dimensions, too.
_KEYS_OF_THINGS: Final = (
    "object", "s3", "cache", "row", "record", "partition", "sort", "message", "routing", "primary",
    "foreign", "hash", "document", "public", "dedup", "deduplication", "join", "cluster",
    "clustering", "surrogate", "natural", "business", "idempotency", "correlation", "dist",
    "distribution", "shard", "bucket", "segment", "unique", "composite", "alternate", "lookup",
    "group", "merge", "index", "ordering", "customer", "product", "order", "user", "item", "store",
    "date", "entity", "event", "employee", "supplier", "vendor", "location", "job", "run", "task",
    "query", "plan", "link", "dim", "fact", "page", "file", "column", "table", "dataset", "state",
    "content", "image", "artifact", "snapshot", "sequence", "grouping", "map", "parent", "child",
)  # fmt: skip
# Any other key is random, too, but a digest is secret behind these alone: surrogate keys are MD5 or
# SHA-1 of what they stand for.
_KEYS_OF_SECURITY: Final = (
    "salt", "wrap", "wrapping", "wrapped", "encrypt", "encrypting", "encryption", "decrypt",
    "decryption", "cipher", "crypto", "kek", "dek", "cmk", "kms", "seal", "unseal", "sign",
    "signing", "signature", "master", "root", "shared", "preshared", "private", "secret", "hmac",
    "mac", "aes", "rsa", "fernet", "tacacs", "radius", "snmp", "ipsec", "vpn", "wifi", "wpa", "tls",
    "envelope", "security", "auth", "access", "admin", "license", "licence", "webhook", "deploy",
    "derivation", "recovery", "vault", "transit", "backup",
)  # fmt: skip
# … and words behind a name that leave it one: token_v2, dbPwdNew, auth_string.
QUALIFIERS: Final = (
    "prod", "production", "dev", "test", "testing", "stage", "staging", "stg", "uat", "qa", "live",
    "sandbox", "new", "old", "current", "previous", "prev", "primary", "secondary", "plain",
    "plaintext", "cleartext", "raw", "enc", "encrypted", "encoded", "base64", "b64", "hex",
    "string", "default", "temp", "tmp", "value",
)  # fmt: skip
# Names of secrets that are numbers.
NUMBER_SECRETS: Final = (
    "password", "passwd", "passphrase", "pwd", "pin", "passcode", "pswd", "pass", "token", "secret",
    "apikey", "accesskey", "credential", "credentials", "creds", "otp", "pincode", "secretkey",
    "authkey",
)  # fmt: skip
# Schemes whose hosts may have a login without //: kafka:u:p@h:9092
LOGIN_SCHEMES: Final = (
    "kafka", "pulsar", "kinesis", "pubsub", "cassandra", "redis", "rediss", "amqp", "amqps",
)  # fmt: skip
# container@account: the apparent user-info is part of the name.
CONTAINER_SCHEMES: Final = ("abfss", "abfs", "wasb", "wasbs")

TABLES: Final = (
    SECRET_FRAGMENTS, SECRET_ENDINGS, SECRET_WORDS, SECRET_LAST_WORDS, SECRET_PARAMETERS,
    SIGNATURE_PARAMETERS, LOGIN_PARAMETERS, PUBLIC_ENDINGS, LOGIN_SCHEMES, QUALIFIERS,
)  # fmt: skip
"""The tables that identity depends on: part of the rules' digest."""

# Many programs take these for an i and an s (str.lower does not); K (Kelvin) is lowered.
_ALIKE: Final = str.maketrans({"ı": "i", "ſ": "s"})


# Words of a name are divided by signs or by capitals.
_QUALIFIED: Final = re.compile(
    rf"(?<=[A-Za-z0-9])(?:[_.\- ](?:(?i:{'|'.join(QUALIFIERS)})|v?[0-9]{{1,4}})"
    rf"|(?<=[a-z0-9])(?:{'|'.join(map(str.capitalize, QUALIFIERS))}|V?[0-9]{{1,4}})){{1,3}}\Z"
)


@lru_cache(maxsize=8192)
def is_secret_key(key: str) -> bool:
    """Whether a setting of this name holds a secret: ``fs.s3a.secret.key``, ``API-Token``."""
    return _is_secret(key) or _is_secret(_QUALIFIED.sub("", key))


def _is_secret(key: str) -> bool:
    squashed = squash(key).removesuffix("value")
    if squashed.endswith(URL_NAMES):
        return True
    if squashed.endswith(PUBLIC_ENDINGS):
        return False
    if squashed.endswith(SECRET_ENDINGS):
        return True
    if any(fragment in squashed for fragment in SECRET_FRAGMENTS):
        return not _WORDS_WITH_SECRET.search(squashed)
    if squashed.endswith(_PASS) and len(squashed) > len(_PASS):
        return not squashed.endswith(_WORDS_IN_PASS)
    words = re.split(r"[\W_]+", key.lower())
    return words[-1] in SECRET_LAST_WORDS or not set(SECRET_WORDS).isdisjoint(words)


class OfRandom(NamedTuple):
    """Whether a random value makes a name that of a secret, and whether a digest does."""

    secret: bool
    digest: bool


@lru_cache(maxsize=8192)
def with_random(key: str) -> OfRandom:
    """``sessionid`` and ``salt_key`` with any random value; ``device_key`` with a digest is a
    surrogate key, ``object_key`` names what it likes.
    """
    squashed = squash(_QUALIFIED.sub("", key[:NAME_LENGTH]))
    if squashed.endswith(RANDOM_ENDINGS):
        return OfRandom(secret=True, digest=True)
    thing = squashed.removesuffix("key")
    is_key = thing not in ("", squashed) and not thing.endswith(_KEYS_OF_THINGS)
    is_safe = thing.endswith((*RANDOM_ENDINGS, *_KEYS_OF_SECURITY))
    return OfRandom(secret=is_key, digest=is_key and is_safe)


def is_pin(key: str, value: str) -> bool:
    """Whether a text is the number that a person keeps for a card: ``{"pin": "0497"}``."""
    return _PIN.search(key[-NAME_LENGTH:]) is not None and _OF_A_PIN.fullmatch(value) is not None


_PIN: Final = re.compile(r"(?:\A|[_.\- ])(?i:pin)\Z|(?<=[a-z])P(?:in|IN)\Z")
_OF_A_PIN: Final = re.compile(r"[0-9]{4,8}")


def is_key_of_service(service: str, value: str) -> bool:
    """Whether a text under ``key`` is that of a service: ``{"stripe": {"key": "x1y2z3"}}``."""
    return squash(service[:NAME_LENGTH]) in SERVICES and is_strong(value) and not is_name(value)


@lru_cache(maxsize=8192)
def is_name_of_service_key(name: str) -> bool:
    """Whether a name is that of a service's key as a whole: ``STRIPE_KEY``, ``stripe.key``."""
    squashed = squash(name[:NAME_LENGTH])
    return squashed.endswith("key") and squashed[: -len("key")] in SERVICES


def is_of_login(above: str, fields: Iterable[str], value: str) -> bool:
    """Whether a text beside a user in a login is its password, whatever its field is called:
    ``{"basic": {"user": "u", "value": "x1y2z3"}}``.
    """
    squashed = squash(above[:NAME_LENGTH])
    return (
        (squashed in LOGINS or squashed.removesuffix("s") in LOGINS)
        and is_strong(value)
        and not is_name(value)
        and not is_address(value)
        and any(squash(field[:NAME_LENGTH]) in USERS for field in fields)
    )


def is_address(value: str) -> bool:
    """Whether a text is an address of mail or a principal: ``svc@ACME.COM``."""
    return _ADDRESS.fullmatch(value) is not None


_ADDRESS: Final = re.compile(r"[\w.+\-]{1,64}@[\w\-]{1,64}(?:\.[\w\-]{1,64}){1,8}")


def is_public(key: str) -> bool:
    """Whether a name tells about a secret without being one: ``tokenUrl``."""
    return squash(key[:NAME_LENGTH]).endswith(PUBLIC_ENDINGS)


def holds_url(key: str, value: str) -> bool:
    """Whether a secret name holds a URL, of which the login alone is secret: ``database_url``."""
    return "://" in value and squash(key[:NAME_LENGTH]).endswith(URL_NAMES)


def is_secret_parameter(name: str) -> bool:
    """The same for a parameter of a URL, where a bare ``key`` or ``sig`` is a secret, too.

    A URL's signature is one as well: identity drops it, so a document must not keep it.
    """
    name = decoded(name)
    squashed = squash(name)
    if squashed in SECRET_PARAMETERS or squashed in SIGNATURE_PARAMETERS:
        return True
    return is_secret_key(name)


@lru_cache(maxsize=8192)
def hides_numbers(key: str) -> bool:
    """Whether a number under this name is a secret: ``"pin": 1234``."""
    return squash(key[:NAME_LENGTH]).endswith(NUMBER_SECRETS)


def decoded(name: str) -> str:
    """``X%2DAmz%2DSignature`` => ``X-Amz-Signature``."""
    return unquote(name[:NAME_LENGTH])


def squash(key: str) -> str:
    """Letters and digits alone, in lower case: Access-Key_Id => accesskeyid."""
    return "".join(filter(str.isalnum, key)).lower().translate(_ALIKE)


def may_name_secret(text: str) -> bool:
    """Whether some word of the tables stands in the text, as names are compared; ``%`` may hide it.

    Cheap beside finding the settings: every name of a text is looked at, one word is looked for.
    """
    if "%" in text:
        return True
    squashed = text.lower().translate(_NO_PUNCTUATION)
    for word in _TELLING if text.isascii() else _TELLING_ANYWHERE:
        if word in squashed:
            return True
    return "key" in squashed and (_has_secret_key(squashed) or _KEYED.search(text) is not None)


def _telling() -> tuple[str, ...]:
    """The words that make a name secret, without those that contain another, as ``pass``.

    Words with ``key`` are apart: texts are full of it. So are the parameters of a URL alone.
    """
    names = {
        *SECRET_FRAGMENTS, *SECRET_ENDINGS, *SECRET_WORDS, *SECRET_LAST_WORDS, _PASS,
        "cred", "jaas", "databaseur", "connectionstr",
    }  # fmt: skip
    names |= set(RANDOM_ENDINGS)
    parameters = {f"{name}=" for name in (*SECRET_PARAMETERS, *SIGNATURE_PARAMETERS)}
    words = {word for word in names | parameters if "key" not in word}
    return tuple(sorted(word for word in words if not any(o in word for o in words if o != word)))


_TELLING_ANYWHERE: Final = _telling()
_TELLING: Final = tuple(word for word in _TELLING_ANYWHERE if word.isascii())
# What stands before the key of a secret name: api, private; ?key=x is a parameter.
_BEFORE_KEY: Final = (
    "?", "&", ";", "#",
    *sorted({
        word.split("key")[-2]
        for word in (*SECRET_FRAGMENTS, *SECRET_ENDINGS)
        if word.endswith("key")
    }),
)  # fmt: skip


def _has_secret_key(squashed: str) -> bool:
    """Whether a text has ``apikey`` or the like, not only ``orderkey``."""
    parts = squashed.split("key")
    return any(part.endswith(_BEFORE_KEY) for part in parts[:-1]) or any(
        word in squashed for word in _WITH_KEY
    )


# A key and a long word: tacacs_key: 8Hs…
_KEYED: Final = re.compile(
    r"(?i)[\w\-. ]key[\w\-]{0,12}[\"'`\]\\]{0,4}[\s=:>,]{1,12}[\"'`\\]{0,4}[\w+/\-!#^&~]{10}"
)
_WITH_KEY: Final = tuple(
    word
    for word in (*SECRET_FRAGMENTS, *SECRET_ENDINGS)
    if "key" in word and not word.endswith("key")
)
_NO_PUNCTUATION: Final = {**dict.fromkeys(map(ord, "._- ")), **_ALIKE}

# --- values --------------------------------------------------------------------------------------

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
    r"|[xX]{4,64}|\((?i:none|null|empty|unset|hidden|redacted|masked)\)|\(\[[^\]\s]{1,64}\][+*?{][^\s)]{0,64}\)|projects/\S{1,128}/secrets/\S{1,256}|%|[(\[]{1,2}[?^.\\]\S{0,256}"
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
    """The same for a value in a sentence, where ``a=b``, ``a/b`` and ``sha256`` are none."""
    return is_strong(value) and _OF_A_PATH.isdisjoint(value) and not _ALGORITHM.search(value)


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
    r"|[A-Z][a-z]{2,32}[_\-]?[0-9]{4,8}"
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
