"""The folder of a rebuild's result: a local path, ``s3a://`` or any other path of Hadoop."""

from __future__ import annotations

from typing import Any, Final

from pyspark import RDD
from pyspark.sql import SparkSession

from graph_model.errors import ConfigurationError

_GZIP: Final = "org.apache.hadoop.io.compress.GzipCodec"
_NO_MARK: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"


class OutputFolder:
    """One folder. Hadoop's classes are reached through the session's own bridge to Java."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._root = root.rstrip("/")
        context: Any = spark.sparkContext
        self._java = context._jvm
        self._configuration = context._jsc.hadoopConfiguration()
        # An empty _SUCCESS among the files would be one more for Neptune's loader to read.
        self._configuration.set(_NO_MARK, "false")
        self._system = self._path().getFileSystem(self._configuration)
        self._system.setWriteChecksum(False)  # no .crc files, which would go to S3 with the rest

    def path(self, *parts: str) -> str:
        """``path("work", "facts") => "s3a://bucket/prefix/work/facts"``."""
        return "/".join((self._root, *parts))

    def check_empty(self) -> None:
        """Raises ConfigurationError for a folder that holds something: two rebuilds in one folder
        would be loaded as one graph.
        """
        if self._system.exists(self._path()) and self._system.listStatus(self._path()):
            raise ConfigurationError(f"{self._root} is not empty: name a fresh folder or prefix")

    def write_lines(self, lines: RDD[str], *parts: str) -> None:
        """One gzip file for each partition."""
        lines.saveAsTextFile(self.path(*parts), compressionCodecClass=_GZIP)

    def write_text(self, name: str, text: str) -> None:
        """One small file."""
        stream = self._system.create(self._path(name))
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def count_files(self, *parts: str) -> int:
        """How many files of lines there are."""
        found = self._system.listStatus(self._path(*parts))
        return sum(status.getPath().getName().endswith(".gz") for status in found)

    def remove(self, *parts: str) -> None:
        """A folder below, with all in it."""
        self._system.delete(self._path(*parts), True)

    def _path(self, *parts: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self.path(*parts))
