"""The kept structure stays within its bound."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from graph_model.lineage.structure import StructureCache

CAPACITY = 32


def test_the_bound_holds_whatever_the_values_weigh() -> None:
    cache: StructureCache[str, int] = StructureCache(CAPACITY, lambda value: value)
    for number in range(300):
        cache.keep({f"{number} {weight}": weight for weight in (1, 30, number)})
        kept = cache.find([f"{n} {w}" for n in range(number + 1) for w in {1, 30, n}])
        assert sum(kept.values()) <= CAPACITY


def test_the_least_recently_used_value_goes() -> None:
    cache: StructureCache[str, int] = StructureCache(2, lambda _: 1)
    cache.keep({"a": 1, "b": 2})
    assert cache.find(["a"]) == {"a": 1}
    cache.keep({"c": 3})
    assert cache.find(["a", "b", "c"]) == {"a": 1, "c": 3}


def test_a_value_heavier_than_the_cache_is_not_kept_and_drives_nothing_out() -> None:
    cache: StructureCache[str, str] = StructureCache(9, len)
    cache.keep({"a": "aaa", "b": "bbb", "c": "ccc"})
    assert cache.find(["a", "x"]) == {"a": "aaa"}
    cache.keep({"d": "dddd"})
    assert cache.find("abcd") == {"a": "aaa", "d": "dddd"}
    cache.keep({"e": "e" * 10})
    assert cache.find("abcde") == {"a": "aaa", "d": "dddd"}


def test_threads_that_ask_and_keep_at_once_stay_within_the_bound() -> None:
    cache: StructureCache[int, str] = StructureCache(50, len)

    def work(first: int) -> None:
        for number in range(first, first + 2_000):
            cache.keep({number % 97: "x" * (number % 7 + 1)})
            cache.find(range(97))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(0, 8_000, 2_000)))
    assert sum(map(len, cache.find(range(97)).values())) <= 50
