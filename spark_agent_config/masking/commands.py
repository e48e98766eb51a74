"""Passwords on command lines whose options do not name them: ``mysql -px``, ``curl -u me:x``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from spark_agent_config.masking.values import is_mixed


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
_WORD: Final = re.compile(r"\n|\S+")
_ENDS: Final = frozenset({"\n", "|", ";", "&&", "||"})
_OPTION: Final = re.compile(r"-(?<=[\s\"'\[]-)[A-Za-z\-]|/(?<=\s/)[a-z]{1,4}:?")
_COMMAND: Final = re.compile(
    rf"(?<![\w.\-])({'|'.join(sorted(_COMMANDS, reverse=True))})(?:\.exe)?[\"'`]{{0,2}},?(?=\s)"
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
            if word in _ENDS:
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
