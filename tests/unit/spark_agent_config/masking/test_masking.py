"""No secret reaches the journal, and nothing else is touched."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import normalise
from spark_agent_config.masking import mask_secrets, mask_text, names

M = "*****"


@pytest.mark.parametrize(
    "key",
    [
        "password", "PASSWORD", "pass_word", "userPassword", "db.password", "passwd", "pwd",
        "javax.net.ssl.trustStorePassword", "secret", "client_secret", "fs.s3a.secret.key",
        "fs.s3a.access.key", "spark.hadoop.fs.s3a.session.token", "aws_secret_access_key",
        "accessKeyId", "token", "API-Token", "sasToken",
        "fs.azure.account.key.a.dfs.core.windows.net",
        "fs.azure.sas.container.account.blob.core.windows.net", "apiKey", "private_key",
        "sfPassword", "Authorization", "kafka.sasl.jaas.config", "credentials",
        "fs.azure.account.oauth2.client.secret",
    ],
)  # fmt: skip
def test_settings_that_look_secret_are_masked(key):
    document = {"extra": [{"params": {key: "hunter2", "other": "x"}}]}
    assert mask_secrets(document) == {"extra": [{"params": {key: M, "other": "x"}}]}


@pytest.mark.parametrize(
    "key",
    [
        "tokenizer", "tokens", "token_count", "tokenUrl", "fs.s3a.aws.credentials.provider",
        "key", "keys", "partitionKey", "primary_key", "orderkey", "compass", "passenger",
        "sasquatch", "passwordColumn", "secretScope", "name", "sig", "user", "accountId", "design",
    ],
)  # fmt: skip
def test_settings_that_only_sound_like_it_are_not(key):
    document = {"params": {key: "x"}}
    assert mask_secrets(document) is document


@pytest.mark.parametrize(
    "document",
    [
        {"attributes": [{"id": "attr-1", "name": "password", "dataType": "string"}]},
        {"schema": {"fields": [{"name": "password", "type": "string"}]}},
        {"fields": {"password": {"inputFields": [{"field": "password", "name": "/x"}]}}},
        {"params": {"password": {"__attrId": "attr-1"}, "token": [{"__exprId": "expr-2"}]}},
        {"params": {"condition": "(password = HR)", "list": ["password", "token"]}},
        {"params": {"condition": "(t.password#1 = u.secret#2)"}},
        {"query": "select * from emp where password='x' and token=1"},
        {"inputSources": ["jdbc:sqlite:/db:(select * from e where (password='x')) t"]},
        {"uri": "abfss://container@account.dfs.core.windows.net/x"},
        {"mail": "mail bob@example.org about http://example.org/@bob"},
        {"metrics": {"tokens": 5, "secret": True, "password": None}},
        {"password": ""},
        {"password": "*********(redacted)", "url": "jdbc:x://h/d?password=*****"},
        {"extra": {"bytesRead": 10, "ratio": 0.5}},
        [],
        {},
        None,
        "plain",
        7,
    ],
)
def test_a_document_without_secrets_comes_back_as_the_same_object(document):
    before = copy.deepcopy(document)
    assert mask_secrets(document) is document
    assert document == before


def test_a_list_under_a_secret_key_is_masked_and_references_stay():
    document = {"token": ["a", {"__attrId": "attr-1"}, ["b"]], "password": 1234, "pin": 7}
    assert mask_secrets(document) == {
        "token": [M, {"__attrId": "attr-1"}, [M]],
        "password": M,
        "pin": M,
    }


def test_a_pair_of_name_and_value_is_a_setting():
    document = [{"key": "fs.s3a.secret.key", "value": "x"}, {"name": "password", "value": "y"}]
    assert mask_secrets(document) == [
        {"key": "fs.s3a.secret.key", "value": M},
        {"name": "password", "value": M},
    ]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "jdbc:postgresql://h/d?user=u&password=p&ssl=true",
            f"jdbc:postgresql://h/d?user=u&password={M}&ssl=true",
        ),
        (
            "jdbc:sqlserver://h;user=sa;password=p;databaseName=d",
            f"jdbc:sqlserver://h;user=sa;password={M};databaseName=d",
        ),
        ("jdbc:sqlserver://h;password={a;b};x=1", f"jdbc:sqlserver://h;password={M};x=1"),
        ("jdbc:sqlserver://h;password={a;b}}c};x=1", f"jdbc:sqlserver://h;password={M};x=1"),
        ("jdbc:sqlserver://h;password={a;b}}c;x=1", f"jdbc:sqlserver://h;password={M}"),
        ("jdbc:sqlserver://h;password=***a;x=1", f"jdbc:sqlserver://h;password={M};x=1"),
        ("jdbc:sqlserver://h;password=x y;x=1", f"jdbc:sqlserver://h;password={M};x=1"),
        ("jdbc:mysql://h/d?user=a&password=x y", f"jdbc:mysql://h/d?user=a&password={M}"),
        ("at jdbc:x://h/d?password=x y&a=b now", f"at jdbc:x://h/d?password={M}&a=b now"),
        (
            "jdbc:mysql://address=(host=h)(user=u)(password=a,b)/d",
            f"jdbc:mysql://address=(host=h)(user=u)(password={M})/d",
        ),
        ("jdbc:mysql://(password=a,host=h),g/d", f"jdbc:mysql://(password={M},host=h),g/d"),
        (
            "jdbc:oracle:thin:@(ADDRESS=(HOST=h))(SECURITY=(WALLET_PASSWORD=p))",
            f"jdbc:oracle:thin:@(ADDRESS=(HOST=h))(SECURITY=(WALLET_PASSWORD={M}))",
        ),
        ("jdbc:oracle:thin:scott/ti@ger@//h:1521/x", f"jdbc:oracle:thin:{M}@//h:1521/x"),
        ('jdbc:oracle:thin:scott/"a b"@h:1521:x', f"jdbc:oracle:thin:{M}@h:1521:x"),
        ("jdbc:snowflake://h/?passcode=1234&db=d", f"jdbc:snowflake://h/?passcode={M}&db=d"),
        ("jdbc:bigquery://h;OAuthPvtKey=p;a=b", f"jdbc:bigquery://h;OAuthPvtKey={M};a=b"),
        ("https://x/y?X-Amz-Signature=s&a=b", f"https://x/y?X-Amz-Signature={M}&a=b"),
        ("gs://b/o?X-Goog-Signature=s", f"gs://b/o?X-Goog-Signature={M}"),
        ("https://x/y?X%2DAmz%2DSignature=s", f"https://x/y?X%2DAmz%2DSignature={M}"),
        ("https://x/y#token=s", f"https://x/y#token={M}"),
        ("https://x/y;jsessionid=s", f"https://x/y;jsessionid={M}"),
        ("kafka:h1:9092,u:p@h2:9092", f"kafka:{M}@h2:9092"),
        ("redis:p/q@h:6379", f"redis:{M}@h:6379"),
        (
            "mongodb+srv://h/?authMechanismProperties=AWS_SESSION_TOKEN:s",
            f"mongodb+srv://h/?authMechanismProperties={M}",
        ),
        ("--password s", f"--password {M}"),
        ("run --db-password 'a b' --x", f"run --db-password {M} --x"),
        ("run --password='a b' --x", f"run --password={M} --x"),
        ("--conf spark.hadoop.fs.s3a.secret.key=s", f"--conf spark.hadoop.fs.s3a.secret.key={M}"),
        ("a=b\npassword=s\nc=d", f"a=b\npassword={M}\nc=d"),
        ("Authorization: Basic dTpw", f"Authorization: Basic {M}"),
        ("curl -H 'X-Api-Key: s' u", f"curl -H 'X-Api-Key: {M}' u"),
        ("Bearer abcdefghijklmnop0123", f"Bearer {M}"),
        ("[password=a,b, c=d]", f"[password={M}, c=d]"),
        ("OPTIONS (user 'u', password 's')", f"OPTIONS (user 'u', password '{M}')"),
        ("TBLPROPERTIES ('a'='b', 'password'='s')", f"TBLPROPERTIES ('a'='b', 'password'='{M}')"),
        ("{'user': 'u', 'password': 's'}", f"{{'user': 'u', 'password': '{M}'}}"),
        ("List((spark.app,x), (spark.password,s))", f"List((spark.app,x), (spark.password,{M}))"),
        ("jdbc:mysql://root:hunter2@h:3306/d", f"jdbc:mysql://{M}@h:3306/d"),
        ("jdbc:oracle:thin:scott/tiger@//h:1521/orcl", f"jdbc:oracle:thin:{M}@//h:1521/orcl"),
        ("s3a://AKIA:secret@bucket/x", f"s3a://{M}@bucket/x"),
        ("s3a://AKIA:sec/ret@bucket/x", f"s3a://{M}@bucket/x"),
        ("https://token@github.example/x", f"https://{M}@github.example/x"),
        ("see http://u:p@a and http://v:q@b", f"see http://{M}@a and http://{M}@b"),
        (
            "https://a.blob.core.windows.net/c?sv=1&sig=abc%3D",
            f"https://a.blob.core.windows.net/c?sv=1&sig={M}",
        ),
        (
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc==;EndpointSuffix=x",
            f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={M};EndpointSuffix=x",
        ),
        (
            "Map(url -> jdbc:x, password -> hunter2, dbtable -> t)",
            f"Map(url -> jdbc:x, password -> {M}, dbtable -> t)",
        ),
        (
            "Storage Properties: [password=p, path=/x]",
            f"Storage Properties: [password={M}, path=/x]",
        ),
        ("{fs.s3a.secret.key=abc, a=b}", f"{{fs.s3a.secret.key={M}, a=b}}"),
        (
            "-Xmx1g -Djavax.net.ssl.trustStorePassword=changeit -Da=b",
            f"-Xmx1g -Djavax.net.ssl.trustStorePassword={M} -Da=b",
        ),
        ("spark-submit --password=x job.py", f"spark-submit --password={M} job.py"),
        (
            'PlainLoginModule required username="u" password="p";',
            f'PlainLoginModule required username="u" password="{M}";',
        ),
        ('{"user": "u", "password": "p"}', f'{{"user": "u", "password": "{M}"}}'),
        (r'{\"password\":\"p\"}', rf'{{\"password\":\"{M}\"}}'),
        ("[url=jdbc:x://h;password=p, a=b]", f"[url=jdbc:x://h;password={M} a=b]"),
    ],
)  # fmt: skip
def test_secrets_inside_texts_are_masked(text, masked):
    assert mask_text(text) == masked
    assert mask_secrets({"x": [text]}) == {"x": [masked]}
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    ("document", "masked"),
    [
        (["--db-password", "s", "--x", "y"], ["--db-password", M, "--x", "y"]),
        (["-password", "s"], ["-password", M]),
        (["--password", "--verbose"], ["--password", "--verbose"]),
        (["--password=s", "y"], [f"--password={M}", "y"]),
        ([["spark.hadoop.fs.s3a.secret.key", "s"]], [["spark.hadoop.fs.s3a.secret.key", M]]),
        ([["t.password", "t.token"]], [["t.password", "t.token"]]),
        ([{"_1": "a.password", "_2": "s"}], [{"_1": "a.password", "_2": M}]),
        ({"key": "a.password", "value": ["s"]}, {"key": "a.password", "value": [M]}),
        ({"headers": {"Authorization": "Bearer s"}}, {"headers": {"Authorization": M}}),
    ],
)
def test_a_value_after_the_name_of_a_secret_is_masked(document, masked):
    assert mask_secrets(document) == masked
    assert mask_secrets(masked) is masked


PARAMETERS = sorted(
    {
        *names.SECRET_PARAMETERS, *names.SIGNATURE_PARAMETERS,
        *names.SECRET_FRAGMENTS, *names.SECRET_ENDINGS,
        *names.SECRET_WORDS, "X-Amz-Signature", "X-Amz-Credential", "X-Goog-Signature",
        "X-Amz-Security-Token", "X-Goog-Credential", "access_token", "AWSAccessKeyId", "a", "se",
        "sv", "v", "X-Amz-Date", "partition",
    }
)  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("start", ["https://h/y?", "https://h/y#", "foo://h/y?", "jdbc:foo://h/y?"])
def test_a_parameter_that_identity_drops_is_masked_in_documents(start, name):
    url = f"{start}{name}=hunter2"
    dropped = "hunter2" not in normalise(url, "")[0].uri
    assert dropped == ("hunter2" not in mask_text(url))


def test_the_table_behind_a_jdbc_url_stays():
    uri = "jdbc:postgresql://h/d?password=a:b:hr.emp"
    masked = mask_secrets(
        {"operations": {"write": {"outputSource": uri}, "reads": [{"inputSources": [uri]}]}}
    )
    expected = f"jdbc:postgresql://h/d?password={M}:hr.emp"
    assert masked == {
        "operations": {
            "write": {"outputSource": expected},
            "reads": [{"inputSources": [expected]}],
        }
    }


def test_a_url_without_a_table_is_masked_to_its_end():
    assert mask_secrets({"url": "jdbc:postgresql://h/d?password=a:b"}) == {
        "url": f"jdbc:postgresql://h/d?password={M}"
    }


def test_the_document_given_is_not_changed():
    document = {"a": [{"password": "x"}], "b": ["keep"]}
    masked = mask_secrets(document)
    assert document == {"a": [{"password": "x"}], "b": ["keep"]}
    assert masked == {"a": [{"password": M}], "b": ["keep"]}


def test_deep_documents_are_walked():
    document: object = {"password": "x"}
    for _ in range(20_000):
        document = [{"a": document}]
    masked: object = mask_secrets(document)  # type: ignore[arg-type]
    for _ in range(20_000):
        masked = masked[0]["a"]  # type: ignore[index]
    assert masked == {"password": M}


SECRET = "Zq7SecretZq7"
BLAND = st.text(st.characters(codec="utf-8", exclude_characters="Z"), max_size=12)
LEAVES = st.sampled_from(
    [
        f"jdbc:postgresql://u:{SECRET}@h/d",
        f"jdbc:mysql://h/d?user=u&password={SECRET}",
        f"jdbc:sqlserver://h;password={SECRET};databaseName=d",
        f"jdbc:oracle:thin:scott/{SECRET}@h:1521:x",
        f"s3a://key:{SECRET}@bucket/x",
        f"Map(a -> b, token -> {SECRET})",
        f"[x=y, fs.s3a.secret.key={SECRET}]",
        f"https://h/x?sig={SECRET}&se=1",
    ]
)
DOCUMENTS = st.recursive(
    LEAVES | BLAND | st.none() | st.integers() | st.just({"password": SECRET}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(BLAND, inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(DOCUMENTS)
def test_masking_leaves_no_secret_and_has_nothing_to_do_twice(document):
    masked = mask_secrets(document)
    assert SECRET not in json.dumps(masked)
    assert mask_secrets(masked) is masked
    assert (masked is document) == (SECRET not in json.dumps(document))


@settings(deadline=None)
@given(st.text(st.characters() | st.sampled_from("=&?;@:/[]{}(), ->\"'\\"), max_size=60))
def test_any_text_can_be_masked_and_masking_settles(text):
    once = mask_text(text)
    assert mask_text(once) == once


def test_a_text_that_is_harmless_in_one_place_is_masked_under_a_secret_key():
    text = "a=b"
    document = {"shown": [text, text, text], "password": text, "value": {"token": text, "x": text}}
    assert mask_secrets(document) == {
        "shown": [text, text, text], "password": M, "value": {"token": M, "x": text},
    }  # fmt: skip


def test_the_keys_of_each_document_are_judged_anew() -> None:
    for number in range(20):
        document = {f"made up {number}": "x", "password": "geheim", f"made_up_{number}_secret": "y"}
        expected = {f"made up {number}": "x", "password": M, f"made_up_{number}_secret": M}
        assert mask_secrets(document) == expected


def test_a_secret_is_masked_wherever_it_is_repeated():
    url = "s3://user:secret@host/x"
    assert mask_secrets({"a": url, "b": [url, url], "c": {"a": url}}) == {
        "a": f"s3://{M}@host/x", "b": [f"s3://{M}@host/x"] * 2, "c": {"a": f"s3://{M}@host/x"},
    }  # fmt: skip


def test_a_text_that_is_harmless_elsewhere_is_looked_at_as_the_uri_that_it_is():
    uri = "jdbc:sqlite:/db?password=x:(select * from e where (password='x')) t"
    alone = mask_secrets({"outputSource": uri})
    assert mask_secrets({"text": uri, "outputSource": uri})["outputSource"] == alone["outputSource"]


@settings(deadline=None)
@given(
    st.dictionaries(
        BLAND | st.sampled_from(["token", "value", "key", "outputSource", "inputSources", "pin"]),
        LEAVES | st.sampled_from(["a=b", "x", "-Dpassword=x", "--token", "spark.a.b.secret", "7"]),
        max_size=6,
    )
)
def test_the_masking_of_a_text_does_not_depend_on_earlier_texts(document):
    """Alone, in company, and after the same text stood under every other key."""
    together = mask_secrets([document, [{key: text} for key, text in document.items()], document])
    assert together[0] == together[2] == mask_secrets(document)  # type: ignore[index]
    assert together[1] == [mask_secrets({key: text}) for key, text in document.items()]  # type: ignore[index]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["--password", "hunter2", "-x", "a", 7, None, ["b"], {"a": "b"}])))
def test_a_value_after_an_option_is_masked_wherever_it_stands(items):
    masked = mask_secrets({"arguments": items})["arguments"]  # type: ignore[index, call-overload]
    for before, item, shown in zip([None, *items], items, masked, strict=False):
        hidden = before == "--password" and isinstance(item, str) and not item.startswith("--")
        assert shown == (M if hidden else item)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh",
        "aUTHORIZATION :Basic abcdefgh",
        "author\u0131zation: token abcdefgh",  # a dotless i, which is an i to whoever ignores case
        "X-Api-Key: abcdefgh",
        "x-api-to\u212aen: abcdefgh",  # the sign of the unit Kelvin, which is a k
    ],
)
def test_a_header_is_masked_whatever_its_case(text):
    assert "abcdefgh" not in mask_text(text)
    assert mask_secrets({"a": [text, text]}) == {"a": [mask_text(text)] * 2}


def test_more_texts_than_are_remembered_are_masked_like_the_first():
    texts = [f"text {number}" for number in range(100_100)]
    document = {"texts": texts, "again": [*texts, "s3://u:secret@h/x"], "password": texts[-1]}
    masked = mask_secrets(document)
    assert masked == {"texts": texts, "again": [*texts, f"s3://{M}@h/x"], "password": M}


RANDOM = "tRz0XwMlUjBnOpCgDqSaFhIe83kd82Lm"


@pytest.mark.parametrize(
    "text", ["rotated from {}", "failed ({} again)", "the client used acme_{}", "a/b: {}"]
)
def test_a_random_word_is_masked_wherever_it_stands(text):
    assert RANDOM not in mask_text(text.format(RANDOM))


@pytest.mark.parametrize(
    "text",
    [
        "select a from {}", "merge into lake.{} using {} on 1=1", "s3://lake/{}/part-1.parquet",
        '{"queryId": "{}"}', "etag: {}", "{}.parquet",
    ],
)  # fmt: skip
def test_a_random_word_that_names_something_stays(text):
    named = text.replace("{}", RANDOM)
    assert mask_text(named) == named


def test_datasets_and_columns_with_random_names_stay():
    column = {RANDOM: {"inputFields": [{"namespace": "s3://b", "name": RANDOM, "field": RANDOM}]}}
    document = {"outputs": [{"name": RANDOM, "facets": {"columnLineage": {"fields": column}}}]}
    assert mask_secrets(document) is document
    assert mask_secrets({"note": RANDOM}) == {"note": M}
