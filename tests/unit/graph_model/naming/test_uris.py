"""Dataset identity: tables of spellings, and laws that hold for any text."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph_model.naming import DEFAULT_RULES, DatasetName, Rules, normalise, rules_digest, uris
from spark_agent_config.masking import mask_secrets, names

SCOPE = "laptop"
ID = "c618a9fa-f5eb-4af9-9746-ae1035b36bc7"

# as written -> (canonical, kind, friendly name); scoped ones carry the capture scope
EVERYWHERE = [
    # S3, EMR, Glue
    ("s3://lake/sales/orders", "s3://lake/sales/orders", "file", "orders"),
    ("s3a://lake/sales/orders", "s3://lake/sales/orders", "file", "orders"),
    ("s3n://lake/sales/orders/", "s3://lake/sales/orders", "file", "orders"),
    ("S3A://Lake/sales//orders///", "s3://lake/sales/orders", "file", "orders"),
    ("s3://lake", "s3://lake", "file", "lake"),
    ("s3://lake/", "s3://lake", "file", "lake"),
    ("s3://lake/Sales/Orders", "s3://lake/Sales/Orders", "file", "Orders"),
    ("s3a://AKIAKEY:s3cr3t@lake/x", "s3://lake/x", "file", "x"),
    ("s3a://AKIAKEY:se/cr3t@lake/x", "s3://lake/x", "file", "x"),
    (
        "s3://arn:aws:s3:eu-west-1:12:accesspoint/ap/x",
        "s3://arn:aws:s3:eu-west-1:12:accesspoint/ap/x",
        "file",
        "x",
    ),
    ("s3://lake/raw/data.csv", "s3://lake/raw/data.csv", "file", "data.csv"),
    ("s3://lake/a/./b/../c", "s3://lake/a/c", "file", "c"),
    ("s3://lake/%7Euser/a%2fb", "s3://lake/~user/a%2Fb", "file", "a%2Fb"),
    ("s3://lake/100%/x", "s3://lake/100%/x", "file", "x"),
    # Google, Azure
    ("gcs://lake/x", "gs://lake/x", "file", "x"),
    (
        "wasbs://c@acct.blob.core.windows.net/x",
        "abfss://c@acct.dfs.core.windows.net/x",
        "file",
        "x",
    ),
    ("abfs://c@acct.dfs.core.windows.net/x", "abfss://c@acct.dfs.core.windows.net/x", "file", "x"),
    (
        "abfss://c@acct.dfs.core.windows.net/x?sv=2022&se=2026&sig=abc",
        "abfss://c@acct.dfs.core.windows.net/x",
        "file",
        "x",
    ),
    # HDFS
    ("hdfs://NN:8020/x", "hdfs://nn/x", "file", "x"),
    ("hdfs://nn:9000/x", "hdfs://nn:9000/x", "file", "x"),
    ("hdfs://nameservice1/x", "hdfs://nameservice1/x", "file", "x"),
    ("file://nas/share/x", "file://nas/share/x", "file", "x"),
    # globs that are no partitions
    ("s3://lake/raw/*", "s3://lake/raw/*", "pattern", "raw/*"),
    ("s3://lake/raw/*.csv", "s3://lake/raw/*.csv", "pattern", "raw/*.csv"),
    ("s3a://lake/*/orders/", "s3://lake/*/orders", "pattern", "lake/*/orders"),
    ("s3://lake/{a,b}", "s3://lake/{a,b}", "pattern", "lake/{a,b}"),
    ("s3://lake/x/[ab]1", "s3://lake/x/[ab]1", "pattern", "x/[ab]1"),
    ("s3://lake/x[", "s3://lake/x[", "file", "x["),
    # stores
    ("mongodb://u:p@H1:27017,h0/?w=1/hr.staff", "mongodb://h0,h1/hr.staff", "table", "hr.staff"),
    ("mongodb://h0,h1/hr.staff", "mongodb://h0,h1/hr.staff", "table", "hr.staff"),
    ("mongodb+srv://u@c.net/hr/hr.staff", "mongodb+srv://c.net/hr.staff", "table", "hr.staff"),
    ("elasticsearch://B:9200,a/idx/_doc", "elasticsearch://a,b/idx", "table", "idx"),
    ("bigquery://proj:ds.table", "bigquery://proj:ds.table", "table", "ds.table"),
    ("https://H:443/a.csv?v=1", "https://h/a.csv?v=1", "file", "a.csv"),
    (
        "https://b.s3.amazonaws.com/x.csv?X-Amz-Date=1&X-Amz-Signature=abc",
        "https://b.s3.amazonaws.com/x.csv",
        "file",
        "x.csv",
    ),
    ("https://x/y#token=s", "https://x/y", "file", "y"),
    ("https://x/y?a=b&token=s#c=d", "https://x/y?a=b", "file", "y"),
    ("https://x/y#c=d&access_token=s", "https://x/y#c=d", "file", "y#c=d"),
    ("https://x/y?X%2DAmz%2DSignature=s", "https://x/y", "file", "y"),
    ("s3://b/C#/y?X-Amz-Signature=s", "s3://b/C#/y", "file", "y"),
    ("gs://b/o?X-Goog-Signature=s", "gs://b/o", "file", "o"),
    ("mongodb://h/?password=p/hr.staff", "mongodb://h/hr.staff", "table", "hr.staff"),
    # an unknown part survives, without its secrets
    ("kafka://b2:9092,b1:9092/orders", "kafka://b1/orders", "topic", "orders"),
    ("cassandra://H:9042/hr.staff", "cassandra://h/hr:staff", "table", "staff"),
    ("foo+bar://Host/X?a=1", "foo+bar://Host/X?a=1", "other", "X?a=1"),
    ("foo://u:p@h/x?token=abc&a=b", "foo://h/x?a=b", "other", "x?a=b"),
    ("foo://h/x?user=me", "foo://h/x", "other", "x"),
]

LOCALLY = [
    ("file:/lake/x", "file:/lake/x", "file", "x"),
    ("file:///lake/x", "file:/lake/x", "file", "x"),
    ("file://localhost/lake/x", "file:/lake/x", "file", "x"),
    ("FILE:/lake/x/", "file:/lake/x", "file", "x"),
    ("/lake/x", "file:/lake/x", "file", "x"),
    ("/lake//x/", "file:/lake/x", "file", "x"),
    ("file:/", "file:/", "file", "file:/"),
    ("file:/../x", "file:/../x", "file", "x"),
    ("file:data/x", "file:data/x", "file", "x"),
    ("C:\\lake\\x", "file:/C:/lake/x", "file", "x"),
    ("file:///C:/lake/x", "file:/C:/lake/x", "file", "x"),
    ("file://C:/lake/x", "file:/C:/lake/x", "file", "x"),
    ("file:/lake/день/📦", "file:/lake/день/📦", "file", "📦"),
    ("hdfs:///lake/x", "hdfs:/lake/x", "file", "x"),
    ("hdfs:/lake/x", "hdfs:/lake/x", "file", "x"),
    ("hdfs://localhost:8020/x", "hdfs://localhost/x", "file", "x"),
    ("dbfs:/mnt/x", "dbfs:/mnt/x", "file", "x"),
    ("dbfs:///mnt/x", "dbfs:/mnt/x", "file", "x"),
    ("/dbfs/mnt/x", "dbfs:/mnt/x", "file", "x"),
    ("kafka:orders", "kafka:orders", "topic", "orders"),
    ("kafka:h1:9092,u:p@h2:9092", "kafka:h2:9092", "topic", "h2:9092"),
    ("kafka:orders-.*", "kafka:orders-.*", "pattern", "orders-.*"),
    ("cassandra:hr:staff", "cassandra:hr:staff", "table", "staff"),
    ("odpstable:t", "odpstable:t", "table", "t"),
    (f"memory://00:1B/jvm_{ID}", "memory:jvm", "memory", "memory"),
    ("mongodb://localhost/hr.staff", "mongodb://localhost/hr.staff", "table", "hr.staff"),
    ("hr.t", "hr.t", "other", "hr.t"),
    ("data/x.csv", "data/x.csv", "other", "x.csv"),
    ("", "", "other", ""),
]

ALL = [(*case, "") for case in EVERYWHERE] + [(*case, SCOPE) for case in LOCALLY]


@pytest.mark.parametrize(("written", "canonical", "kind", "name", "scope"), ALL)
def test_every_spelling_has_one_canonical_uri(written, canonical, kind, name, scope):
    (result,) = normalise(written, SCOPE)
    assert (result.uri, result.kind, result.name, result.scope) == (canonical, kind, name, scope)
    assert result.partition_keys == ()
    assert not result.unresolved


@pytest.mark.parametrize("uri", sorted({case[1] for case in ALL}))
def test_a_canonical_uri_is_its_own(uri):
    (result,) = normalise(uri, SCOPE)
    assert result.uri == uri


@pytest.mark.parametrize(("written", "canonical", "kind", "name", "scope"), ALL)
def test_the_scope_identifies_only_where_the_uri_has_no_authority(
    written, canonical, kind, name, scope
):
    assert normalise(written, SCOPE)[0].scope == scope
    assert normalise(written, "")[0].scope == ""


def test_control_characters_and_lone_surrogates_are_encoded_so_that_any_store_holds_them():
    (result,) = normalise("file:/a\nb/\ud800c\x00", "")
    assert result.uri == "file:/a%0Ab/%ED%A0%80c%00"
    assert result.uri.encode("utf-8")


def test_very_long_names_are_named():
    long = "x" * 100_000
    (result,) = normalise(f"s3a://lake/{long}/dt=1", "")
    assert result.uri == f"s3://lake/{long}"
    assert result.partition == "dt=1"


# --- rules are data ------------------------------------------------------------------------------


def test_a_rule_can_be_changed_without_code():
    rules = replace(DEFAULT_RULES, scheme_aliases=(("cosn", "s3"),))
    assert normalise("cosn://lake/x", "", rules)[0].uri == "s3://lake/x"
    assert normalise("s3a://lake/x", "", rules)[0].uri == "s3a://lake/x"
    assert normalise("s3a://lake/x", "")[0].uri == "s3://lake/x"


def test_equal_rules_have_one_digest_and_other_rules_another():
    assert rules_digest(replace(DEFAULT_RULES)) == rules_digest(DEFAULT_RULES)
    assert rules_digest(replace(DEFAULT_RULES, version=99)) != rules_digest(DEFAULT_RULES)
    assert hash(replace(DEFAULT_RULES)) == hash(DEFAULT_RULES)


def test_rules_have_another_digest_when_another_part_of_a_name_is_a_secret(monkeypatch):
    """A rebuild follows: a dataset's name leaves out what is masked."""
    before = rules_digest(DEFAULT_RULES)
    monkeypatch.setattr(names, "TABLES", ())
    assert rules_digest(replace(DEFAULT_RULES)) != before


def test_rules_travel_to_other_processes():
    assert pickle.loads(pickle.dumps(DEFAULT_RULES)) == DEFAULT_RULES
    assert rules_digest(pickle.loads(pickle.dumps(DEFAULT_RULES))) == rules_digest(DEFAULT_RULES)


def test_kind_and_name_do_not_depend_on_the_scope():
    for written, *_ in ALL:
        here, there = normalise(written, "a")[0], normalise(written, "b")[0]
        assert (here.uri, here.kind, here.name) == (there.uri, there.kind, there.name)


# --- laws for any text ---------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "/", "//", ":", "://", "?", "&", ";", "=", "%", "%41", "%2e%2E", "..", ".", "*", "{a,b}",
        "[1]", "@", '"', "`", "]", "(", ")", ",", "jdbc:", "jdbc:postgresql://h/d",
        "jdbc:oracle:thin:@", "jdbc:sqlserver://h;", "jdbc:h2:mem:", "s3a://", "file:", "kafka:",
        "dt=1", "2024", "01", "31", "2024-01-31", "part-00000", "_delta_log", "password=x", "a",
        "B", "é", "\ud800", "\n", " ", "select ", "(select * from t) x", ":t", "#", "_SUCCESS",
        "data", "metadata", "table/", "arn:aws:glue:r:1:", "spark_catalog", "hive://",
        "mongodb://", "memory:", "localhost", "C:\\", ":1433", "delta.`/x`", "currentSchema=q",
        "u:p@", "user=me", "sig=1", "/dbfs/", "#token=x", "kafka:u:p@", "(password=x)",
        "address=(host=h)", "&a=b",
        "password=x y", "--password ", "***a",
    ]
)  # fmt: skip
SPELLED = st.lists(PIECES, max_size=9).map("".join)
EDITED = st.builds(
    lambda case, piece, at: case[: at % (len(case) + 1)] + piece + case[at % (len(case) + 1) :],
    st.sampled_from([case[0] for case in ALL]),
    PIECES,
    st.integers(0, 200),
)
ANY = SPELLED | EDITED | st.text(st.characters(), max_size=40)


@given(ANY)
@example("jdbc:oracle:thin:@localhost:password=x.")
@example("mongodb://a{b,c}@d")
@example("C:\\_SUCCESS/%..=1")
@example("table/delta.`/x`--password ")
@example("spark_catalog/hr.`t``--password `")
@example("hive://meta/hr.`t`--password x")
def test_normalising_is_total_and_idempotent(text):
    result = normalise(text, SCOPE)
    assert result
    for name in result:
        assert name.uri.encode("utf-8") is not None
        (again,) = normalise(name.uri, SCOPE)
        assert (again.uri, again.scope, again.name, again.kind) == (
            name.uri,
            name.scope,
            name.name,
            name.kind,
        )


@given(ANY)
@example("table/delta." + "`/x`" * 50 + "--password ")
def test_a_name_is_at_most_a_constant_multiple_of_its_text(text):
    for name in normalise(text, SCOPE):
        assert len(name.uri) <= 200 + 12 * len(text)


@given(ANY)
def test_a_document_names_the_same_datasets_before_and_after_masking(text):
    document = {"operations": {"write": {"outputSource": text}}}
    masked = mask_secrets(document)
    assert isinstance(masked, dict)
    after = json.loads(json.dumps(masked))["operations"]["write"]["outputSource"]
    assert [n.uri for n in normalise(after, "")] == [n.uri for n in normalise(text, "")]


SEGMENT = st.text(
    st.characters(codec="utf-8", exclude_characters="/%*?[]{}=.:", exclude_categories=("Cc",)),
    min_size=1,
    max_size=8,
).filter(lambda text: not text[0].isdigit() and not text.startswith(("part-", "_", ".")))
PATHS = st.lists(SEGMENT, min_size=1, max_size=4)


@settings(deadline=None)
@given(PATHS, st.sampled_from(["s3", "s3a", "s3n", "S3A"]), st.booleans(), st.booleans())
def test_spellings_of_one_s3_path_are_one_identity(path, scheme, slash, double):
    joint = "//" if double else "/"
    written = f"{scheme}://Bucket/{joint.join(path)}{'/' if slash else ''}"
    (result,) = normalise(written, SCOPE)
    assert result.uri == f"s3://bucket/{'/'.join(path)}" or ";" in written
    assert result.uri == normalise("s3://bucket/" + "/".join(path), SCOPE)[0].uri


@settings(deadline=None)
@given(PATHS, st.sampled_from(["file:/", "file:///", "file://localhost/", "/", "FILE:/"]))
def test_spellings_of_one_local_path_are_one_identity(path, prefix):
    (result,) = normalise(prefix + "/".join(path), SCOPE)
    assert result == normalise("file:/" + "/".join(path), SCOPE)[0]
    assert result.scope == SCOPE


def test_a_canonical_uri_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(uri: str, scope: str, rules: Rules) -> tuple[DatasetName, ...]:
        read.append(uri)
        return reading(uri, scope, rules)

    reading = uris._read
    monkeypatch.setattr(uris, "_read", counted)
    canonical = ["s3://lake/read/once", "kafka://b/once", "bigquery://p:d.once", "memory:once"]
    assert [normalise(uri, "")[0].uri for uri in canonical] == canonical == read
