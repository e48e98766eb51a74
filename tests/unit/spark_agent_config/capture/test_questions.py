"""Collections of the JVM are read to their end without an exception of the JVM."""

from __future__ import annotations

from collections.abc import Iterator

from spark_agent_config.capture.questions import entries, members, read_java_map


class JavaList(list[str]):
    """Told as py4j tells one: the end of an iterator is an exception of the JVM."""

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        raise AssertionError("java.util.NoSuchElementException")


class JavaMap(dict[str, int]):
    def items(self) -> Iterator[tuple[str, int]]:  # type: ignore[override]
        yield from super().items()
        raise AssertionError("java.util.NoSuchElementException")


def test_a_collection_is_read_as_far_as_it_goes() -> None:
    assert list(members(JavaList(["a", "b"]))) == ["a", "b"]
    assert list(members(JavaList())) == []


def test_a_map_is_read_as_far_as_it_goes() -> None:
    assert list(entries(JavaMap(one=1, two=2))) == [("one", 1), ("two", 2)]
    assert read_java_map(JavaMap(one=1)) == {"one": "1"}
    assert read_java_map(JavaMap()) == {}
