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
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import ne
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
    _Form(
        "Authress",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[\w.\-+/=]{30,}",
    ),
    _Form("Azure DevOps", "AZDO", rf"{_LETTERS}{{40,}}"),
    _Form("Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _Form("Buildkite", "bkua_ bkat_ bkaj_", r"[0-9a-zA-Z]{20,}"),
    _Form("CircleCI", "CCIPAT_ CCIPRJ_", rf"{_LETTERS}{{16,}}_[0-9a-z]{{40}}"),
    _Form("ClickHouse Cloud", "4b1d", r"[A-Za-z0-9]{38}(?!\w)", 3.0),
    _Form("Clojars", "CLOJARS_", r"[A-Za-z0-9]{40,}"),
    _Form("Cloudflare", "v1.0-", r"[0-9a-f]{24,64}-[0-9a-f]{40,}"),
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
    _Form("Elastic", "essu_ esau_", rf"{_WORD}{{30,}}={{0,2}}"),
    _Form("Facebook", "EAA", r"[A-Za-z0-9]{60,}"),
    _Form("Figma", "figd_ figo_ figu_ figdr_ figoh_ figor_", rf"{_WORD}{{30,}}"),
    _Form("Flutterwave", "FLWSECK_TEST- FLWSECK-", r"[A-Za-z0-9]{12,}(?:-X)?"),
    _Form("Fly.io", "fo1_ fm1a_ fm1r_ fm2_", r"[\w+/\-]{40,}={0,3}"),
    _Form("Frame.io", "fio-u-", r"[\w\-=]{40,}"),
    _Form("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    _Form("GitHub", "github_pat_", r"\w{20,}"),
    _Form(
        "GitLab",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glwt- glagent- glsoat- glffct-"
        " gloas-",
        r"[\w\-]{16,}(?:\.[\w\-.]*)?",
    ),
    _Form("GitLab", "GR1348941", rf"{_WORD}{{16,}}"),
    _Form("GoCardless, Column", "live_ sandbox_", r"[\w\-=]{40}(?!\w)", 3.5),
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
    _Form("JWT, JWE", "eyJ", r"[\w\-]{8,}\.[\w\-]{0,}(?:\.[\w\-]{0,}){1,4}"),
    _Form("JWT in base64, Grafana", "ZXlK eyJrIjoi", r"[A-Za-z0-9+/]{60,}={0,3}"),
    _Form("LangSmith", "lsv2_pt_ lsv2_sk_ ls__", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    _Form("LaunchDarkly", "sdk- mob- api-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _Form("Linear", "lin_api_ lin_oauth_", rf"{_LETTERS}{{30,}}"),
    _Form("Lob, Recurly", "live_ test_", r"[0-9a-f]{35}(?!\w)"),
    _Form("Mailgun", "key- pubkey-", r"[0-9a-f]{32}(?!\w)", 2.5),
    _Form("Mapbox", "sk. pk. tk.", r"eyJ[\w\-]{30,}\.[\w\-]{20,}"),
    _Form("MongoDB Atlas", "mdb_sa_sk_", rf"{_WORD}{{20,}}"),
    _Form("Neon", "napi_", r"[a-z0-9]{40,}"),
    _Form("Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", rf"{_WORD}{{30,}}"),
    _Form("New Relic", "NRAK- NRII- NRIQ- NRRA- NRSP- NRJS-", r"[\w\-]{19,}"),
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
    _Form("PostHog", "phx_ phc_ phs_ pha_ phr_", r"\w{30,}"),
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
    _Form("xAI", "xai-", r"\w{40,}"),
    _Form("Yandex", "AQVN YCAJ YCP", rf"{_WORD}{{30,}}"),
    _Form("Yandex", "t1.", r"[\w\-]{10,}={0,2}\.[\w\-]{60,}={0,2}"),
    _Form("Zapier, Shortcut", "sct_", rf"{_WORD}{{30,}}"),
    _Form("AI21, Fireworks", "fw_ fpk_", rf"{_LETTERS}{{22,}}", 3.5),
    _Form("Aikido", "AIK_ AIK_RUNTIME_", r"\w{32,}"),
    _Form("Amazon login", "amzn1.oa2-cs.v1.", r"[0-9a-f]{64}"),
    _Form("Apify", "apify_api_ apify_proxy_", rf"{_LETTERS}{{30,}}"),
    _Form("AppSmith, Axiom", "xaat- xapt-", r"[0-9a-f\-]{36}"),
    _Form("Beamer", "b_", r"[\w\-=]{44}(?![\w\-])", 3.5),
    _Form("Buildkite packages", "bkpt_ bkpi_", rf"{_LETTERS}{{30,}}"),
    _Form("Canva", "cnvca", rf"{_WORD}{{40,}}", 3.5),
    _Form("Cerebras", "csk-", r"[a-z0-9]{40,}"),
    _Form("Checkly", "cu_", r"[0-9a-zA-Z]{32}(?!\w)"),
    _Form("ClickUp", "pk_", r"[0-9]{5,9}_[A-Z0-9]{32}"),
    _Form("crypt, bcrypt, Argon2", "$2a$ $2b$ $2y$", r"[0-9]{2}\$[./A-Za-z0-9]{53}"),
    _Form(
        "crypt",
        "$1$ $5$ $6$ $y$ $7$ $apr1$",
        r"(?:rounds=[0-9]{1,9}\$)?[./\w]{1,32}\$[./\w]{22,}",
    ),
    _Form("Argon2, scrypt", "$argon2id$ $argon2i$ $argon2d$ $scrypt$", r"[\w=,$+/.\-]{24,}"),
    _Form("Deno", "ddp_ ddo_ ddw_", rf"{_LETTERS}{{30,}}"),
    _Form("Dependency-Track", "odt_", r"\w{32,}"),
    _Form("Depot", "depot_project_ depot_org_ depot_user_", rf"{_LETTERS}{{32,}}"),
    _Form("Dropbox", "sl.u.", rf"{_WORD}{{60,}}"),
    _Form("E2B, Browserbase", "e2b_ bb_live_ bb_test_", rf"{_LETTERS}{{20,}}", 3.0),
    _Form("ElevenLabs", "sk_", r"[0-9a-f]{48}(?!\w)"),
    _Form("Endor Labs", "endr+", rf"{_WORD}{{16,}}"),
    _Form("Firecrawl", "fc-", r"[0-9a-f]{32}(?![\w\-])"),
    _Form("Flexport", "shltm_", rf"{_WORD}{{30,}}"),
    _Form("Fleetbase, Pagar.me", "flb_live_ flb_test_ ak_live_ ak_test_", rf"{_LETTERS}{{20,}}"),
    _Form("Google Firebase", "AAAA", r"[\w\-]{7}:APA91b[\w\-]{100,}"),
    _Form("Honeycomb", "hcaik_ hcbik_ hcxik_ hcalk_ hcamk_", r"[a-z0-9]{40,}"),
    _Form("Inngest", "signkey-prod- signkey-test- signkey-branch-", r"[0-9a-f]{32,}"),
    _Form("Instagram", "IGQV", rf"{_WORD}{{60,}}"),
    _Form("Ionic", "ion_", r"[A-Za-z0-9]{42}(?!\w)", 3.5),
    _Form("JetBrains", "perm: perm-", r"[\w\-=]{8,}\.[\w\-=]{2,}\.[\w\-=]{20,}"),
    _Form("Jina, Mixedbread", "jina_ emb_ mxb_", rf"{_LETTERS}{{30,}}"),
    _Form("LinkedIn", "WPL_AP0. WPL_AP1.", r"\w{8,}\.[\w+/]{6,}={0,2}"),
    _Form("LlamaCloud", "llx-", rf"{_LETTERS}{{40,}}"),
    _Form("Mandrill", "md-", r"[\w\-]{22}(?![\w\-])", 3.5),
    _Form("Mercury, Column", "secret-token:", r"[\w\-./+=%]{16,}"),
    _Form("NVIDIA NGC", "nvapi-stg- nvapi-", rf"{_WORD}{{40,}}"),
    _Form("Open VSX", "ovsxp_ ovsxat_", r"[\w\-]{30,}"),
    _Form("Packagist", "packagist_", r"[a-z]{3}_[0-9a-f]{60,}"),
    _Form("Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", r"\w{26,}"),
    _Form("PagerDuty", "pdus+ pdeu+", r"[\w\-+]{20,}"),
    _Form(
        "PASETO",
        "v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.",
        r"[\w\-]{40,}(?:\.[\w\-]+)?",
    ),
    _Form("PayPal", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _Form("Polar", "polar_oat_ polar_pat_ polar_whs_ polar_cst_", rf"{_WORD}{{30,}}"),
    _Form("Postman collection", "PMAT-", r"[0-9A-Z]{26}"),
    _Form("PubNub", "sec-c-", r"[A-Za-z0-9]{40,}={0,2}"),
    _Form("Render", "rnd_", r"[A-Za-z0-9]{24,}", 3.0),
    _Form("Resend", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _Form("Rootly, Sourcegraph", "rootly_ slk_", r"[0-9a-f]{64}"),
    _Form("RunPod", "rpa_", r"[A-Z0-9]{32,}[a-z0-9]{0,}"),
    _Form("Salesforce", "00D", r"[A-Za-z0-9]{12,15}![\w.]{60,}"),
    _Form("SAP, Contentstack", "cs", r"[0-9a-f]{40}(?!\w)"),
    _Form("Scrapfly", "scp-live- scp-test-", r"[0-9a-f]{32}"),
    _Form("Socket", "sktsec_", r"\w{30,}"),
    _Form("StackHawk", "hawk.", r"[\w\-]{20}\.[\w\-]{20}"),
    _Form("Tavily", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9\-]{24,}"),
    _Form("Teamwork", "tkn.v1_", rf"{_WORD}{{40,}}"),
    _Form("Thunderstore", "tss_", rf"{_LETTERS}{{28,}}"),
    _Form("Together", "tgp_v1_", rf"{_WORD}{{40,}}"),
    _Form("Trigger.dev", "tr_dev_ tr_prod_ tr_stg_ tr_pat_ tr_preview_", rf"{_LETTERS}{{18,}}"),
    _Form("Ubidots", "BBFF- BBUS-", r"[A-Za-z0-9]{30}"),
    _Form("Voiceflow", "VF.DM. VF.WS. VF.", r"[0-9a-f]{24}\.[A-Za-z0-9]{16}"),
    _Form("Voyage", "pa- al-", r"[\w\-]{43}(?![\w\-])", 4.0),
    _Form("Weaviate, Xata, Zuplo", "xau_ zpka_", r"\w{30,}"),
    _Form("Yandex", "y0_", rf"{_WORD}{{40,}}"),
    _Form("Zendesk, DigitalOcean", "s-s4t2ud- u-s4t2ud-", r"[0-9a-f]{64}"),
    _Form("Zoho", "1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}"),
    # a private key in base64: -----BEGIN PRIV…, RSA …, EC …, OPENSSH …, ENCRYPTED …, DSA …
    _Form(
        "PEM in base64",
        "LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQy"
        " LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS LS0tLS1CRUdJTiBEU0Eg",
        r"[A-Za-z0-9+/]{20,}={0,2}",
    ),
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
        _Marked(
            "Azure",
            mark,
            rf"(?<![\w+/]){_LETTERS}[\w+/]{{20,80}}{re.escape(mark)}[\w+/]{{4,8}}={{0,2}}",
        )
        for mark in ("JQQJ99", "+ASt", "+ABa", "ACDb", "AzFu", "AzSe", "+ACR", "AIoT", "+ARm",
                     "AzCa", "+AEh", "+ASb", "APIM", "AZEG")
    ),
    _Marked("Telegram", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w\-]{30,35}(?![\w\-])"),
    _Marked("Facebook", "|", r"(?<![\w])[0-9]{15,16}\|[\w\-]{27,40}(?![\w\-])"),
    _Marked("Terraform Cloud", ".atlasv1.", r"(?<![\w])[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{40,}"),
    _Marked("MaxMind", "_mmk", r"(?<![\w])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),
    _Marked("Mailchimp", "-us", r"(?<![\w\-])[0-9a-f]{32}-us[0-9]{1,2}(?![\w\-])"),
    _Marked("Dropbox", "AAAAAAAAAA", r"(?<![\w])[a-z0-9]{11}AAAAAAAAAA[a-z0-9\-_=]{43}"),
    # The path of a web hook is its secret.
    _Marked("Slack", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{1,16}/([\w/\-]{16,})"),
    _Marked("Azure DevOps", "AZDO", r"(?<![\w])[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}(?!\w)"),
    _Marked("OpenAI", "T3BlbkFJ", r"(?<![\w\-])[\w\-]{16,}T3BlbkFJ[\w\-]{16,}"),
    _Marked("Adyen", "AQE", r"(?<![\w+/=])AQE[\w+/=]{30,}-[^\s\"']{16,}"),
    # 64 bytes, as accounts of storage and databases have; behind sha512- it is a digest
    _Marked("Azure account", "==", r"(?<![\w+/\-])[A-Za-z0-9+/]{86}==(?![\w=])"),
    _Marked(
        "Microsoft Teams",
        "/IncomingWebhook/",
        r"/(\w+[\w/@\-]{36,}/IncomingWebhook/[\w/\-]{16,})",
    ),
    _Marked(
        "Microsoft Teams",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/(\w+/[\w/@\-]{36,})",
    ),
    _Marked(
        "Power Automate",
        "/triggers/",
        r"/triggers/[\w/]{1,64}\?[^\s\"']{0,400}sig=([\w\-%]{20,})",
    ),
    _Marked(
        "Discord",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[\w\-]{20,})",
    ),
    _Marked(
        "Google Chat",
        "chat.googleapis.com/",
        r"chat\.googleapis\.com/v1/spaces/[^\s?\"']{1,64}\?([^\s\"']{20,})",
    ),
    _Marked("Zapier", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/(?:catch/)?([\w/]{8,})"),
)  # fmt: skip
_MARKED_FORMS: Final = tuple((one.mark, re.compile(one.form)) for one in _MARKED)

# No token is without a run of characters, and few texts have one. It begins with the prefix, or
# the prefix ends right before it: SG.…, hvs.…, sha256~…
_RUN: Final = re.compile(r"(?<![\w\-])[\w\-]{16,}")
# An id, as nearly every node and run has one.
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BEFORE_RUN: Final = 40
_BEHIND_START: Final = 8  # v1.0-…: the run begins with the prefix's own end
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


_HEADS: Final = ("Basic ", "Bearer ", '"kty', "Private-", "<RSAKey")
"""Of secrets that are found without a run of their own."""


def may_hold_token(text: str) -> bool:
    """Whether a text has the prefix or a part of a token, beside a run that is long enough."""
    for head in _HEADS:
        if head in text:
            return True
    if _RUN.search(text) is None or (len(text) == 36 and _UUID.fullmatch(text)):
        return False
    return _has_mark(text) or next(_of_runs(text), None) is not None


def _of_runs(text: str) -> Iterator[tuple[int, int]]:
    """Tokens of the table, and those that are like them, by the runs of their characters."""
    shown = _ESCAPE.sub("   ", text) if "%" in text else text
    done = 0
    for run in _RUN.finditer(shown):
        start, end = run.span()
        if start < done:
            continue
        span = _listed(text, shown, start) or _issued(shown, start, end)
        if span is not None:
            done = span[1]
            yield span


def _listed(text: str, shown: str, start: int) -> tuple[int, int] | None:
    """The token of the table that begins with a run, or shortly before it: ``SG.…``, ``hvs.…``."""
    found = _PREFIX.match(shown, start)
    if found is not None and (span := _token(text, found)):
        return span
    if shown[start - 1 : start] not in _ENDS_OF_PREFIXES:
        return None
    for found in _PREFIX.finditer(shown, max(0, start - _BEFORE_RUN), start + _BEHIND_START):
        if span := _token(text, found):
            return span
    return None


def _token(text: str, prefix: re.Match[str]) -> tuple[int, int] | None:
    for pattern, entropy in _BY_START[prefix.group()[:2]]:
        token = pattern.match(text, prefix.start())
        if token is not None and (not entropy or entropy_of(token[1]) >= entropy):
            return token.span()
    return None


def _issued(text: str, start: int, end: int) -> tuple[int, int] | None:
    if end - start < _SHORTEST_ISSUED:
        return None
    run = _ISSUED.match(text, start)
    return run.span() if run is not None and is_random(run["random"]) else None


_SHORTEST_ISSUED: Final = 30
_ENDS_OF_PREFIXES: Final = frozenset(".:/~$+!")
"""Signs that end the prefix of a token, or its first part."""


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
    yield from _of_runs(text)
    if not _has_mark(text):
        return
    for mark, pattern in _MARKED_FORMS:
        if mark in text:
            yield from (one.span(one.lastindex or 0) for one in pattern.finditer(text))


# Most vendors issue a short prefix and a random text: acme_live_8Hs…. Names and ids are words, or
# of few signs (digits, hexadecimal ones); a segment of a path is a name, whatever it looks like.
_ISSUED: Final = re.compile(
    r"(?<![\w\-/.])[A-Za-z][A-Za-z0-9]{0,11}(?:[_\-][A-Za-z0-9]{1,8}){0,2}?[_\-]"
    r"(?P<random>[A-Za-z0-9][\w\-]{27,}|[a-z0-9]{32,})(?![\w\-])"
)
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF-_")


def is_random(text: str) -> bool:
    """Whether capitals, small letters and digits change as they do by chance alone.

    Two neighbours are of different kinds in three of five places of a random text, and in one or
    two of five of ``ProcessingLambdaFunctionRole``.
    """
    kinds = text.translate(_KINDS)
    changes = sum(map(ne, kinds, kinds[1:]))
    if _HEXADECIMAL.issuperset(text) or kinds.count("-") > len(kinds) // 8 or _A_WORD in kinds:
        return False
    if "A" in kinds:
        enough = kinds.count("A") > 3 and kinds.count("a") > 3 and kinds.count("0") > 1
        return enough and changes > 0.42 * len(kinds)
    return (
        kinds.count("0") > 4 and len(kinds) > 31 and "-" not in kinds and changes > len(kinds) // 4
    )


_A_WORD: Final = "a" * 9
_KINDS: Final = str.maketrans(
    {
        **dict.fromkeys(string.ascii_uppercase, "A"),
        **dict.fromkeys(string.ascii_lowercase, "a"),
        **dict.fromkeys(string.digits, "0"),
        "_": "-",
    }
)


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
    if "BEGIN" in text and "PRIVATE" in text:
        yield from _armoured(text)
    if "Private-Lines" in text:
        yield from (found.span(1) for found in _PUTTY.finditer(text))
    if '"kty' in text:
        yield from (found.span(1) for found in _WEB_KEY.finditer(text))
    if "<RSAKeyValue" in text:
        yield from (found.span(1) for found in _XML_KEY.finditer(text))


_HEADING: Final = re.compile(
    r"----[- ]BEGIN(?: |%20|\+)"
    r"((?:[A-Z0-9]{1,16}(?: |%20|\+)){0,4}PRIVATE(?: |%20|\+)KEY[A-Z ]{0,8})-{1,5}"
)
_ENDING: Final = re.compile(r"----[- ]END")


def _armoured(text: str) -> Iterator[tuple[int, int]]:
    found = _HEADING.search(text)
    while found:
        ending = _ENDING.search(text, found.end())
        end = ending.start() if ending else len(text)
        yield found.end(), end
        found = _HEADING.search(text, end)
