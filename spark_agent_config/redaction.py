"""Masks secrets before a document leaves the driver. Pure.

The rules are Spark's own (``spark.redaction.regex``) plus what URLs carry: a password in the
user-info part, and parameters whose names say that they are secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

MASK: Final = "*****"
_HIDDEN_WORDS: Final = (
    r"(?:[\w.-]*(?:secret|password|passwd|pwd|token|credential|access[._-]?key|apikey|"
    r"signature|sasl[._-]?jaas)[\w.-]*)"
)
_HIDDEN_NAME: Final = re.compile(_HIDDEN_WORDS, re.IGNORECASE)
# jdbc:postgresql://reader:pa/ss@host/db => jdbc:postgresql://reader:*****@host/db
_USER_INFO: Final = re.compile(r"(?<=//)([^/@\s:;?&]*):[^@\s;?&]*@")
# …;password=abc;… and …?password=abc&… => …password=*****…
_PARAMETER: Final = re.compile(
    rf"(?P<lead>[?&;,]\s*{_HIDDEN_WORDS}=)(?P<value>[^&;,\s]*)", re.IGNORECASE
)
# jdbc:oracle:thin:scott/tiger@host => jdbc:oracle:thin:scott/*****@host
_ORACLE: Final = re.compile(r"(?<=jdbc:oracle:)(\w+:[^/@\s]*)/[^@\s]*@", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether an option of this name holds something that must not be shown."""
    return _HIDDEN_NAME.search(name) is not None


def mask_text(text: str) -> str:
    """The text with passwords in URLs replaced; everything else stays as it is."""
    masked = _USER_INFO.sub(rf"\1:{MASK}@", text)
    masked = _PARAMETER.sub(rf"\g<lead>{MASK}", masked)
    return _ORACLE.sub(rf"\1/{MASK}@", masked)


def mask_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options with secret ones masked whole, and URLs inside the others cleaned."""
    return {name: MASK if is_secret(name) else mask_text(value) for name, value in options.items()}
