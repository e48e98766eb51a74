"""Bodies as the journal stores them: packed, verified by a hash; large ones out of the database.

A body of some kilobytes repeats little within itself, and nearly everything of every other one:
names of fields and facets, addresses of schemas. zlib takes such text beforehand (a preset
dictionary), and a compressed body names its dictionary by Adler-32, so that reading it needs no
other row.

A vocabulary is frozen: bodies compressed against it can be read with these very bytes alone. A
better one is added after it, and the last one compresses. It holds words of the formats and nothing
that a client reported: forgotten content must not live on in here.

A large body is a row with a mark, and an object named by the hash:

    pack -> larger than the limit? -> put the object -> the transaction with the marked row

The object is durable before the row that needs it. A crash between the two leaves an object
without a row, which the next arrival of the document needs, and which a check lists.

    last row removed, its name marked for removal | objects of marked names removed, names free

Objects are removed between two transactions, so that neither a crash nor a store that is away can
leave a row without its object or hold up documents. A row cannot be inserted while its name is
marked. One removal runs at a time, in all processes: an object is never removed after its name
is free. A request may have found an object there that is removed before its own transaction: so
each removal also changes a number (``removals``), which a request reads before it puts. One that
meets either of the two is refused in its transaction (``RemovedMeanwhile``) and puts again, this
time in the place of a removal: no object goes meanwhile, so that its transaction may take the marks
of its own names away.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.database import Lock, alone, chunks, insert_new, keep_order, read, write
from graph_model.stores.documents import Body, content_hash
from graph_model.stores.journal.tables import bodies, meta

if TYPE_CHECKING:  # boto3 is loaded where there are large bodies
    from graph_model.stores.aws import LargeBodies

log = logging.getLogger(__name__)

MARK: Final = b"\x00elsewhere"
"""In place of a packed body, which begins with 0x78."""
PLACE_KEY: Final = "bodies_place"
REMOVALS_KEY: Final = "bodies_removals"
NO_REMOVALS: Final = "none meanwhile"
"""In place of the number: the request holds ``removals_held``."""
_OPTION: Final = "headwater_large_bodies"
_REMOVAL_MARK: Final = "bodies_condemned "
_MOST_REMOVED: Final = 500
_TURN_SECONDS: Final = 30.0
_FIRST_PAUSE_SECONDS: Final = 60.0
_LONGEST_PAUSE_SECONDS: Final = 3_600.0
_REMOVALS: Final = sa.select(meta.c.value).where(meta.c.key == REMOVALS_KEY)
_SOME_MARKED: Final = (
    sa.select(meta.c.key).where(meta.c.key.startswith(_REMOVAL_MARK)).limit(_MOST_REMOVED)
)


class RemovedMeanwhile(Exception):
    """A body that this request has put, or found there, may have been removed since."""


def keep_large(engine: Engine, large: LargeBodies) -> None:
    """From now on the journal on this engine keeps its large bodies there."""
    engine.update_execution_options(**{_OPTION: large})


def large_of(held: Engine | Connection) -> LargeBodies | None:
    """Where large bodies lie; None if all are in the database."""
    large: LargeBodies | None = held.get_execution_options().get(_OPTION)
    return large


def check_place(engine: Engine, known: str | None, journal_id: str) -> str | None:
    """The place of large bodies, if the journal is yet to note it.

    A place holds an object with the journal's id: bodies that were copied to another one came with
    it. Raises ConfigurationError if it does not, and if no place is set and one is known.
    """
    large = large_of(engine)
    if large is None:
        require_none(known)
        return None
    if known == large.store.place:
        return None
    sign = f"journal-{journal_id}"
    if known is not None and large.store.get(sign) is None:
        raise ConfigurationError(
            f"the large bodies of this journal lie in {known}, and not in {large.store.place}:"
            " copy all objects there first, or set HEADWATER_BODIES as it was"
        )
    large.store.put(sign, journal_id.encode())
    return large.store.place


def require_none(known: str | None) -> None:
    """Raises ConfigurationError if the journal has bodies elsewhere and no setting says so."""
    if known is not None:
        raise ConfigurationError(
            f"the large bodies of this journal lie in {known}: set HEADWATER_BODIES={known}"
        )


# --- putting -------------------------------------------------------------------------------------


def put_aside(
    engine: Engine, hashes: Sequence[str], packed: Sequence[bytes]
) -> tuple[tuple[bytes, ...], str | None]:
    """The packed bodies as rows hold them, the large ones put and marked, and the number of
    removals before the first was put; None if none was.
    """
    large = large_of(engine)
    if large is None or all(len(body) <= large.above for body in packed):
        return tuple(packed), None
    with read(engine, JournalUnavailable) as connection:
        removals = _removals(connection)
    return put_marked(large, hashes, packed), removals


def put_marked(
    large: LargeBodies | None, hashes: Sequence[str], packed: Sequence[bytes]
) -> tuple[bytes, ...]:
    """The packed bodies as rows hold them, once the large ones are in the store."""
    if large is None:
        return tuple(packed)
    return tuple(
        _put(large, name, body) if len(body) > large.above else body
        for name, body in zip(hashes, packed, strict=True)
    )


def _put(large: LargeBodies, name: str, body: bytes) -> bytes:
    large.store.put(name, body)
    return MARK


def refuse_removed(connection: Connection, removals: str | None, hashes: Collection[str]) -> None:
    """Raises RemovedMeanwhile if one of these bodies may be gone since ``removals`` was read.

    With NO_REMOVALS none can be: those that wait for their removal are kept.
    """
    if removals is None:
        return
    keys = [_REMOVAL_MARK + name for name in hashes]
    if removals == NO_REMOVALS:
        connection.execute(meta.delete().where(meta.c.key.in_(keys)))
        return
    waiting = sa.select(meta.c.key).where(meta.c.key.in_(keys)).limit(1)
    if removals != _removals(connection) or connection.execute(waiting).first():
        raise RemovedMeanwhile


def _removals(connection: Connection) -> str:
    return str(connection.execute(_REMOVALS).scalar() or "")


# --- reading -------------------------------------------------------------------------------------


def fetch(held: Engine | Connection, name: str, packed: bytes | None) -> bytes | None:
    """The packed body of a row, from the store if the row has a mark; None if there is none."""
    if packed != MARK:
        return packed
    large = large_of(held)
    if large is None:
        raise JournalUnavailable("large bodies of this journal lie elsewhere: set HEADWATER_BODIES")
    return large.store.get(name)


# --- removing ------------------------------------------------------------------------------------


def mark_for_removal(connection: Connection, hashes: Collection[str]) -> None:
    """The rows of these bodies go with this transaction; their objects are to be removed after."""
    for chunk in chunks(sorted(hashes)):
        asked = sa.select(bodies.c.content_hash).where(
            bodies.c.content_hash.in_(chunk), bodies.c.packed == MARK
        )
        large_ones = connection.execute(asked).scalars().all()
        if large_ones:
            rows = [{"key": _REMOVAL_MARK + name, "value": ""} for name in large_ones]
            connection.execute(insert_new(connection, meta), rows)


def remove_marked(engine: Engine) -> None:
    """Remove the objects of names marked for removal; raises JournalUnavailable without the
    store.
    """
    large = large_of(engine)
    if large is None or not _marked(engine):
        return
    with removals_held(engine):
        while names := _marked(engine):
            large.store.remove(names)
            write(engine, partial(_free, names), JournalUnavailable)


@contextmanager
def removals_held(engine: Engine) -> Iterator[None]:
    """No other thread or process removes objects. Documents are taken meanwhile.

    Raises JournalUnavailable when another removes for longer than half a minute.
    """
    large = large_of(engine)
    if large is None:
        yield
        return
    if not large.removing.acquire(timeout=_TURN_SECONDS):
        raise JournalUnavailable("large bodies are being removed")
    try:
        with alone(engine, Lock.REMOVAL, JournalUnavailable):
            yield
    finally:
        large.removing.release()


def _marked(engine: Engine) -> list[str]:
    """Some of the names marked for removal."""
    with read(engine, JournalUnavailable) as connection:
        keys = connection.execute(_SOME_MARKED).scalars().all()
    return [key.removeprefix(_REMOVAL_MARK) for key in keys]


def _free(names: Collection[str], connection: Connection) -> None:
    """Their objects are gone. In the order of arrivals: no row is inserted meanwhile."""
    keep_order(connection, Lock.ORDER)
    keys = [_REMOVAL_MARK + name for name in names]
    connection.execute(meta.delete().where(meta.c.key.in_(keys)))
    new = {"key": REMOVALS_KEY, "value": token_hex(8)}
    connection.execute(meta.delete().where(meta.c.key == REMOVALS_KEY))
    connection.execute(meta.insert(), new)


class Removal:
    """Removes bodies marked for removal when it is asked to; less often while the store is away.

    ``clock`` gives seconds. For any thread.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._clock = clock
        self._pause = 0.0
        self._not_before = float("-inf")

    def attempt(self) -> None:
        """Remove bodies marked for removal; never fails. Bodies that it leaves stay marked for
        the next attempt, or for another thread that removes now.
        """
        large = large_of(self._engine)
        if large is None or large.removing.locked() or self._clock() < self._not_before:
            return
        try:
            remove_marked(self._engine)
        except JournalUnavailable as error:
            self._fail(error)
        else:
            self._pause = 0.0

    def _fail(self, error: JournalUnavailable) -> None:
        """In the log once, until it succeeds."""
        level = logging.DEBUG if self._pause else logging.WARNING
        log.log(level, "bodies of removed documents are still to be removed: %s", error)
        self._pause = min(max(2 * self._pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        self._not_before = self._clock() + self._pause


# The nearer to the end, the cheaper to point at: the rare first, OpenLineage's frame last.
_SPLINE: Final = (
    b'{"planId":"","timestamp":1700000000000,"durationNs":1000000000,"error":null,"extra":{"appId":'
    b'"local-1700000000000","user":"root","readMetrics":{"numFiles":1,"scanTime":0,"metadataTime":0'
    b',"filesSize":1000,"numOutputRows":1},"writeMetrics":{"taskCommitTime":0,"numFiles":1,'
    b'"jobCommitTime":0,"numOutputRows":1,"numParts":0,"numOutputBytes":1000}}}'
    b'{"id":"","name":"","operations":{"write":{"outputSource":"","append":false,"id":"op-0","name":'
    b'"InsertIntoHadoopFsRelationCommand","CreateDataSourceTableAsSelectCommand",'
    b'"SaveIntoDataSourceCommand","childIds":["op-1"],"params":{"path":""},"extra":'
    b'{"destinationType":"parquet"}},"reads":[{"inputSources":[""],"id":"op-5","name":'
    b'"LogicalRelation","output":["attr-0","attr-1","attr-2","attr-3","attr-4","attr-5","attr-6",'
    b'"attr-7","attr-8","attr-9","attr-10","attr-11","attr-12"],"params":{"header":"true",'
    b'"inferschema":"true","path":""},"extra":{"sourceType":"csv"}}],"other":[{"id":"op-4","name":'
    b'"Join","params":{"joinType":"INNER","hint":"","condition":{"__exprId":"expr-0"}}},{"id":"op-3"'
    b',"name":"Aggregate","params":{"groupingExpressions":[{"__attrId":"attr-0"}],'
    b'"aggregateExpressions":[{"__exprId":"expr-1"}]}},{"id":"op-2","name":"Filter","childIds":'
    b'["op-3"],"params":{"condition":{"__exprId":"expr-7"}}},{"id":"op-1","name":"Project",'
    b'"childIds":["op-2"],"params":{"projectList":[{"__attrId":"attr-0"},{"__attrId":"attr-1"},'
    b'{"__exprId":"expr-0"}]}}]},"attributes":[{"id":"attr-0","dataType":"","name":"id"},{"id":'
    b'"attr-1","dataType":"","childRefs":[{"__exprId":"expr-1"}],"name":""}],"expressions":'
    b'{"functions":[{"id":"expr-1","dataType":"","childRefs":[{"__attrId":"attr-1"},{"__exprId":'
    b'"expr-2"}],"extra":{"simpleClassName":"Cast","_typeHint":"expr.Generic"},"name":"cast",'
    b'"params":{"evalMode":"LEGACY","timeZoneId":"Etc/UTC","child":{}}},{"id":"expr-0","dataType":""'
    b',"childRefs":[{"__exprId":"expr-1"}],"extra":{"simpleClassName":"Alias","_typeHint":'
    b'"expr.Alias"},"name":"","params":{"name":"","nonInheritableMetadataKeys":["__dataset_id",'
    b'"__col_position"]}},{"extra":{"simpleClassName":"Add","_typeHint":"expr.Binary","symbol":"+"}}'
    b'],"constants":[{"id":"expr-2","dataType":"","extra":{"simpleClassName":"Literal","_typeHint":'
    b'"expr.Literal"},"value":0}]},"systemInfo":{"name":"spark","version":"3.5."},"agentInfo":{"name'
    b'":"spline","version":"2.2.0"},"extraInfo":{"appName":"","dataTypes":[{"id":"","name":"string",'
    b'"nullable":true,"_typeHint":"dt.Simple"},{"id":"","fields":[{"name":"","dataTypeId":""}],'
    b'"nullable":true,"_typeHint":"dt.Struct"},{"id":"","elementDataTypeId":"","nullable":false,'
    b'"_typeHint":"dt.Array"}]}}'
)
_FACETS: Final = (
    b'"nominalTime":{"nominalStartTime":"","nominalEndTime":"","errorMessage":{"message":"",'
    b'"programmingLanguage":"python","stackTrace":"","externalQuery":{"externalQueryId":"","source":'
    b'"","ownership":{"owners":[{"name":"","type":"MAINTAINER"}]},"documentation":{"description":"",'
    b'"contentType":"text/markdown"},"tags":{"tags":[{"key":"","value":"","source":"USER","field":""'
    b'}]},"sourceCode":{"language":"","sourceCode":""},"sourceCodeLocation":{"type":"git","url":'
    b'"https://github.com/","repoUrl":"","path":"","version":"","branch":"main"},"airflow":{"dag":{'
    b'"dag_id":"","owner":"","schedule_interval":"","start_date":""},"dagRun":{"run_id":"",'
    b'"run_type":"scheduled","data_interval_start":"","data_interval_end":"","external_trigger":'
    b'false},"task":{"task_id":"","operator_class":"","trigger_rule":"all_success","retries":0},'
    b'"taskInstance":{"try_number":1},"taskUuid":""},"dbt_version":{"version":"1."},"dbt_run":{'
    b'"invocation_id":"","profile_name":"","project_name":""},"spark_version":{"spark-version":"3.5.'
    b'","openlineage-spark-version":"1."},"spark_properties":{"properties":{"spark.master":"",'
    b'"spark.app.name":""}},"spark_applicationDetails":{"master":"local[*]","appName":"",'
    b'"applicationId":"","deployMode":"client","driverHost":"","userName":"","uiWebUrl":"http://"},'
    b'"environment-properties":{"environment-properties":{}},"spark.logicalPlan":{"plan":[{"class":'
    b'"org.apache.spark.sql.catalyst.plans.logical.","num-children":1}]},"gcp_lineage":{},'
    b'"datasetVersion":{"datasetVersion":""},"lifecycleStateChange":{"lifecycleStateChange":'
    b'"OVERWRITE","CREATE","ALTER","DROP","TRUNCATE","RENAME","previousIdentifier":{"name":"",'
    b'"namespace":""}},"storage":{"storageLayer":"delta","fileFormat":"parquet"},"catalog":{'
    b'"framework":"hive","type":"hive","name":"default","metadataUri":"","warehouseUri":""},'
    b'"symlinks":{"identifiers":[{"namespace":"","name":"","type":"TABLE"}]},"dataQualityMetrics":{'
    b'"rowCount":0,"bytes":0,"fileCount":0,"columnMetrics":{"":{"nullCount":0,"distinctCount":0,'
    b'"min":0,"max":0,"sum":0,"count":0,"quantiles":{}}}},"dataQualityAssertions":{"assertions":[{'
    b'"assertion":"not_null","success":true,"column":"","severity":"error"}]},"inputStatistics":{'
    b'"rowCount":0,"size":0,"fileCount":0},"type":"varchar"},"type":"char("type":"binary"},"type":'
    b'"decimal(38,18)"},"type":"decimal(18,2)"},"type":"struct","fields":[{"name":"","type":"array",'
    b'"type":"map","type":"float"},"type":"double"},"type":"boolean"},"type":"date"},"type":'
    b'"timestamp"},"type":"bigint"},"type":"long"},"type":"integer"},'
)
_SCHEMAS: Final = b"".join(
    b'"_schemaURL":"https://openlineage.io/spec/facets/%b/%b.json#/$defs/%b",'
    % (version, facet, facet)
    for facet, version in (
        (b"NominalTimeRunFacet", b"1-0-1"),
        (b"ErrorMessageRunFacet", b"1-0-1"),
        (b"ExternalQueryRunFacet", b"1-0-2"),
        (b"SourceCodeJobFacet", b"1-0-1"),
        (b"SourceCodeLocationJobFacet", b"1-0-1"),
        (b"OwnershipJobFacet", b"1-0-1"),
        (b"DocumentationJobFacet", b"1-0-1"),
        (b"TagsJobFacet", b"1-0-0"),
        (b"LifecycleStateChangeDatasetFacet", b"1-0-1"),
        (b"DatasetVersionDatasetFacet", b"1-0-1"),
        (b"StorageDatasetFacet", b"1-0-1"),
        (b"CatalogDatasetFacet", b"1-0-0"),
        (b"DataQualityAssertionsDatasetFacet", b"1-0-1"),
        (b"DataQualityMetricsInputDatasetFacet", b"1-0-2"),
        (b"InputStatisticsInputDatasetFacet", b"1-0-0"),
        (b"SymlinksDatasetFacet", b"1-0-1"),
    )
)
_PRODUCER: Final = b'"_producer":"https://github.com/OpenLineage/OpenLineage/tree/1.'
_FACET: Final = b'","_schemaURL":"https://openlineage.io/spec/facets/'
_EVENT: Final = b"".join(
    (
        b'"https://github.com/OpenLineage/OpenLineage/tree/1./integration/airflow","https://github.com'
        b'/OpenLineage/OpenLineage/tree/1./integration/dbt","https://github.com/OpenLineage/'
        b'OpenLineage/tree/1./client/python","https://github.com/apache/airflow/tree/providers-'
        b'openlineage/2.","https://github.com/OpenLineage/OpenLineage/tree/1./integration/spark",'
        b'"run":{"runId":"","facets":{"parent":{',
        _PRODUCER, _FACET, b'1-1-0/ParentRunFacet.json#/$defs/ParentRunFacet","run":{"runId":""},'
        b'"job":{"namespace":"default","name":""},"root":{"run":{"runId":""},"job":{"namespace":'
        b'"default","name":""}}},"processing_engine":{',
        _PRODUCER, _FACET, b'1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet",'
        b'"version":"3.5.1","name":"spark","openlineageAdapterVersion":"1."}}},"job":{"namespace":'
        b'"default","name":"","facets":{"jobType":{',
        _PRODUCER, _FACET, b'2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet","processingType":'
        b'"STREAMING","processingType":"BATCH","integration":"AIRFLOW","integration":"DBT",'
        b'"integration":"SPARK","jobType":"TASK"},"jobType":"APPLICATION"},"jobType":"SQL_JOB"},'
        b'"jobType":"JOB"},"sql":{',
        _PRODUCER, _FACET, b'1-1-0/SQLJobFacet.json#/$defs/SQLJobFacet","query":"INSERT INTO  '
        b'SELECT  FROM  JOIN  ON  WHERE  GROUP BY ","dialect":"spark"}}},"inputs":[],"outputs":[]}'
        b'"inputs":[{"namespace":"s3://","name":"","facets":{"dataSource":{',
        _PRODUCER, _FACET, b'1-0-1/DatasourceDatasetFacet.json#/$defs/DatasourceDatasetFacet",'
        b'"name":"file","uri":"file"},"schema":{',
        _PRODUCER, _FACET, b'1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet","fields":[{'
        b'"name":"id","type":"integer"},{"name":"","type":"string","description":"","fields":[]}]},'
        b'"columnLineage":{',
        _PRODUCER, _FACET, b'1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet'
        b'","fields":{"":{"inputFields":[{"namespace":"file","name":"","field":"","transformations":[{'
        b'"type":"INDIRECT","subtype":"JOIN","FILTER","GROUP_BY","SORT","WINDOW","CONDITIONAL",'
        b'"AGGREGATION","type":"DIRECT","subtype":"TRANSFORMATION","description":"","masking":false}]'
        b'},{"namespace":"s3://","name":"","field":"id","transformations":[{"type":"DIRECT","subtype":'
        b'"IDENTITY"}]}]},"dataset":[]}},"inputFacets":{},"outputFacets":{"outputStatistics":{',
        _PRODUCER, _FACET, b'1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/'
        b'OutputStatisticsOutputDatasetFacet","rowCount":1000,"size":1000,"fileCount":1}}}]}'
        b'{"eventTime":"2026-01-01T00:00:00.000Z","producer":"https://github.com/OpenLineage/'
        b'OpenLineage/tree/1.","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/'
        b'RunEvent","eventType":"RUNNING","eventType":"COMPLETE","eventType":"START","eventTime":'
        b'"2026-01-01T00:00:00.000Z","run":{"runId":"',
    )
)  # fmt: skip

VOCABULARIES: Final[tuple[bytes, ...]] = (_SPLINE + _FACETS + _SCHEMAS + _EVENT,)

NUMBERS: Final = (0x2E0093A7,)
"""The numbers that they had when bodies were first packed against them."""

BY_NUMBER: Final[Mapping[int, bytes]] = {
    zlib.adler32(vocabulary): vocabulary for vocabulary in VOCABULARIES
}
"""Each by the number that a packed body names it by."""


def check_vocabularies() -> None:
    """Raises ConfigurationError if a vocabulary of this installation has changed.

    It could not read the earlier bodies, and no other installation could read its new ones.
    """
    if tuple(BY_NUMBER) != NUMBERS:
        raise ConfigurationError(
            f"{__file__} is damaged: nearly every body of the journal is packed against it."
            " Install Headwater again; the journal is as it was"
        )


# --- packing -------------------------------------------------------------------------------------

_LEVEL: Final = 6
_PACKER: Final = zlib.compressobj(_LEVEL, zdict=VOCABULARIES[-1])
"""Has taken in the vocabulary, and is copied for each body: to take it in costs as much as to pack
a small one."""
_NAMES_A_VOCABULARY: Final = 0x20  # a bit of the second byte; the number stands in the next four


def pack(body: bytes) -> bytes:
    """The body as the journal stores it: zlib, against the newest vocabulary."""
    packer = _PACKER.copy()
    return packer.compress(body) + packer.flush()


def unpack(packed: bytes) -> bytes:
    """The original body, by its vocabulary or without one, as it was packed.

    Raises ValueError if the stored bytes are damaged, or need an unknown vocabulary.
    """
    unpacker = zlib.decompressobj(zdict=_vocabulary(packed))
    try:
        body = unpacker.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"cannot be inflated: {error}") from error
    if not unpacker.eof:
        raise ValueError("cannot be inflated: it is cut off")
    return body


def read_body(packed: bytes | None, kind: str, api_version: str, expected: str) -> Body:
    """The body as it was written, compared with its document's content hash.

    ``packed`` is None if nothing is stored. zlib's own checksum finds nearly every change; the hash
    also finds a whole body in the place of another one.
    """
    if packed is None:
        return Body(b"", "is missing")
    try:
        body = unpack(packed)
    except ValueError as error:
        return Body(b"", str(error))
    if content_hash(kind, api_version, body) != expected:
        return Body(b"", "has another content hash than its document")
    return Body(body)


def _vocabulary(packed: bytes) -> bytes:
    """The vocabulary that a packed body names, b"" for none."""
    if len(packed) < 6 or not packed[1] & _NAMES_A_VOCABULARY:
        return b""
    number = int.from_bytes(packed[2:6], "big")
    if number not in BY_NUMBER:
        raise ValueError(f"cannot be inflated: it needs vocabulary {number:08x}")
    return BY_NUMBER[number]
