"""Secrets that their place alone shows: in statements, blocks and on command lines.

    CREATE USER u IDENTIFIED BY 'x'      CONNECT TO d USER u USING x      .LOGON h/u,x
    EXEC sp_addlogin 'u', 'x'            kind: Secret … data: …           PRAGMA key = 'x'
    machine h login u password x         mysql -px                        curl -u me:x

Linear: every pattern has bounded repetitions behind a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from spark_agent_config.masking.expressions import calls, may_call
from spark_agent_config.masking.names import (
    QUALIFIERS,
    is_key_of_service,
    is_mixed,
    is_name,
    is_of_login,
    is_secret_key,
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


# What leaves a name that of a secret: secret_key, token_v2, passwordBytes, but not token_type.
_TAIL: Final = (
    rf"(?:_?(?:access|key|bytes|buffer|buf|salt|{'|'.join(QUALIFIERS)}|v?[0-9]{{1,4}})){{0,3}}"
)
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
    ("auth-pass", r"\bsentinel auth-pass WORD VALUE"),
    (
        "user ",
        r"\b(?:create|alter|modify) user WORD (?:\w{1,16} ){0,3}?password "
        r"(?=[^\s;]{0,64}[0-9])(?P<bare>[^\s;,)\"'=]{4,256})",
    ),
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
    ("rclone config", r"\brclone config \w{6}\bREST\x20(?:pass|secret\w{0,16})[\x20=]VALUE"),
    ("mysqladmin", r"\bmysqladmin\bREST\x20password VALUE"),
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
            r"(?:\A|\s)-{1,2}(?:u|un|user|username|l|login)[=\x20][^\s\-]\S{0,63}\s(?:[^\n]{0,64}?\s)?"
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
    ("send", r"passw\w{0,8}[^\n]{0,128}?(?:\n\s{0,8})?\bsend(?:line)?[(\x20]~(?:-- )?QUOTED"),
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
    ("ftp", r"\bftp\b[^\n]{0,128}\n(?:~open WORD~\n)?~user \S{1,64}\x20{1,4}BARE"),
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
    # a literal that is only spelled anew: secret = Encoding.UTF8.GetBytes("x")
    *(
        (
            f"{call}(",
            rf"(?:secret|passw(?:or[dt]|r?d)|passphrase|pwd|token|(?:api|private|signing)_?key){_TAIL}"
            rf"~:?=~(?:new )?(?:[\w.]{{1,64}}\.)?{call}\(~QUOTED",
        )
        for call in (
            "bytes", "bytearray", "getbytes", "buffer.from", "b64decode", "fromhex",
            "frombase64string", "unhexlify", "stringtobytes", "secretstr", "securestring",
        )
    ),
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
        (word, r"(?m)^[\w\x20.\-]{0,32}\bpin~[:=]~(?P<bare>[0-9]{4,8})~$")
        for word in ("pin:", "pin=", "pin =")
    ),
    *(
        (name, rf"{name}~:~[\"']?(?P<bare>[0-9]{{4,8}})[\"']?(?=[,}}\s]|\Z)")
        for name in ('"pin"', "'pin'")
    ),
    # six digits are a place in India: pin_code=560001
    *(
        (word, rf"(?m)^[\w\x20.\-]{{0,32}}\b{word}~[:=]~(?P<bare>[0-9]{{4,5}}|[0-9]{{7,8}})~$")
        for word in ("pin_code", "pincode", "pin-code")
    ),
    ("mot de passe", r"\bmot de passe~[:=]~[\"']?~(?=\S{0,64}[0-9])BARE"),
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
        for word in ("login", "log in", "logon", "auth", "connect", "denied", "credential")
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
            r"(?m)^(?:\w{0,8}>{1,3}|\(\w{1,8}\)|In \[[0-9]{1,4}\]:|[\w@~\-]{0,16}[$#])"
            r"~(?:p{1,2} )?[\w.]{0,32}?"
            rf"{_NAMES}~\n(?:Out\[[0-9]{{1,4}}\]:)?~[\"'](?P<bare>[^\s\"']{{6,64}})[\"']",
        )
        for prompt in (">>>", "in [", "db> ", "db) ")
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
# ACL SETUSER u on >x >y   user u on >x1y2 ~* >z1y2
_USER_OF_REDIS: Final = re.compile(
    r"(?im)(?:\bacl\s{1,16}setuser|^(?P<line>user)(?=\s{1,16}\S{1,128}[^\n]{0,64}?\x20>))"
    r"\s{1,16}\S{1,128}(?P<rules>\x20[^\n]{1,512})"
)
_PASSWORD_OF_REDIS: Final = re.compile(r"(?<=\x20)>([^\s=>]\S{0,255})")
_SHORTEST_OF_A_LINE: Final = 4
_HELD: Final = ("single", "double", "bare")


def may_state(text: str) -> bool:
    """Whether a text has a word of some statement, or a call of the table with a literal."""
    lowered = text.lower()
    for word in _WORDS:
        if word in lowered:
            return True
    return may_call(text, lowered)


def _shortest(words: set[str]) -> tuple[str, ...]:
    """The words that contain no other: who has ``loginmodule`` has ``login``."""
    return tuple(sorted(word for word in words if not any(o in word for o in words - {word})))


# The other places of the second table have the name of a secret in them.
_WORDS: Final = _shortest(
    {"identified", "connect", "denied", "setuser", "user ", *(word for word, _ in _STATEMENTS)}
)


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
    if ">" in text and "user" in lowered:
        yield from _users_of_redis(text)
    if "identified" in lowered:
        yield from _identified(text)
    yield from calls(text, lowered)
    if "secret" in lowered and "data" in lowered:
        yield from _manifests(text)
    if " as " in lowered:
        yield from _pairs_of_a_row(text)
    if "value" in lowered and ("name" in lowered or "key" in lowered):
        yield from _values_before_names(text)


def _users_of_redis(text: str) -> Iterator[tuple[int, int]]:
    """Every password that a user of Redis is given; on a line of prose a short word is none."""
    for user in _USER_OF_REDIS.finditer(text):
        least = _SHORTEST_OF_A_LINE if user["line"] else 1
        for password in _PASSWORD_OF_REDIS.finditer(text, *user.span("rules")):
            if len(password[1]) >= least:
                yield password.span(1)


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


# --- blocks --------------------------------------------------------------------------------------

_SECRET_KIND: Final = re.compile(r"(?m)^[ \t]{0,16}kind:[ \t]{0,8}[\"']?Secret[\"']?[ \t]{0,8}$")
_DATA: Final = re.compile(
    r"(?m)^([ \t]{0,16})(?:data|stringData):[ \t]{0,8}(?:$|\{(?P<flow>[^{}\n]{1,4096})\})"
)
_ENTRY: Final = re.compile(
    r"\n([ \t]{1,32})[\"']?[\w.\-]{1,128}[\"']?:[ \t]{1,8}[\"']?([^\s\"'][^\n\"']{0,4096})"
)


def _manifests(text: str) -> Iterator[tuple[int, int]]:
    """The values of a Kubernetes Secret, whatever they are called."""
    if _SECRET_KIND.search(text) is None:
        return
    for data in _DATA.finditer(text):
        if data["flow"]:
            yield from (entry.span(2) for entry in _FIELD.finditer(text, *data.span("flow")))
        place = data.end()
        while (entry := _ENTRY.match(text, place)) and len(entry[1]) > len(data[1]):
            yield entry.span(2)
            end = text.find("\n", entry.end())
            place = end if end >= 0 else len(text)


# api:\n  key: x   [api]\nkey = x   api {\n  key = "x"
_KEY_OF_A_SECTION: Final = re.compile(
    r"(?im)^[ \t]{0,32}\[?[\"']?(?P<above>[\w.\-]{1,64})[\"']?"
    r"[ \t]{0,4}(?:\]|[:=]?[ \t]{0,4}\{|:)[ \t]{0,8}\r?\n"
    r"(?:[ \t]{0,32}[\"']?[\w.\-]{1,64}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\S[^\n]{0,200}\n){0,4}?"
    r"[ \t]{0,32}[\"']?key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<value>[^\s\"',}]{1,512})"
)


# output "db" {\n  value = "x"\n  sensitive = true\n}
_SENSITIVE: Final = re.compile(
    r"(?im)^[ \t]{0,32}(?:value|default)[ \t]{0,8}=[ \t]{0,8}"
    r"\"(?P<value>[^\"\n]{1,512})\"[ \t]{0,8}\r?\n"
    r"(?:(?![ \t]{0,32}\})[^\n]{0,200}\n){0,4}?[ \t]{0,32}sensitive[ \t]{0,8}=[ \t]{0,8}true"
)
_KEY_ALONE: Final = re.compile(r"(?i)\n[ \t]{0,32}[\"']?key[\"']?[ \t]{0,4}[:=]")


# {"key": "x"}   {user = u, value = x}: what the braces hold, and the name before them
_HELD_IN_BRACES: Final = re.compile(
    r"(?i)[{,]\s{0,8}\\{0,7}[\"']?(?:key|value|val)\\{0,7}[\"']?\s{0,8}[:=]"
)
_BRACES: Final = re.compile(r"\{([^{}]{1,400})")
_ABOVE_BRACES: Final = re.compile(r"(?<![\w.\-])([\w.\-]{1,64})\\{0,7}[\"']?\s{0,8}[:=]?\s{0,8}\Z")
_FIELD: Final = re.compile(
    r"(?<![\w.\-])([\w.\-]{1,32})\\{0,7}[\"']?\s{0,8}[:=]\s{0,8}\\{0,7}[\"']?([^\s\"'\\,;{}]{1,256})"
)
_PASSWORD_OF_A_LOGIN: Final = frozenset({"value", "val"})
# basic:\n  user: u\n  value: x   [stripe]\nkey = x
_LINES: Final = re.compile(
    r"(?im)^[ \t]{0,32}(?:\[[\w.\-]{0,64}?|- )?(?P<above>[\w\-]{1,64})(?:\]|[ \t]{0,4}:)"
    r"[ \t]{0,8}\r?\n(?=(?P<held>(?:[ \t]{0,32}(?:- )?[\"']?[\w.\-]{1,64}[\"']?[ \t]{0,4}[:=]"
    r"[ \t]{0,4}[^\s{}][^\n{}]{0,200}(?:\n|\Z))"
    r"{1,6}))"
)
# <stripe key="x"/>   <login user="u" value="x"/>
_ELEMENT: Final = re.compile(r"<([\w.\-]{1,64})\s([^<>]{1,400})")
# STRIPE_KEY=x   spark.y.auth.basic.value x
_FLAT_NAME: Final = re.compile(r"[._\-](?:key|KEY|value|VALUE)[\"']?[ \t]{0,8}[=:]")
_FLAT: Final = re.compile(
    r"(?m)(?:^[ \t]{0,32}|(?<=--conf )|(?<=-D)|(?<=-e )|(?<=export )|(?<=set ))[\"']?"
    r"(?P<name>[\w.\-]{4,128})[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?"
    r"(?P<value>[^\s\"',;]{6,256})"
)
_VALUE_ALONE: Final = re.compile(r"(?i)\n[ \t]{0,32}(?:val|value)[ \t]{0,4}[:=]")


def may_have_sections(text: str) -> bool:
    """Whether a line or a block of a text gives a ``key`` or a ``value``, or something is
    sensitive.
    """
    if "{" in text and _HELD_IN_BRACES.search(text) is not None:
        return True
    if "<" in text and (' key="' in text or ' value="' in text):
        return True
    if ("=" in text or ":" in text) and _FLAT_NAME.search(text) is not None:
        return True
    return "\n" in text and (
        _KEY_ALONE.search(text) is not None
        or "sensitive" in text
        or _VALUE_ALONE.search(text) is not None
    )


def sections(text: str) -> Iterator[tuple[int, int]]:
    """What stands under ``key`` in a section that makes a secret's name of it, and the values that
    a section calls sensitive.
    """
    for match in _KEY_OF_A_SECTION.finditer(text):
        value = match["value"]
        if is_secret_key(f"{match['above']}_key") and is_strong(value) and not is_name(value):
            yield match.span("value")
    for match in _SENSITIVE.finditer(text):
        yield match.span("value")
    for block in _BRACES.finditer(text) if "{" in text else ():
        above = _ABOVE_BRACES.search(text, max(0, block.start() - _LOOK_BACK), block.start())
        if above is not None:
            yield from _of_block(text, above[1], block.span(1))
    for element in _ELEMENT.finditer(text) if "<" in text else ():
        yield from _of_block(text, element[1], element.span(2))
    for flat in _FLAT.finditer(text):
        if _is_flat(flat["name"], flat["value"]):
            yield flat.span("value")
    for lines in _LINES.finditer(text) if "\n" in text else ():
        yield from _of_block(text, lines["above"], lines.span("held"))


_LOOK_BACK: Final = 96


def _is_flat(name: str, value: str) -> bool:
    """``STRIPE_KEY=x``, ``x.auth.basic.value=x``: a block's name and its field in one."""
    *above, block, key = ["", "", *name.lower().split(".")]
    if key == "value":
        return "auth" in above and is_of_login(block, ("user",), value)
    service = block if key == "key" else key.removesuffix("key")
    return key.endswith("key") and is_key_of_service(service, value)


def _of_block(text: str, above: str, held: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The key of a service and the password of a login, by the name of the block."""
    name = above.rpartition(".")[2]
    entries = list(_FIELD.finditer(text, *held))
    names = [entry[1] for entry in entries]
    for entry in entries:
        key, value = entry[1].lower(), entry[2]
        if (key == "key" and is_key_of_service(name, value)) or (
            key in _PASSWORD_OF_A_LOGIN and is_of_login(name, names, value)
        ):
            yield entry.span(2)


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


# --- command lines -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Command:
    """Options whose value is a password, by how they stand.

    ``attached``: ``-px``; ``apart``: ``-p x``; ``logins``: ``-u me:x``, by the sign that divides
    them; ``words``: it divides a login that is no option (``scott/tiger@db``).
    """

    attached: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    logins: Mapping[str, str] = field(default_factory=dict)
    words: str = ""


_MYSQL: Final = _Command(attached=("-p",))
_MONGO: Final = _Command(attached=("-p",), apart=("-p",))
_HTTPIE: Final = _Command(logins={"-a": ":", "--auth": ":"})
_SQLPLUS: Final = _Command(words="/")
_SQLCMD: Final = _Command(attached=("-P",), apart=("-P",))
_COMMANDS: Final[Mapping[str, _Command]] = {
    "mysql": _MYSQL, "mysqldump": _MYSQL, "mysqladmin": _MYSQL, "mysqlimport": _MYSQL,
    "mariadb": _MYSQL, "mariadb-dump": _MYSQL, "mycli": _MYSQL,
    "mongo": _MONGO, "mongosh": _MONGO, "mongodump": _MONGO, "mongorestore": _MONGO,
    "mongoexport": _MONGO, "mongoimport": _MONGO,
    "sshpass": _MONGO, "login": _MONGO,
    "curl": _Command(
        logins={
            "-u": ":", "--user": ":", "-U": ":", "--proxy-user": ":", "-E": ":", "--cert": ":",
            "-b": "=", "--cookie": "=",
        }
    ),
    "http": _HTTPIE, "https": _HTTPIE, "xh": _HTTPIE, "lftp": _Command(logins={"-u": ","}),
    "redis-cli": _Command(apart=("-a",)),
    "sqlcmd": _SQLCMD, "bcp": _SQLCMD, "isql": _SQLCMD,
    "sqlplus": _SQLPLUS, "sqlldr": _SQLPLUS, "expdp": _SQLPLUS, "impdp": _SQLPLUS,
    "rman": _SQLPLUS,
    "beeline": _Command(apart=("-p",)), "sqoop": _Command(apart=("-p",)),
    "ldapsearch": _Command(apart=("-w",)), "ldapmodify": _Command(apart=("-w",)),
    "ldapadd": _Command(apart=("-w",)), "openssl": _Command(apart=("-k", "-K", "-passin")),
    "zip": _SQLCMD, "unzip": _SQLCMD, "zipcloak": _SQLCMD, "7z": _MYSQL, "7za": _MYSQL,
    "rar": _MYSQL, "unrar": _MYSQL, "ncftp": _MONGO, "ncftpput": _MONGO, "cqlsh": _MONGO,
    "influx": _MONGO, "hdbsql": _MONGO, "freebcp": _SQLCMD, "tsql": _SQLCMD, "ipmitool": _SQLCMD,
    "plink": _Command(apart=("-pw",)), "pscp": _Command(apart=("-pw",)),
    "nzsql": _Command(apart=("-pw",)),
    "vsql": _Command(apart=("-w",)), "psexec": _MONGO, "exaplus": _MONGO,
    "smbclient": _Command(logins={"-U": "%", "--user": "%"}),
    "rpcclient": _Command(logins={"-U": "%", "--user": "%"}),
    "useradd": _Command(apart=("-p",)), "usermod": _Command(apart=("-p",)),
    "mosquitto_pub": _SQLCMD, "mosquitto_sub": _SQLCMD, "xfreerdp": _Command(attached=("/p:",)),
    "snmpwalk": _Command(apart=("-A", "-X")), "snmpget": _Command(apart=("-A", "-X")),
    "twine": _MONGO, "ssh-keygen": _Command(apart=("-N", "-P")),
    "cmdkey": _Command(attached=("/pass:",)),
    "ldappasswd": _Command(apart=("-w", "-s", "-a")), "schtasks": _Command(apart=("/rp", "/p")),
    "kinit": _Command(apart=("-w",)), "docker-login": _MONGO,
}  # fmt: skip
_WORD: Final = re.compile(r"\n|\S+?(?:(?<=[\"'],)(?=[\"'])|(?!\S))")  # ["mysql","-px"] as well
_ENDS: Final = frozenset({"\n", "|", ";", "&&", "||"})
_OPTION: Final = re.compile(r"-(?<=[\s\"'\[]-)[A-Za-z\-]|/(?<=\s/)[a-z]{1,4}:?")
_COMMAND: Final = re.compile(
    rf"(?<![\w.\-])({'|'.join(sorted(_COMMANDS, reverse=True))})(?:\.exe)?[\"'`]{{0,2}},?"
    r"(?=[\s\"'])"
)
_WITH_LOGINS: Final = tuple(name for name, command in _COMMANDS.items() if command.words)
_QUOTES: Final = "\"'`"
_OPENING: Final = _QUOTES + "["
_AROUND: Final = _OPENING + ",])"
_LAST_NAME: Final = re.compile(r"(?:\A|[\"'`/=\[(])([\w\-]{1,64})(?:\.exe)?[\"'`]{0,2},?\Z")


def is_command(word: object) -> bool:
    """Whether a word is the name or the path of a command of the table."""
    return isinstance(word, str) and word.rpartition("/")[2] in _COMMANDS


def may_run(text: str) -> bool:
    """Whether a text may be a command line of the table."""
    if _OPTION.search(text) is None and not ("/" in text and any(n in text for n in _WITH_LOGINS)):
        return False
    return _COMMAND.search(text) is not None or _PASSWORD_OPTION.search(text) is not None


# Of any command: -p x1y2!, /p:x1y2!
_PASSWORD_OPTION: Final = re.compile(
    r"\s[\-/]{1,2}(?:[pPwWkK]|ap|pw)(?:[:=]|\s)[\"']?(?P<value>[^\s\"'/=:]{8,64})(?![^\s\"'])"
)


def commands(text: str) -> Iterator[tuple[int, int]]:
    """Where passwords stand behind the commands of the table, and behind options of others."""
    for option in _PASSWORD_OPTION.finditer(text):
        if is_mixed(option["value"]):
            yield option.span("value")
    done = 0
    for named in _COMMAND.finditer(text):
        if named.start() < done:
            continue
        command, before = _COMMANDS[named[1]], named[1]
        for match in _WORD.finditer(text, named.end()):
            word, done = match.group(), match.end()
            if word in _ENDS and before != "\\":  # a backslash continues the line
                break
            bare = word.lstrip(_OPENING)
            start = _password(command, before, bare)
            if 0 < start < len(bare) or (start == 0 and bare and not bare.startswith("-")):
                skipped = len(word) - len(bare) if start else 0
                yield _unquoted(word, match.start() + start + skipped, match.end())
            another = _command(word) if len(word) < _LONGEST_NAMED else None
            command, before = another or command, word.strip(_AROUND)


_SWITCH: Final = re.compile(r"-[A-Za-z]")
_BUNDLE: Final = re.compile(r"-[A-Za-z]{2,8}")
_LONGEST_NAMED: Final = 256


def _command(word: str) -> _Command | None:
    """``/usr/bin/mysql``, ``"mysql",`` of a list, ``run(["mysql",``."""
    named = _LAST_NAME.search(word)
    return _COMMANDS.get(named[1]) if named else None


def _password(command: _Command, before: str, word: str) -> int:
    """Where the password of a word begins; -1: it has none."""
    if before in command.apart:
        return 0
    if command.logins and _BUNDLE.fullmatch(before):  # curl -sku me:x
        before = "-" + before[-1]
    if before in command.logins:
        return word.find(command.logins[before]) + 1 or -1
    for option in command.attached:
        if word.startswith(option) and not word.startswith("--"):
            return len(option) + (word[len(option) : len(option) + 1] in ("'", '"'))
    for option, sign in command.logins.items():
        if word.startswith(option) and not option.startswith("--"):
            return word.find(sign) + 1 or -1
    if command.words and not word.startswith(("-", "/")):
        named = word.lower().startswith("userid=")
        switched = _SWITCH.fullmatch(before) is not None  # sqlplus -s u/x
        first = (switched or before.rpartition("/")[2] in _COMMANDS) and "." not in word
        return (word.find(command.words) + 1 or -1) if named or first or "@" in word else -1
    return -1


def _unquoted(word: str, start: int, end: int) -> tuple[int, int]:
    first = end - len(word)
    if start == first and word[0] in _QUOTES:
        start += 1
    while end > start + 1 and word[end - first - 1] in _QUOTES + ",;)]":
        end -= 1
    return start, end
