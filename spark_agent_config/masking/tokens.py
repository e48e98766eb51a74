"""Secrets recognised by their form alone: the tokens that vendors issue, and private keys.

A vendor documents the form: a prefix, an alphabet and a length. The table has a row for each, with
the entropy (bits a character) that its random part has at least where the prefix alone is a weak
sign. The forms are facts of the vendors; decision 143 names where they were read.

A token begins a word. Its first two characters choose the few rows that are compared, so the time
does not grow with the table. A form without a prefix is looked for behind a part of its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple


class _Form(NamedTuple):
    """``prefixes`` are divided by blanks; ``rest`` is what follows one of them."""

    vendor: str
    prefixes: str
    rest: str
    entropy: float = 0.0


_HEX: Final = "[0-9a-fA-F]"
_WORD: Final = r"[\w\-]"
_LETTERS: Final = "[A-Za-z0-9]"
_FORMS: Final = (
    _Form("1Password", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5}){4}"),
    _Form("1Password service account", "ops_eyJ", r"[\w+/\-]{40,}={0,3}"),
    _Form("Adafruit", "aio_", rf"{_LETTERS}{{20,}}"),
    _Form("Adobe", "p8e-", r"[a-zA-Z0-9]{32}"),
    _Form("age", "AGE-SECRET-KEY-1", r"[0-9A-Z]{20,}"),
    _Form("Aiven", "AVNS_", rf"{_WORD}{{16,}}"),
    _Form("Airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _Form("Alibaba", "LTAI", r"[A-Za-z0-9]{12,24}(?!\w)"),
    # An access key id, and the secret where it stands right behind.
    _Form(
        "Amazon",
        "AKIA ASIA ABIA ACCA AROA AIDA ANPA AGPA A3T",
        r"[A-Z0-9]{15,17}(?![A-Za-z0-9])(?:[^A-Za-z0-9\n]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9+]))?",
    ),
    _Form("Amazon Bedrock", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    _Form("Amazon MWS", "amzn.mws.", r"[0-9a-f\-]{36}"),
    _Form("Amazon session", "FwoGZXIvYXdzE IQoJb3JpZ2lu", r"[A-Za-z0-9+/=%]{40,}"),
    _Form("Anthropic, OpenAI", "sk-", r"(?:(?:proj|ant|svcacct|admin|or|lf)-[\w\-]{16,})"),
    _Form("OpenAI, DeepSeek", "sk-", r"[A-Za-z0-9]{32,}", 3.0),
    _Form("Artifactory", "AKCp cmVmd", rf"{_LETTERS}{{20,}}", 3.0),
    _Form("Asana", "1/", r"[0-9]{16}:[0-9a-f]{32}"),
    _Form("Atlassian", "ATATT3 ATCTT3 ATBB ATOA", r"[\w\-=]{20,}"),
    _Form("Authress", "sc_ ext_ scauth_ authress_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[\w.\-+/=]{30,}"),
    _Form("Azure DevOps", "AZDO", rf"{_LETTERS}{{40,}}"),
    _Form("Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _Form("Buildkite", "bkua_ bkat_ bkaj_", r"[0-9a-zA-Z]{20,}"),
    _Form("CircleCI", "CCIPAT_ CCIPRJ_", rf"{_LETTERS}{{16,}}_[0-9a-f]{{40}}"),
    _Form("ClickHouse Cloud", "4b1d", r"[A-Za-z0-9]{38}(?!\w)", 3.0),
    _Form("Clojars", "CLOJARS_", r"[A-Za-z0-9]{40,}"),
    _Form("Cloudflare", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{40,}"),
    _Form("Cloudflare", "cfut_ cfat_ cfk_", rf"{_WORD}{{30,}}"),
    _Form("Confluent", "cflt", r"[A-Za-z0-9+/]{50,}"),
    _Form("Contentful", "CFPAT-", rf"{_WORD}{{40,}}"),
    _Form("Cargo", "cio", r"[A-Za-z0-9]{32}(?!\w)", 3.0),
    _Form("Databricks", "dapi dose dkea dsap", r"[0-9a-f]{32}(?:-[0-9]{1,2})?"),
    _Form("Datadog", "ddapp_ ddpat_ ddsat_", rf"{_WORD}{{20,}}"),
    _Form("dbt Cloud", "dbtc_ dbtu_ dbts_", r"[\w\-]{20,}"),
    _Form("Defined Networking", "dnkey-", r"[\w\-=]{26,}"),
    _Form("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    # The id of a bot in base64: it is a number.
    _Form(
        "Discord",
        "MT MD MJ MK MH Mz Nj Nz ND NT OD OT Mj",
        r"[\w\-]{16,26}\.[\w\-]{6}\.[\w\-]{27,40}(?![\w\-.])",
    ),
    _Form("Docker Hub", "dckr_pat_ dckr_oat_", r"[\w\-]{20,}"),
    _Form("Doppler", "dp.pt. dp.ct. dp.st. dp.sa. dp.scim. dp.audit.", r"[\w.\-]{30,}"),
    _Form("Dropbox", "sl.", r"[\w\-=]{100,}"),
    _Form("Duffel", "duffel_test_ duffel_live_", r"[\w\-=]{30,}"),
    _Form("Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{40,}"),
    _Form("EasyPost", "EZAK EZTK", rf"{_LETTERS}{{54}}"),
    _Form("Elastic", "essu_ esau_", rf"{_WORD}{{30,}}"),
    _Form("Facebook", "EAA", r"[A-Za-z0-9]{60,}"),
    _Form("Figma", "figd_ figo_ figu_ figdr_ figoh_ figor_", rf"{_WORD}{{30,}}"),
    _Form("Flutterwave", "FLWSECK_TEST- FLWSECK-", r"[A-Za-z0-9]{12,}(?:-X)?"),
    _Form("Fly.io", "fo1_ fm1a_ fm1r_ fm2_", r"[\w+/\-]{40,}={0,3}"),
    _Form("Frame.io", "fio-u-", r"[\w\-=]{40,}"),
    _Form("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    _Form("GitHub", "github_pat_", r"\w{20,}"),
    _Form(
        "GitLab",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glwt- glagent- glsoat- glffct- gloas-",
        r"[\w\-]{16,}(?:\.[\w\-.]*)?",
    ),
    _Form("GitLab", "GR1348941", rf"{_WORD}{{16,}}"),
    _Form("GoCardless", "live_ sandbox_", r"[\w\-=]{40}(?!\w)", 3.5),
    _Form("Google", "AIza", r"[\w\-]{30,}"),
    _Form("Google", "ya29.", r"[\w\-.]{20,}"),
    _Form("Google", "GOCSPX-", r"[\w\-]{20,}"),
    _Form("Google", "1//0", r"[\w\-]{30,}", 3.0),
    _Form("Google HMAC", "GOOG1E GOOG", r"[A-Z0-9]{20,61}(?!\w)"),
    _Form("Grafana", "glsa_", r"\w{32,}"),
    _Form("Grafana", "glc_", r"[A-Za-z0-9+/=]{32,}"),
    _Form("Groq", "gsk_", rf"{_LETTERS}{{40,}}"),
    _Form("Harness", "pat. sat.", r"[\w\-]{20,}\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{16,}"),
    _Form("HashiCorp Vault", "hvs. hvb. hvr.", r"[\w\-]{20,}"),
    _Form("HashiCorp Vault", "s. b.", r"[A-Za-z0-9]{24}(?!\w)", 3.5),
    _Form("Heroku", "HRKU-", r"[\w\-]{36,}"),
    _Form("HubSpot", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", r"[0-9a-fA-F\-]{36}"),
    _Form("Hugging Face", "hf_ api_org_", rf"{_LETTERS}{{30,}}"),
    _Form("Infracost", "ico-", r"[A-Za-z0-9]{32}(?!\w)"),
    _Form("JWT, JWE", "eyJ", r"[\w\-]{8,}\.[\w\-]{2,}(?:\.[\w\-]*){0,4}"),
    _Form("JWT in base64, Grafana", "ZXlK eyJrIjoi", r"[A-Za-z0-9+/]{60,}={0,3}"),
    _Form("LangSmith", "lsv2_pt_ lsv2_sk_ ls__", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    _Form("LaunchDarkly", "sdk- mob- api-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _Form("Linear", "lin_api_ lin_oauth_", rf"{_LETTERS}{{30,}}"),
    _Form("Lob, Recurly", "live_ test_", r"[0-9a-f]{35}(?!\w)"),
    _Form("Mailgun", "key- pubkey-", r"[0-9a-f]{32}(?!\w)", 2.5),
    _Form("Mapbox", "sk. pk. tk.", r"eyJ[\w\-]{30,}\.[\w\-]{20,}"),
    _Form("MongoDB Atlas", "mdb_sa_sk_", rf"{_WORD}{{20,}}"),
    _Form("Neon", "napi_", r"[a-z0-9]{40,}"),
    _Form("Netlify", "nfp_ nfc_ nfo_ nfu_", rf"{_WORD}{{30,}}"),
    _Form("New Relic", "NRAK- NRII- NRIQ- NRRA- NRSP- NRJS-", r"[A-Za-z0-9\-]{19,}"),
    _Form("Notion", "ntn_ secret_", r"[A-Za-z0-9]{40,}", 3.0),
    _Form("npm", "npm_", rf"{_LETTERS}{{30,}}"),
    _Form("NuGet", "oy2", r"[a-z0-9]{43}(?!\w)", 3.0),
    _Form("NVIDIA", "nvapi-", rf"{_WORD}{{40,}}"),
    _Form("Octopus Deploy", "API-", r"[A-Z0-9]{25,32}(?!\w)", 3.0),
    _Form("Okta", "00", r"[\w\-]{40}(?![\w\-])", 4.0),
    _Form("OpenShift", "sha256~", r"[\w\-]{40,}"),
    _Form("Perplexity", "pplx-", rf"{_LETTERS}{{40,}}"),
    _Form("Pinecone", "pcsk_", r"\w{40,}"),
    _Form("PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.\-]{20,}"),
    _Form("Plaid", "access-sandbox- access-development- access-production-", r"[0-9a-f\-]{36}"),
    _Form("PostHog", "phx_ phc_ phs_ pha_", rf"{_LETTERS}{{30,}}"),
    _Form("Postman", "PMAK-", r"[0-9a-f\-]{40,}"),
    _Form("Prefect", "pnu_ pnb_", rf"{_LETTERS}{{36}}"),
    _Form("Pulumi", "pul-", r"[0-9a-f]{40}"),
    _Form("PyPI", "pypi-", r"[\w\-]{16,}"),
    _Form("Razorpay", "rzp_live_ rzp_test_", rf"{_LETTERS}{{14,}}"),
    _Form("ReadMe", "rdme_", r"[a-z0-9]{40,}"),
    _Form("Replicate", "r8_", rf"{_LETTERS}{{30,}}"),
    _Form("RubyGems", "rubygems_", r"[0-9a-f]{40,}"),
    _Form("Scalingo", "tk-us-", r"[\w\-]{40,}"),
    _Form("Segment", "sgp_", r"[A-Za-z0-9_]{40,}"),
    _Form("SendGrid", "SG.", r"[\w\-]{16,}\.[\w\-]{16,}"),
    _Form("Sentry", "sntrys_ sntryu_ sntrya_ sntryi_", r"[\w+/=]{40,}"),
    _Form("SettleMint", "sm_aat_ sm_pat_ sm_sat_", rf"{_LETTERS}{{16,}}"),
    _Form("Shippo", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    _Form("Shopify", "shpat_ shpca_ shppa_ shpss_ shpua_ shptka_", rf"{_HEX}{{32}}"),
    _Form("Slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.", r"[\w\-.%]{10,}"),
    _Form("Slack", "xapp-", r"[\w\-]{10,}"),
    _Form("Snyk", "snyk_uat. snyk_sat.", r"[\w.\-]{20,}"),
    _Form("SonarQube", "squ_ sqp_ sqa_", r"[0-9a-z]{40}"),
    _Form("Square", "EAAA", r"[\w\-]{22,}", 3.0),
    _Form("Square", "sq0atp- sq0csp- sq0idp- sq0icp-", r"[\w\-]{20,}"),
    _Form("Stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", rf"{_LETTERS}{{10,}}"),
    _Form("Stripe, Svix", "whsec_", r"[A-Za-z0-9+/=]{16,}"),
    _Form("Supabase", "sbp_ sb_secret_ sb_publishable_", rf"{_WORD}{{20,}}"),
    _Form("Tailscale", "tskey-", r"[A-Za-z0-9\-]{20,}"),
    _Form("Tencent", "AKID", r"[A-Za-z0-9]{32,}"),
    _Form("Twilio", "SK", r"[0-9a-f]{32}(?!\w)"),
    _Form("Twitter", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}"),
    _Form("Typeform", "tfp_", r"[\w\-.=]{40,}"),
    _Form("Vercel", "vcp_ vci_ vca_ vcr_ vck_", rf"{_WORD}{{20,}}"),
    _Form("Weights and Biases", "wandb_v1_", r"\w{30,}"),
    _Form("xAI", "xai-", rf"{_LETTERS}{{40,}}"),
    _Form("Yandex", "AQVN YCAJ YCP", rf"{_WORD}{{30,}}"),
    _Form("Yandex", "t1.", r"[\w\-]{10,}={0,2}\.[\w\-]{60,}={0,2}"),
    _Form("Zapier, Shortcut", "sct_", rf"{_WORD}{{30,}}"),
)  # fmt: skip


class _Marked(NamedTuple):
    """A form without a prefix: ``mark`` stands in it, ``form`` is the whole, or its first group."""

    vendor: str
    mark: str
    form: str


_MARKED: Final = (
    _Marked("Azure client secret", "Q~", r"(?<![\w~.\-])[\w~.\-]{3}[0-9]Q~[\w~.\-]{30,40}"),
    # Microsoft's own mark in the keys of storage, batch, Cosmos, functions, search …
    *(
        _Marked("Azure", mark, rf"(?<![\w+/]){_LETTERS}[\w+/]{{20,80}}{re.escape(mark)}[\w+/]{{4,8}}={{0,2}}")
        for mark in ("JQQJ99", "+ASt", "+ABa", "ACDb", "AzFu", "AzSe", "+ACR", "AIoT", "+ARm",
                     "AzCa", "+AEh", "+ASb", "APIM", "AZEG")
    ),
    _Marked("Telegram", ":AA", r"(?<![\w])[0-9]{8,10}:AA[\w\-]{30,35}(?![\w\-])"),
    _Marked("Facebook", "|", r"(?<![\w])[0-9]{15,16}\|[\w\-]{27,40}(?![\w\-])"),
    _Marked("Terraform Cloud", ".atlasv1.", r"(?<![\w])[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{40,}"),
    _Marked("MaxMind", "_mmk", r"(?<![\w])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),
    _Marked("Mailchimp", "-us", r"(?<![\w\-])[0-9a-f]{32}-us[0-9]{1,2}(?![\w\-])"),
    _Marked("Dropbox", "AAAAAAAAAA", r"(?<![\w])[a-z0-9]{11}AAAAAAAAAA[a-z0-9\-_=]{43}"),
    # The path of a web hook is its secret.
    _Marked("Slack", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{1,16}/([\w/\-]{16,})"),
    _Marked("Microsoft Teams", ".webhook.office.com/", r"\.webhook\.office\.com/(\w+/[\w/@\-]{36,})"),
    _Marked("Power Automate", "/triggers/", r"/triggers/[\w/]{1,64}\?[^\s\"']{0,200}sig=([\w\-%]{20,})"),
    _Marked("Discord", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[\w\-]{20,})"),
    _Marked("Google Chat", "chat.googleapis.com/", r"chat\.googleapis\.com/v1/spaces/[^\s?\"']{1,64}\?([^\s\"']{20,})"),
    _Marked("Zapier", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/(?:catch/)?([\w/]{8,})"),
)  # fmt: skip
_MARKED_FORMS: Final = tuple((one.mark, re.compile(one.form)) for one in _MARKED)

# No token is without a run of characters, and few texts have one. It begins with the prefix, or
# the prefix ends right before it: SG.…, hvs.…, sha256~…
_RUN: Final = re.compile(r"[\w\-]{16,}")
_BEFORE_RUN: Final = 40
_LONGEST_PREFIX: Final = 24
# Behind an escape of a URL a token begins, too: %3Dghp_ => three blanks in its place
_ESCAPE: Final = re.compile(r"%[0-9A-F]{2}")


def _alternatives(words: Iterable[str]) -> str:
    """A pattern of any of these words that looks at each letter once: ``gh(?:o_|p_)``."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    if "" in tails:
        return ""
    parts = [re.escape(first) + _alternatives(rest) for first, rest in sorted(tails.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


_PREFIX: Final = re.compile(
    r"(?<![\w\-])" + _alternatives(prefix for form in _FORMS for prefix in form.prefixes.split())
)
_MARK: Final = re.compile(_alternatives(one.mark for one in _MARKED))
# Headers without their names
_BEARER: Final = re.compile(r"\bBearer ([\w.~+/=\-]{16,})")
_BASIC: Final = re.compile(r"\bBasic ([A-Za-z0-9+/]{12,}={0,2})")


def _by_start() -> Mapping[str, tuple[tuple[re.Pattern[str], float], ...]]:
    """The first two characters of a token => the forms that begin with them."""
    found: dict[str, list[tuple[re.Pattern[str], float]]] = {}
    for form in _FORMS:
        starts: dict[str, list[str]] = {}
        for prefix in form.prefixes.split():
            starts.setdefault(prefix[:2], []).append(re.escape(prefix))
        for start, prefixes in starts.items():
            pattern = re.compile(rf"(?:{'|'.join(prefixes)})({form.rest})")
            found.setdefault(start, []).append((pattern, form.entropy))
    return {start: tuple(forms) for start, forms in found.items()}


_BY_START: Final = _by_start()


def may_hold_token(text: str) -> bool:
    """Whether a text has the prefix or a part of a token, beside a run that is long enough."""
    if "Basic " in text or "Bearer " in text:
        return True
    if _RUN.search(text) is None:
        return False
    return next(_prefixes(text), None) is not None or _has_mark(text)


def _prefixes(text: str) -> Iterator[re.Match[str]]:
    if "%" in text:
        text = _ESCAPE.sub("   ", text)
    for run in _RUN.finditer(text):
        start = run.start()
        yield from _PREFIX.finditer(text, max(0, start - _BEFORE_RUN), start + _LONGEST_PREFIX)


def _has_mark(text: str) -> bool:
    return _MARK.search(text) is not None


def tokens(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets of a known form stand."""
    if "Bearer " in text:
        yield from (found.span(1) for found in _BEARER.finditer(text))
    if "Basic " in text:
        yield from (found.span(1) for found in _BASIC.finditer(text) if _is_encoded(found[1]))
    yield from _private_keys(text)
    if _RUN.search(text) is None:
        return
    done = 0
    for found in _prefixes(text):
        if found.start() >= done:
            for pattern, entropy in _BY_START[found.group()[:2]]:
                token = pattern.match(text, found.start())
                if token is not None and (not entropy or entropy_of(token[1]) >= entropy):
                    done = token.end()
                    yield token.start(), done
                    break
    if not _has_mark(text):
        return
    for mark, pattern in _MARKED_FORMS:
        if mark in text:
            yield from (one.span(one.lastindex or 0) for one in pattern.finditer(text))


def entropy_of(text: str) -> float:
    """Shannon's entropy in bits a character: 0 for ``aaaa``, 4 for 16 different characters."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())


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
    if "PRIVATE KEY" in text:
        yield from _armoured(text)
    if "Private-Lines" in text:
        yield from (found.span(1) for found in _PUTTY.finditer(text))
    if '"kty' in text:
        yield from (found.span(1) for found in _WEB_KEY.finditer(text))
    if "<RSAKeyValue" in text:
        yield from (found.span(1) for found in _XML_KEY.finditer(text))


_HEADING: Final = re.compile(r"----[- ]BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,8})-{1,5}")
_ENDING: Final = re.compile(r"----[- ]END")


def _armoured(text: str) -> Iterator[tuple[int, int]]:
    found = _HEADING.search(text)
    while found:
        ending = _ENDING.search(text, found.end())
        end = ending.start() if ending else len(text)
        yield found.end(), end
        found = _HEADING.search(text, end)
