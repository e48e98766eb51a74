"""What the window of the graph's runs asks of every catalogue."""

from __future__ import annotations

from graph_model.facts import ApplicationRow, ExecutionRow
from graph_model.stores.catalogue import SqlCatalogue
from tests.contract.rows import a_job, an_execution


def rows(*told: tuple[str, str, str, int]) -> list[ExecutionRow]:
    return [an_execution(name, job=job, run=run, at=at) for name, job, run, at in told]


def test_the_runs_of_a_job_come_newest_first_and_equal_times_by_id(catalogue: SqlCatalogue) -> None:
    told = [("a", "j", "r1", 5), ("b", "j", "r2", 5), ("c", "j", "r1", 3), ("d", "k", "r9", 9)]
    catalogue.record(rows(*told))
    assert catalogue.times_of_runs("j", 10) == (("r2", 5), ("r1", 5), ("r1", 3))
    assert catalogue.times_of_runs("j", 1) == (("r2", 5),)
    assert [row.id for row in catalogue.executions_of_runs("j", {"r1"}, 10)] == ["a", "c"]
    assert [row.id for row in catalogue.executions_of_runs("j", {"r1", "r2"}, 2)] == ["b", "a"]


def test_executions_are_paged_by_time_and_id(catalogue: SqlCatalogue) -> None:
    told = [("a", "j", "r", 5), ("b", "j", "r", 5), ("c", "j", "r", 3), ("d", "j", "r", 9)]
    catalogue.record(rows(*told))

    def ids(since: int, **options: object) -> list[str]:
        return [row.id for row in catalogue.executions_since(since, 10, **options)]  # type: ignore[arg-type]

    assert ids(-(1 << 62)) == ["c", "a", "b", "d"]
    assert ids(5, after="a") == ["b", "d"]
    assert ids(3, before=9) == ["c", "a", "b"]


def test_jobs_are_paged_by_id(catalogue: SqlCatalogue) -> None:
    catalogue.record([a_job(name, "etl", name) for name in ("j3", "j1", "j2")])
    assert catalogue.job_ids("", 2) == ("j1", "j2")
    assert catalogue.job_ids("j2", 2) == ("j3",)


def test_executions_of_many_runs_are_the_newest_of_all_of_them(catalogue: SqlCatalogue) -> None:
    catalogue.record(rows(*((f"e{at:02d}", "j", f"r{at:02d}", at) for at in range(50))))
    runs = {f"r{at:02d}" for at in range(45)}
    assert [row.at for row in catalogue.executions_of_runs("j", runs, 30)] == [*range(44, 14, -1)]
    assert catalogue.executions_of_runs("k", runs, 30) == ()


def test_the_newest_runs_of_a_job_reach_back_to_their_oldest_execution(
    catalogue: SqlCatalogue,
) -> None:
    listed = [("a", "j", "r3", 9), ("b", "j", "r2", 8), ("c", "j", "r3", 7), ("d", "j", "r2", 6)]
    older = [("e", "j", "r1", 5), ("f", "j", "r1", 4), ("g", "k", "r3", 1)]
    catalogue.record(rows(*listed, *older))
    since = [catalogue.newest_runs_since("j", count, 100) for count in (1, 2, 3, 4)]
    assert since == [7, 6, 4, 4]
    assert catalogue.newest_runs_since("none", 1, 100) is None


def test_the_newest_runs_of_a_job_reach_no_further_than_a_number_of_executions(
    catalogue: SqlCatalogue,
) -> None:
    catalogue.record(rows(*((f"e{at}", "j", "stream", at) for at in range(10, 20))))
    assert catalogue.newest_runs_since("j", 1, 10) == 10
    assert catalogue.newest_runs_since("j", 1, 4) == 16


def test_of_runs_that_ended_at_one_time_the_greater_id_is_the_newer(
    catalogue: SqlCatalogue,
) -> None:
    ids = [f"run_{digit * 32}" for digit in "19af"]
    listed = [(f"e{place}", "j", run, 5) for place, run in enumerate(ids)]
    began = [(f"b{place}", "j", run, 1 + place) for place, run in enumerate(ids)]
    catalogue.record(rows(*listed, *began))
    since = [catalogue.newest_runs_since("j", count, 100) for count in (1, 2, 3, 4)]
    assert since == [4, 3, 2, 1]


def test_executions_that_do_not_name_their_application_are_of_its_run(
    catalogue: SqlCatalogue,
) -> None:
    listed = [("a", "j", "app-run", 9), ("b", "j", "client-run", 8), ("c", "j", "r1", 7)]
    nameless = [row._replace(application_id="") for row in rows(*listed)]
    named = ApplicationRow("named", "client-run", "app-1", "app-run")
    catalogue.record([*nameless, named])
    assert [catalogue.newest_runs_since("j", count, 100) for count in (1, 2)] == [8, 7]
