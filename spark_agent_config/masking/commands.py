"""Passwords on command lines whose options do not name them: ``mysql -px``, ``curl -u me:x``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class _Command:
    """Options whose value is a password, by how they stand.

    ``attached``: ``-px``; ``apart``: ``-p x``; ``logins``: ``-u me:x``; ``words``: they divide a
    login that is no option (``scott/tiger@db``).
    """

    attached: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    words: str = ""


_MYSQL: Final = _Command(attached=("-p",))
_MONGO: Final = _Command(attached=("-p",), apart=("-p",))
_SQLPLUS: Final = _Command(words="/")
_SQLCMD: Final = _Command(attached=("-P",), apart=("-P",))
_COMMANDS: Final[Mapping[str, _Command]] = {
    "mysql": _MYSQL, "mysqldump": _MYSQL, "mysqladmin": _MYSQL, "mysqlimport": _MYSQL,
    "mariadb": _MYSQL, "mariadb-dump": _MYSQL, "mycli": _MYSQL,
    "mongo": _MONGO, "mongosh": _MONGO, "mongodump": _MONGO, "mongorestore": _MONGO,
    "mongoexport": _MONGO, "mongoimport": _MONGO,
    "sshpass": _MONGO, "login": _MONGO,
    "curl": _Command(logins=("-u", "--user", "-U", "--proxy-user")),
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
    "smbclient": _Command(logins=("-U", "--user")),
}  # fmt: skip
_TELLING: Final = tuple(
    sorted(name for name in _COMMANDS if not any(o in name for o in _COMMANDS if o != name))
)
"""Parts of the commands' names, of which each has one."""
_WORD: Final = re.compile(r"\n|\S+")
_ENDS: Final = frozenset({"\n", "|", ";", "&&", "||"})
_QUOTES: Final = "\"'`"


def is_command(word: object) -> bool:
    """Whether a word is the name or the path of a command of the table."""
    return isinstance(word, str) and word.rpartition("/")[2] in _COMMANDS


def commands(text: str) -> Iterator[tuple[int, int]]:
    """Where passwords stand behind the commands of the table."""
    if " -" not in text and "/" not in text:
        return
    if not any(name in text for name in _TELLING):
        return
    command: _Command | None = None
    before = ""
    for found in _WORD.finditer(text):
        word = found.group()
        if word in _ENDS:
            command, before = None, ""
            continue
        known = _COMMANDS.get(word.strip(_QUOTES).rpartition("/")[2]) if len(word) < 256 else None
        if command is not None:
            start = _password(command, before, word)
            if 0 < start < len(word) or (start == 0 and not word.startswith("-")):
                yield _unquoted(word, found.start() + start, found.end())
        command, before = known or command, word


def _password(command: _Command, before: str, word: str) -> int:
    """Where the password of a word begins; -1: it has none."""
    if before in command.apart:
        return 0
    if before in command.logins:
        return word.find(":") + 1 or -1
    for option in command.attached:
        if word.startswith(option) and not word.startswith("--"):
            return len(option) + (word[len(option) : len(option) + 1] in ("'", '"'))
    for option in command.logins:
        if word.startswith(option) and not option.startswith("--"):
            return word.find(":") + 1 or -1
    if command.words and not word.startswith(("-", "/")) and "@" in word:
        return word.find(command.words) + 1 or -1
    return -1


def _unquoted(word: str, start: int, end: int) -> tuple[int, int]:
    first = end - len(word)
    if start == first and word[0] in _QUOTES:
        start += 1
    while end > start + 1 and word[end - first - 1] in _QUOTES + ",;)":
        end -= 1
    return start, end
