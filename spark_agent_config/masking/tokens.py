"""Secrets recognised by their form alone.

Their issuers document the forms: a prefix, an alphabet and a length. Each alternative begins with a
text of its own at the start of a word, and its repeated part cannot begin another one: a search is
linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_FORMS: Final = (
    # Amazon: an access key id, and the secret where it stands right behind.
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"(?:[^A-Za-z0-9\n]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9+]))?",
    r"eyJ[\w\-]{8,}\.[\w\-]{2,}(?:\.[\w\-]*){0,4}",  # JWT, JWE
    # GitHub, GitLab
    r"gh[pousr]_[A-Za-z0-9]{20,}", r"github_pat_\w{20,}",
    r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|imt|wt|agent|soat|ffct|oas)-[\w\-]{16,}(?:\.[\w\-.]*)?",
    # Slack
    r"xox[a-z]-[\w\-]{10,}", r"xapp-[\w\-]{10,}",
    # Google: API key, OAuth token, client secret
    r"AIza[\w\-]{30,}", r"ya29\.[\w\-.]{20,}", r"GOCSPX-[\w\-]{20,}",
    # Databricks, Stripe and its web hooks
    r"dapi[0-9a-f]{32}(?:-[0-9]{1,2})?", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    # npm, PyPI, RubyGems, Docker Hub, Hugging Face
    r"npm_[A-Za-z0-9]{30,}", r"pypi-[\w\-]{16,}", r"rubygems_[0-9a-f]{40,}",
    r"dckr_[a-z]{3}_[\w\-]{20,}", r"hf_[A-Za-z0-9]{30,}",
    # SendGrid, Mailgun, Twilio, OpenAI, Anthropic
    r"SG\.[\w\-]{16,}\.[\w\-]{16,}", r"key-[0-9a-f]{32}(?!\w)", r"SK[0-9a-f]{32}(?!\w)",
    r"sk-(?:(?:proj|ant|svcacct|admin)-[\w\-]{16,}|[A-Za-z0-9]{32,})",
    # Vault, Shopify, DigitalOcean, Grafana, New Relic, Atlassian, Linear, Pulumi, Square
    r"hv[sbr]\.[\w\-]{20,}", r"shp[a-z]{2}_[0-9a-fA-F]{32}", r"do[opr]_v1_[0-9a-f]{40,}",
    r"glsa_\w{32,}", r"glc_[A-Za-z0-9+/=]{32,}", r"NRAK-[A-Z0-9]{20,}", r"AT[AC]TT3[\w\-=]{20,}",
    r"lin_api_[A-Za-z0-9]{30,}", r"pul-[0-9a-f]{40}", r"sq0[a-z]{3}-[\w\-]{20,}",
    # age, Artifactory, dbt Cloud, Postman
    r"AGE-SECRET-KEY-1[0-9A-Z]{20,}", r"AKCp[A-Za-z0-9]{10,}", r"dbt[cu]_[\w\-]{20,}",
    r"PMAK-[0-9a-f\-]{40,}",
    # Azure's client secrets
    r"[\w~.\-]{3}[0-9]Q~[\w~.\-]{30,40}",
    # A header without its name
    r"Bearer [\w.~+/=\-]{16,}",
)  # fmt: skip
_TOKEN: Final = re.compile(rf"(?<![\w\-])(?:{'|'.join(_FORMS)})")
_BASIC: Final = re.compile(r"\bBasic ([A-Za-z0-9+/]{16,}={0,2})")
# The path of a web hook is its secret.
_HOOK: Final = re.compile(r"hooks\.slack\.com/[a-z]{1,16}/([\w/\-]{16,})")

MARKS: Final = (
    r"J(?<=eyJ)|I(?<=A[KSB]I)A|C(?<=AC)CA|K(?<=AK)Cp|K(?<=SK)[0-9a-f]{8}|z(?<=AIz)a|X(?<=GOCSPX)-"
    r"|T(?<=AT[AC]T)T3|p(?<=dap)i|Q(?<=[0-9]Q)~|B(?=asic |earer )"
    r"|\.(?:(?<=ya29\.)|(?<=SG\.)|(?<=hv[sbr]\.)|(?<=hooks\.)slack\.com/)"
    r"|_(?:(?<=gh[pousr]_)|(?<=glsa_)|(?<=glc_)|(?<=[sr]k_)|(?<=npm_)|(?<=hf_)|(?<=shp[a-z]{2}_)"
    r"|(?<=github_)|(?<=whsec_)|(?<=rubygems_)|(?<=dckr_)|(?<=do[opr]_)|(?<=lin_)|(?<=dbt[cu]_))"
    r"|-(?:(?<=sk-)|(?<=gl[a-z]{2}-)|(?<=gl[a-z]{3}-)|(?<=gl[a-z]{4}-)|(?<=glagent-)|(?<=xox[a-z]-)"
    r"|(?<=xapp-)|(?<=pypi-)|(?<=key-)|(?<=NRAK-)|(?<=pul-)|(?<=sq0[a-z]{3}-)|(?<=AGE-)|(?<=PMAK-)"
    r"|----BEGIN)"
)
"""Parts that every form has, seen from a rare letter: to look for them costs little."""
_MARK: Final = re.compile(MARKS)


def tokens(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets of a known form stand."""
    if _MARK.search(text) is None:
        return
    for found in _TOKEN.finditer(text):
        start = found.start() + len("Bearer ") * found.group().startswith("Bearer ")
        yield start, found.end()
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    if "Basic " in text:
        yield from (found.span(1) for found in _BASIC.finditer(text) if _is_encoded(found[1]))
    if "hooks.slack.com" in text:
        yield from (found.span(1) for found in _HOOK.finditer(text))


def _is_encoded(word: str) -> bool:
    """Whether a word is base64 rather than one of a language."""
    return word.endswith("=") or any(map(str.isdigit, word))


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """``-----BEGIN … PRIVATE KEY-----`` to its end; to the end of the text where it was cut."""
    begin = text.find("-----BEGIN ")
    while begin >= 0:
        start = begin + len("-----BEGIN ")
        heading = text[start : start + _LONGEST_HEADING].partition("-----")[0]
        if "PRIVATE KEY" in heading:
            start += len(heading) + len("-----")
            end = text.find("-----END", start)
            yield min(start, len(text)), end if end >= 0 else len(text)
            start = end if end >= 0 else len(text)
        begin = text.find("-----BEGIN ", start)


_LONGEST_HEADING: Final = 64
