"""Secrets that their place alone shows: in statements, calls and blocks that do not name them.

    CREATE USER u IDENTIFIED BY 'x'      CONNECT TO d USER u USING x      .LOGON h/u,x
    HTTPBasicAuth("svc", "x")            EXEC sp_addlogin 'u', 'x'        aes_decrypt(c, 'x')
    machine h login u password x         kind: Secret … data: …           PRAGMA key = 'x'

Linear: every pattern has bounded repetitions behind a word of its own, and the arguments of a call
are read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spark_agent_config.masking.names import is_secret_key
from spark_agent_config.masking.values import (
    is_mixed,
    is_name,
    is_numbered,
    is_reference,
    is_strong,
)

_QUOTED: Final = r"[NbBrRuU]?(?:'(?P<single>[^'\n]{1,512})'|\"(?P<double>[^\"\n]{1,512})\")"
_VALUE: Final = rf"(?:{_QUOTED}|(?P<bare>[^\s;,)\"']{{1,256}}))"
# In the patterns a blank stands for blanks, ~ for blanks or none, and capitals for these:
_NOTATION: Final = (
    (" ", r"\s{1,16}"),
    ("~", r"\s{0,8}"),
    ("REST", r"[^\n]{0,256}?"),
    ("WORD", r"\S{1,128}"),
    ("BARE", r"(?P<bare>\S{1,256})"),
    ("VALUE", _VALUE),
    ("QUOTED", _QUOTED),
)


def _statement(pattern: str) -> re.Pattern[str]:
    for sign, meaning in _NOTATION:
        pattern = pattern.replace(sign, meaning)
    return re.compile(f"(?i){pattern}")


# A word that each text has, and the pattern: the value is in one of three groups.
_FORMS: Final = (
    ("using", r"\bconnect to WORD user WORD using VALUE"),
    ("logon", r"\blogon [^\s,]{1,256},~VALUE"),
    (
        "conn ",
        r"(?:\A|\n|;)~conn [\w$#.]{1,128}/(?P<bare>[^\s;\"'/]{1,256}?)(?=@[^\s@]{1,256}(?:\s"
        r"|;|\Z)|\s|;|\Z)",
    ),
    (
        "connect ",
        r"(?:\A|\n|;)~connect [\w$#.]{1,128}/(?P<bare>[^\s;\"'/]{1,256}?)(?=@[^\s@]{1,256}"
        r"(?:\s|;|\Z)|\s|;|\Z)",
    ),
    ("pragma", r"\bpragma (?:\w{1,64}\.)?(?:hex)?(?:re)?key~[=(]~QUOTED"),
    ("attach", r"\battach\b[^;]{1,512}?\skey QUOTED"),
    ("sp_", r"\bsp_(?:add(?:login|remotelogin|approle)|setapprole) [N@]?[^\s,]{1,128}~,~QUOTED"),
    ("sp_addlinked", r"\bsp_addlinkedsrvlogin (?:[^\s,@=]{1,128}~,~){4}QUOTED"),
    ("sp_password", r"\bsp_password [^\s,]{1,128}~,~QUOTED"),
    ("sp_password", r"\bsp_password QUOTED"),
    # a netrc file
    ("login", r"\blogin WORD\s{1,64}(?:account WORD\s{1,64})?password BARE"),
    # redis.conf
    ("requirepass", r"\brequirepass VALUE"),
    ("masterauth", r"\bmasterauth VALUE"),
    # a login with a password in quotes, told to a person
    (
        "with ",
        r"\bwith (?:the )?(?:password|passphrase|token|secret|api[\x20_-]?key) "
        r"(?P<q>['\"`])(?P<single>[^'\"`\n]{1,256})(?P=q)",
    ),
    # commands whose secret is a word at its place
    (
        "from-literal",
        r"--from-literal[=\x20\t]{1,4}[\"']?[\w.\-]{1,128}=(?:QUOTED|"
        r"(?P<bare>[^\s\"']{1,256}))",
    ),
    ("pass:", r"-pass(?:in|out|word)?[\x20\t]{1,4}[\"']?pass:(?P<bare>[^\s\"']{1,256})"),
    ("login", r"\b(?:vault|cargo|pulumi|railway) login (?:token=)?(?!-)BARE"),
    ("obscure", r"\brclone obscure VALUE"),
    ("airflow users", r"\bairflow users create\bREST\s-p VALUE"),
    *(
        (command, rf"\b{command} WORD (?![\-/])VALUE")
        for command in ("add_user", "change_password", "set-single-user-credentials")
    ),
    ("api-key store", r"\bapi-key store WORD VALUE"),
    ("create-alias", r"\bcreate-alias\bREST\s-{1,2}value[=\x20]VALUE"),
    # JAAS: the users of a broker
    ("loginmodule", r"\buser_\w{1,64}~=~QUOTED(?=[\s;])"),
    (
        "--parameter",
        r"--parameter[=\x20]\w{0,64}(?:key|token|secret|password|pwd)\w{0,32}:\w{0,16}:BARE",
    ),
    ("password $$", r"\bpassword \$\$(?P<bare>[^$\n]{1,256})\$\$"),
    ("password/", r"\bhttps?://[^\s?#]{1,256}?\bpassword/(?P<bare>[\w\-]{16,256})"),
    ("connect(", r"\bconnect\(~[bru]?[\"'][\w$#.]{1,64}/(?P<bare>[^\s\"'/@]{1,256})@"),
    # CloudFormation and charts: the name is the parameter's
    (
        "default:",
        r"\b\w{0,64}(?:password|secret|token|api_?key)\w{0,32}[\"']?:[\x20\t]{0,8}\n"
        r"(?:[\x20\t]{1,16}\w{1,32}:[^\n]{0,128}\n){0,6}?[\x20\t]{1,16}default:[\x20\t]{1,8}VALUE",
    ),
    ("setapikey", r"\bsetapikey VALUE"),
    (
        "passwd -",
        r"\b\w{1,32}passwd -\w{0,8}b\w{0,8}(?: WORD){1,2} BARE[\x20\t]{0,8}(?:\n|\Z|[|;&])",
    ),
    ("secret", r"\bcreate (?:or replace )?(?:temporary |persistent )?secret \S{1,128} as QUOTED"),
    *(
        (
            f"{command} ",
            rf"\b{command}\b[^\n]{{0,64}}?\s-{{1,2}}(?:t|token)[=\x20](?=\S{{0,64}}[0-9!#%])"
            r"(?P<bare>[^\s\-/~.\"'$]\S{7,255})",
        )
        for command in ("auth", "login")
    ),
    ("/user:", r"\bnet use\bREST/user:WORD (?P<bare>[^\s/]\S{0,255})"),
    ("/user:", r"\bnet use\bREST\\WORD (?P<bare>[^\s/]\S{0,255}) /user:"),
    ("lftp", r"\blftp\b[^\n]{0,128}?-u~[^\s,]{1,128},BARE"),
    (
        "echo",
        r"\becho (?:-n )?VALUE~\|[^|\n]{0,128}(?:stdin|secret|--with-token|passw|kinit\b"
        r"|\bkv put|sudo\b[^\n|]{0,64}-\w{0,8}S)",
    ),
    (
        "printf",
        r"\bprintf (?:[\"']?%s(?:\\n)?[\"']? )?VALUE~\|[^|\n]{0,128}"
        r"(?:stdin|secret|--with-token|passw|kinit\b|\bkv put|sudo\b[^\n|]{0,64}-\w{0,8}S)",
    ),
    (
        "<(",
        r"(?:secret|passw\w{0,8}|stdin|token)[^\n<]{0,64}<\(~(?:echo|printf)\b"
        r"(?:[^\n)'\"]{0,32}QUOTED| (?P<bare>[^\s)'\"]{1,256}))~\)",
    ),
    (
        "printf",
        r"\bprintf [\"'][^\"'\n]{0,128}(?:passw\w{0,8}|secret|token)=%s[^\"'\n]{0,64}[\"'] VALUE",
    ),
    # a user and a password on the line of any command; -p 8080 is a port
    *(
        (
            f" -{option}",
            r"\s-{1,2}(?:u|un|user|username|l|login)[=\x20][^\s\-]\S{0,63}\s(?:[^\n]{0,64}?\s)?"
            rf"-{option}\w{{0,2}}[=\x20](?=\S{{0,64}}[0-9!#%])(?![\d:.]{{1,64}}(?:\s|\Z))"
            r"(?P<bare>[^\s\-/~.\"'$]\S{5,255})",
        )
        for option in "pw"
    ),
    # -U domain/user%x of the tools of Windows' shares
    (" -u", r"\s-u[=\x20]?[\"']?[\w.@/\\\-]{1,64}%(?P<bare>[^\s\"'/%]{4,128})"),
    # Invalid credentials: svc / x1y2z3
    (
        "credentials",
        r"\bcredentials?[\x20:]{1,4}[\w.@\-]{1,64}~[/:]~(?=\S{0,64}[0-9!#])(?P<bare>[^\s/,;:]{6,128})",
    ),
    (
        " --user",
        r"\s--user(?:name)?[=\x20][\w.@\-]{1,64}:(?=\S{0,64}[0-9!#%])(?![\d:.]{1,64}(?:\s|\Z))"
        r"(?P<bare>[^\s\-/~.\"'$:]\S{7,255})",
    ),
    (
        "sed -",
        r"\bsed\b[^\n]{0,64}?s(?P<d>[/|#,])[^\n/|#,]{0,128}(?P=d)[^\n/|#,]{0,64}?"
        r"(?:passw\w{0,16}|secret|token|pwd|key)~[=:]~[\"']?(?P<bare>[^\n/|#,\"']{4,128})(?P=d)",
    ),
    ("fs.azure.", r"fs\.azure\.(?:account\.key|sas)[^\"'\n]{0,128}[\"']~,~QUOTED"),
    # a connect identifier of Oracle: scott/tiger@h:1521/x
    (
        "@",
        r"(?<![\w/:.\-])[\w$#]{1,64}/(?P<bare>[^\s/@\"']{4,128})@(?://)?[\w.\-]{1,128}:[0-9]{2,5}[/:]\w",
    ),
    *(
        (
            "changed from",
            r"(?:passw\w{1,8}|secret|token|pwd|api_?key) (?:was )?changed from "
            rf"{before}(?=[\"']|\S{{0,64}}[0-9!#])VALUE",
        )
        for before in ("", "WORD to ")
    ),
    # what a prompt for a password is answered with
    ("send", r"passw\w{0,8}[^\n]{0,128}?\bsend(?:line)?[(\x20]~(?:-- )?QUOTED"),
    (
        "input_value=",
        r"(?:passw\w{0,16}|secret|token|key|pwd)\w{0,32}\n[^\n]{0,160}?\binput_value=QUOTED",
    ),
    # any tool's login with a digest
    *(
        (
            f"{command} ",
            rf"\b[a-z][\w\-]{{1,32}} {command} "
            r"(?P<bare>(?=[0-9\-]{0,16}[a-f])[0-9a-f\-]{32,64})\b",
        )
        for command in ("login", "auth", "activate")
    ),
    ("createcredential", r"-createCredential(?: WORD){2} VALUE"),
    ("setuser", r"\bacl setuser WORD[^\n]{0,64}?\x20>BARE"),
    ("userid", r"\buserid~=~[\"']?[\w$#.]{1,64}/(?P<bare>[^\s\"'/@]{1,256})"),
    (
        "declare",
        r"\bdeclare @\w{0,64}?(?:pwd|passw\w{1,8}|secret|token|key)\w{0,32} \w{1,32}"
        r"(?:\([^()\n]{1,16}\))?~=~QUOTED",
    ),
    ("encrypt_string", r"\bencrypt_string (?!-)VALUE"),
    ("login(", r"\blogin\([^()\n]{0,128}?\bkey~=~QUOTED"),
    ("addauth", r"\baddauth digest [^\s:]{1,64}:BARE"),
    ("connect(", r"\bconnect\([^()\n]{0,256}?\[~[\"'][^\"'\n]{1,64}[\"']~,~QUOTED~\]"),
    # a login told to a person
    *(
        (
            word,
            r"\b(?:user(?:name)?|login|id)~[/&]~(?:pass(?:word)?|pwd|pw)~[:=]~[\w.@\-]{1,64}~"
            r"[/:,]~(?P<bare>\S{4,128})",
        )
        for word in ("/pass", "/pw", "/ pass")
    ),
    (
        "<<<",
        r"(?:stdin|--with-token|passw\w{0,8}|\bkinit [^\n<]{0,64}|secret[^\n<]{0,64}"
        r"|sudo\b[^\n<]{0,64}-\w{0,8}S|\b(?:luks|login )[^\n<]{0,64})~<<<~VALUE",
    ),
    (
        "chpasswd",
        r"\becho (?:-n )?[\"']?[^\s:\"']{1,64}:(?P<bare>[^\s\"'|]{1,256})[\"']?~\|"
        r"[^|\n]{0,64}chpasswd",
    ),
    ("securestring", r"\bConvertTo-SecureString (?:-String )?(?![$(\-])VALUE"),
    ("securestring", r"QUOTED~\|~ConvertTo-SecureString"),
    ("mc alias", r"\bmc alias set(?: WORD){3} VALUE"),
    ("config host add", r"\bconfig host add(?: WORD){3} VALUE"),
    ("flyv1 ", r"\bflyv1 BARE"),
    ("--uri", r"--uri[=\x20][\"']?[\w.\-]{1,64}:(?P<bare>[^\s:@/\"']{1,128})@"),
    ("::add-mask::", r"::add-mask::BARE"),
    ("crypt", r"\b(?:de|en)crypt\w{0,8} (?:\w{1,16} ){0,4}?(?:key|passphrase) QUOTED"),
    ("auth plain", r"\bauth plain VALUE"),
    (".tochararray", r"QUOTED\.toCharArray"),
    ("http-basic.", r"\bhttp-basic\.WORD WORD VALUE"),
    ("pypi-token.", r"\bpypi-token\.WORD VALUE"),
    ("net user", r"\bnet user WORD (?![/*])VALUE"),
    ("!connect", r"!connect \S{1,512} WORD VALUE"),
    ("logdata", r"\blogdata [^\s@]{1,128}@@VALUE"),
    ("secrets.put", r"\bsecrets\.put\w{0,16}\([^)\n]{0,256}?(?:string_)?value~=~QUOTED"),
    (
        "-value",
        r"\b(?:secret|credential|parameter)s? (?:set|create|put|update|add"
        r"|store)\bREST\s-{1,2}(?:string-|secret-)?value[\x20=]VALUE",
    ),
    ("-data", r"\bsecrets? (?:set|create|put|update|add|store)\bREST\s-{1,2}data[\x20=]VALUE"),
    ("-body", r"\bsecrets? (?:set|create|put|update|add|store)\bREST\s-{1,2}body[\x20=]VALUE"),
    ("securestring", r"\bSecureString\bREST--value[=\x20]VALUE"),
    ("securestring", r"--value[=\x20]VALUEREST\bSecureString\b"),
    ("isql", r"\bisql (?:-v )?[^\s\-]\S{0,127} [^\s\-]\S{0,127} (?P<bare>[^\s\-]\S{0,255})"),
    ("bindpw", r"\bbindpw VALUE"),
    ("replace", r"\bidentified by \S{1,256} replace VALUE"),
    ("digest", r"\bdigest\b[^\n]{0,512}?\bresponse=\\{0,3}\"(?P<bare>[0-9a-f]{16,128})"),
    *(
        (
            call,
            rf"\b{call}\(~(?:bytes\()?b?(?P<q>[\"'])[^\"':\n]{{1,128}}:"
            r"(?P<bare>[^\"'\n]{1,256})(?P=q)",
        )
        for call in ("b64encode", "btoa")
    ),
    ("codes", r"\b(?:recovery|backup|rescue|scratch)[\x20_\-]codes~[:=]~(?=[^\n]{0,64}[0-9])"
     r"(?P<bare>[^\n]{4,256})"),
    *(
        (word, r"(?m)^[\w\x20.\-]{0,32}\bpin(?:[_\-]?code)?~[:=]~(?P<bare>[0-9]{4,8})~$")
        for word in ("pin:", "pin=", "pin =", "pin_code", "pincode", "pin-code")
    ),
    ("/password:", r"(?:\s|\A)/password:VALUE"),
    ("/p:", r"(?:\s|\A)/p:[\w.]{0,64}(?:password|secret|token)=(?P<bare>[^\s\"']{1,256})"),
    # scott/tiger@db, told to a person
    (
        "@",
        r"\b(?:log(?:in|on|ging\x20in)|connect(?:ed|ing|ion)?|userid|as|with)[\x20:=]{1,4}"
        r"(?:to\x20|as\x20|with\x20|user\x20)?\w{1,64}/(?P<bare>[^\s/@\"']{4,128})@"
        r"(?:[\w.:]{1,128}|//)",
    ),
    (
        " key",
        r"\b(?:api|access|secret|private|account|master|signing|encryption)[\x20\-]key"
        r"(?:[\x20](?:provided|used|given|is|was)){0,2}~[:=]?"
        r" [\"'`]?(?=[^\s\"'`]{0,64}[0-9])(?P<bare>[^\s\"'`,;]{8,256})",
    ),
    # a file of passwords of PostgreSQL
    (":54", r"(?m)^[\w.\-*]{1,128}:54[0-9]{2}:[^\s:]{1,64}:[^\s:]{1,64}:BARE$"),
    (":*:", r"(?m)^[\w.\-*]{1,128}:[0-9*]{1,5}:[^\s:]{1,64}:[^\s:]{1,64}:BARE$"),
    # Terraform: the name is the variable's
    (
        "variable",
        r"\bvariable \"[^\"]{0,64}(?:pass|secret|token|key|cred)[^\"]{0,64}\""
        r"~\{[^}]{0,512}?\bdefault\s{0,16}=~QUOTED",
    ),
)  # fmt: skip
# Places where a word that looks like a password is one.
_NAMES: Final = (
    r"(?:\w{0,16}pass(?:word|phrase|code|wd)|pwd|secret|(?:api[\x20_]?|access[\x20_]?)key|token)"
)
_TOLD: Final = (
    # the login of a user, with or without the host
    (
        "@",
        r"(?<![\w/:.@\-])(?!mailto|sip|to:|from|cc|e?mail)[\w.\-]{1,32}[:/](?P<bare>[^\s/:@\"']{6,64})@"
        r"[\w.\-]{1,64}",
    ),
    *(
        (
            word,
            rf"\b{word}\w{{0,10}}\b[^\n]{{0,24}}?[\x20(][\w.@\-]{{1,64}}(?:~[/:,]~|\x20with\x20)"
            r"[\"']?(?P<bare>[^\s\"',;)]{6,64})",
        )
        for word in ("login", "logon", "auth", "connect", "denied", "credential")
    ),
    # x1y2 is the password, "x1y2" for token, x1y2 (password)
    *(
        (
            word,
            r"(?<![^\s\"'])[\"']?(?P<bare>[^\s\"'/:=]{6,64})[\"']?\x20(?:\("
            rf"|is (?:the|your|our) (?:new )?|for (?:the )?|as (?:the |a )?){_NAMES}\b",
        )
        for word in ("is the ", "is your ", "is our ", "for token", "for the token", "as pass",
                     "as the pass", "(pass", "(token", "(secret", "(apikey", "(api_key", "(pwd")
    ),
    # what a prompt answers: >>> token, and the text below
    *(
        (
            prompt,
            r"(?m)^(?:>>>|In \[[0-9]{1,4}\]:|[\w@~\-]{0,16}[$#])~[\w.]{0,32}?"
            rf"{_NAMES}~\n(?:Out\[[0-9]{{1,4}}\]:)?~[\"'](?P<bare>[^\s\"']{{6,64}})[\"']",
        )
        for prompt in (">>>", "in [")
    ),
    # the key of a network, a phrase, a code
    *(
        (
            f"{word} ",
            rf"\b{word} (?:key|code|phrase|pin)(?:\x20is)?[\x20:=]{{1,4}}[\"']?"
            r"(?P<bare>[^\s\"',;]{6,64})",
        )
        for word in ("wifi", "unlock", "recovery", "backup", "license", "activation", "product")
    ),
    ("key phrase", r"\bkey phrase[\x20:=]{1,4}(?P<bare>[^\s\"',;]{6,64})"),
)  # fmt: skip
_TOLD_PLACES: Final = tuple((word, _statement(pattern)) for word, pattern in _TOLD)
_STATEMENTS: Final = tuple((word, _statement(pattern)) for word, pattern in _FORMS)
# CREATE USER u IDENTIFIED BY 'x'; only a statement about users may leave the quotes out.
_IDENTIFIED: Final = re.compile(
    r"(?i)\bidentified\s{1,8}(?:(?:with|using)\s{1,8}[^\s]{1,64}\s{1,8})?(?:by|as)\s{1,8}"
    r"(?:(?:password|values|hash)\s{1,8})?(?:(?P<quote>[\"'])|(?P<bare>[^\s;,)\"']{1,256}))"
)
_OF_USERS: Final = re.compile(r"(?i)\b(?:user|role|grant|link|login|keystore|encryption key)\b")
_HELD: Final = ("single", "double", "bare")


def may_state(text: str) -> bool:
    """Whether a text has a word of some statement, or a call of the table with a literal."""
    lowered = text.lower()
    for word in _WORDS:
        if word in lowered:
            return True
    return _has_literal(text) and _may_call(lowered)


def _shortest(words: set[str]) -> tuple[str, ...]:
    """The words that contain no other: who has ``loginmodule`` has ``login``."""
    return tuple(sorted(word for word in words if not any(o in word for o in words - {word})))


# The other places of the second table have the name of a secret in them.
_WORDS: Final = _shortest({"identified", "connect", "denied", *(word for word, _ in _STATEMENTS)})


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets stand at their place in statements, calls and blocks."""
    lowered = text.lower()
    for word, pattern in _STATEMENTS:
        if word in lowered:
            for match in pattern.finditer(text):
                groups = match.groupdict()
                yield match.span(next(name for name in _HELD if groups.get(name) is not None))
    for word, pattern in _TOLD_PLACES:
        if word in lowered:
            spans = (match.span("bare") for match in pattern.finditer(text))
            yield from (span for span in spans if is_mixed(text[slice(*span)].rstrip(".!")))
    if "identified" in lowered:
        yield from _identified(text)
    if _has_literal(text):
        yield from _calls(text, lowered)
    if "secret" in lowered and "data" in lowered:
        yield from _manifests(text)
    if " as " in lowered:
        yield from _pairs_of_a_row(text)
    if "value" in lowered and ("name" in lowered or "key" in lowered):
        yield from _values_before_names(text)


def _identified(text: str) -> Iterator[tuple[int, int]]:
    users = _OF_USERS.search(text)
    start = users.start() if users else 0
    for match in _IDENTIFIED.finditer(text, start):
        if match["bare"]:
            if users or is_mixed(match["bare"]):
                yield match.span("bare")
        elif users or match["quote"] == "'" or match.start() == 0:
            end = text.find(match["quote"], match.end())
            yield match.end(), end if end >= 0 else len(text)


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
    "jwt.encode": _LAST_OF_TWO, "jwt.decode": _LAST_OF_TWO, "pbkdf2_hmac": _LAST_OF_TWO,
    "pymysql.connect": _Call(2, 3), "mysqldb.connect": _Call(2, 3), "mariadb.connect": _Call(2, 3),
    "cx_oracle.connect": _LAST_OF_TWO, "oracledb.connect": _LAST_OF_TWO,
    "dbapi.connect": _Call(3, 4), "pgp_sym_encrypt": _LAST_OF_TWO, "pgp_sym_decrypt": _LAST_OF_TWO,
    "aes_encrypt": _LAST_OF_TWO, "aes_decrypt": _LAST_OF_TWO, "try_aes_decrypt": _LAST_OF_TWO,
    "des_encrypt": _LAST_OF_TWO, "des_decrypt": _LAST_OF_TWO, "encode_password": _FIRST,
    "encryptbypassphrase": _FIRST, "decryptbypassphrase": _FIRST, "decrypt_raw": _LAST_OF_TWO,
    "decrypt": _LAST_OF_TWO, "encrypt": _LAST_OF_TWO, "hmac": _LAST_OF_TWO,
    "mysql": _Call(-1, 4), "postgresql": _Call(4, 5), "remote": _Call(-1, 4),
    "remotesecure": _Call(-1, 5), "mongodb": _Call(4, 5), "s3": _Call(2, 3), "gcs": _Call(2, 3),
    "s3cluster": _Call(3, 4), "hudi": _Call(2, 3), "deltalake": _Call(2, 3), "iceberg": _Call(2, 3),
    "openrowset": _Call(3, 5), "azureblobstorage": _Call(4, 5),
}  # fmt: skip
_LAST_PART: Final = re.compile(r"\.|->")
_CIPHER: Final = "crypt"
_CALL: Final = re.compile(r"(?<!\w)((?:[A-Za-z_]\w{0,63}(?:\.|->))?[A-Za-z_]\w{0,63})\s{0,4}\(")
# Read backwards, a call begins with its parenthesis, and other words cost nothing.
_CALLED: Final = re.compile(r"\( {0,4}(\w{1,40})")
_CALLED_NAMES: Final = frozenset(_LAST_PART.split(name)[-1][::-1] for name in _CALLS)
_MOST_CALLS: Final = 1_000
"""Of one text: one with more is masked as a whole, as one with more secrets is."""
_LONGEST_CALL: Final = 1_024
_ARGUMENT: Final = re.compile(
    r"\s{0,64}(?:\w{1,64}\s{0,2}=\s{0,2})?(?P<called>(?:\w{1,64}\(\s{0,4}){1,4})?"
    r"[NbBrRuUfF]?(?P<quote>'''|\"\"\"|['\"])"
)
_STRING_OR_SIGN: Final = re.compile(r"['\"(){}\[\],;]")


def _calls(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    if "auth" in lowered or "cred" in lowered or "login" in lowered:
        yield from (match.span("secret") for match in _TUPLE.finditer(text))
    if not _may_call(lowered):
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
        held = list(arguments(text, match.end()))
        if call.least <= len(held):
            span = literal(text, *held[call.place])
            if span and not (looks_like_a_login and not _is_password(text[slice(*span)])):
                done = held[-1][1]
                yield span


def _has_literal(text: str) -> bool:
    """Whether an argument of a call begins with a quote."""
    return "(" in text and _LITERAL.search(text) is not None


_LITERAL: Final = re.compile(r"[\"'](?<=[(,\s=bBrRuUfFN][\"'])")


def _may_call(lowered: str) -> bool:
    if _CIPHER in lowered:
        return True
    called = _CALLED.findall(lowered[::-1])
    return not _CALLED_NAMES.isdisjoint(called) or any(map(_OF_LOGINS.search, called))


# auth, connect, login, logon, cred, passw, userpass, bind, read backwards: LdapBind("cn=a", "x1y2")
_OF_LOGINS: Final = re.compile(r"htua|tcennoc|nigol|nogol|derc|wssap|ssapresu|dnib")


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


def arguments(text: str, start: int) -> Iterator[tuple[int, int]]:
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


def literal(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The inside of an argument that begins with a text in quotes: ``'x'``, ``sha2('x1', 256)``."""
    opening = _ARGUMENT.match(text, start, end)
    if opening is None:
        return None
    first = opening.end()
    close = text.find(opening["quote"], first, end)
    if close <= first or (opening["called"] and not _is_password(text[first:close])):
        return None
    return first, close


# --- blocks --------------------------------------------------------------------------------------

_SECRET_KIND: Final = re.compile(r"(?m)^[ \t]{0,16}kind:[ \t]{0,8}[\"']?Secret[\"']?[ \t]{0,8}$")
_DATA: Final = re.compile(r"(?m)^([ \t]{0,16})(?:data|stringData):[ \t]{0,8}$")
_ENTRY: Final = re.compile(
    r"\n([ \t]{1,32})[\"']?[\w.\-]{1,128}[\"']?:[ \t]{1,8}[\"']?([^\s\"'][^\n\"']{0,4096})"
)


def _manifests(text: str) -> Iterator[tuple[int, int]]:
    """The values of a Kubernetes Secret, whatever they are called."""
    if _SECRET_KIND.search(text) is None:
        return
    for data in _DATA.finditer(text):
        place = data.end()
        while (entry := _ENTRY.match(text, place)) and len(entry[1]) > len(data[1]):
            yield entry.span(2)
            end = text.find("\n", entry.end())
            place = end if end >= 0 else len(text)


# <value>x</value><name>db.password</name>   value: x\n  name: DB_PASSWORD   "value": "x", "name": …
_VALUE_FIRST: Final = re.compile(
    r"(?i)<value>(?P<xml>[^<]{1,512})</value>\s{0,64}<(?:name|key)>(?P<of_xml>[^<]{1,256})</"
    r"|\bvalue\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}(?:[\"'](?P<quoted>[^\"'\\\n]{1,512})\\{0,3}[\"']"
    r"|(?P<bare>[^\s\"',]{1,512}))\s{0,64}(?:,|\bwhere\b)?\s{0,64}\\{0,3}[\"']?(?:name|key)\\{0,3}[\"']?\s{0,4}[:=]"
    r"\s{0,4}\\{0,3}[\"']?(?P<name>[\w.\-]{1,256})"
)


# SELECT 'db.password' AS k, 'x' AS v
_PAIR_OF_A_ROW: Final = re.compile(
    r"(?i)'(?P<name>[\w.\-]{1,128})'\s{1,4}as\s{1,4}[\w\"`]{1,64}\s{0,4},\s{0,64}'(?P<value>[^'\n]{1,512})'"
)


def _pairs_of_a_row(text: str) -> Iterator[tuple[int, int]]:
    for match in _PAIR_OF_A_ROW.finditer(text):
        if is_secret_key(match["name"]):
            yield match.span("value")


def _values_before_names(text: str) -> Iterator[tuple[int, int]]:
    for match in _VALUE_FIRST.finditer(text):
        if is_secret_key(match["of_xml"] or match["name"]):
            held = ("xml", "quoted", "bare")
            yield match.span(next(name for name in held if match[name] is not None))
