"""The questions of the window of the graph's runs to every catalogue."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from graph_model.facts import ApplicationRow, ExecutionRow
from graph_model.stores.catalogue import Catalogue
from tests.contract.rows import a_job, an_execution


def rows(*told: tuple[str, str, str, int]) -> list[ExecutionRow]:
    return [an_execution(name, job=job, run=run, at=at) for name, job, run, at in told]


def test_the_newest_executions_of_a_job_are_chosen_by_time_and_id(catalogue: Catalogue) -> None:
    told = [("a", "j", "r1", 5), ("b", "j", "r2", 5), ("c", "j", "r1", 3), ("d", "k", "r9", 9)]
    catalogue.record(rows(*told))
    times = catalogue.times_of_runs({"j", "k", "none"}, 10)
    assert {job: sorted(found) for job, found in times.items()} == {
        "j": [("r1", 3), ("r1", 5), ("r2", 5)],
        "k": [("r9", 9)],
        "none": [],
    }
    assert catalogue.times_of_runs({"j"}, 1) == {"j": [("r2", 5)]}
    assert ids_of_runs(catalogue, {"j": {"r1"}}, 10) == {"j": ["a", "c"]}
    assert ids_of_runs(catalogue, {"j": {"r1", "r2"}, "k": {"r9"}}, 2) == {
        "j": ["b", "a"],
        "k": ["d"],
    }


def ids_of_runs(
    catalogue: Catalogue, runs: Mapping[str, Collection[str]], limit: int
) -> dict[str, list[str]]:
    found = catalogue.executions_of_runs(runs, limit)
    return {job: [row.id for row in rows] for job, rows in found.items()}


def test_the_newest_runs_of_more_jobs_than_a_statement_names(catalogue: Catalogue) -> None:
    jobs = [f"j{number:02d}" for number in range(45)]
    catalogue.record(rows(*((f"{job}-{at}", job, f"r{at}", at) for job in jobs for at in (1, 2))))
    assert catalogue.times_of_runs(jobs, 1) == {job: [("r2", 2)] for job in jobs}
    wanted = {job: ["r1", "r2"] for job in jobs}
    assert ids_of_runs(catalogue, wanted, 9) == {job: [f"{job}-2", f"{job}-1"] for job in jobs}


def test_executions_are_paged_by_time_and_id(catalogue: Catalogue) -> None:
    told = [("a", "j", "r", 5), ("b", "j", "r", 5), ("c", "j", "r", 3), ("d", "j", "r", 9)]
    catalogue.record(rows(*told))

    def ids(since: int, **options: object) -> list[str]:
        return [row.id for row in catalogue.executions_since(since, 10, **options)]  # type: ignore[arg-type]

    assert ids(-(1 << 62)) == ["c", "a", "b", "d"]
    assert ids(5, after="a") == ["b", "d"]
    assert ids(3, before=9) == ["c", "a", "b"]


def test_jobs_are_paged_by_id(catalogue: Catalogue) -> None:
    catalogue.record([a_job(name, "etl", name) for name in ("j3", "j1", "j2")])
    assert catalogue.job_ids("", 2) == ("j1", "j2")
    assert catalogue.job_ids("j2", 2) == ("j3",)


def test_executions_of_many_runs_are_the_newest_of_all_of_them(catalogue: Catalogue) -> None:
    catalogue.record(rows(*((f"e{at:02d}", "j", f"r{at:02d}", at) for at in range(50))))
    runs = {f"r{at:02d}" for at in range(45)}
    found = catalogue.executions_of_runs({"j": runs, "k": runs}, 30)
    assert [row.at for row in found["j"]] == [*range(44, 14, -1)]
    assert found["k"] == []


def test_the_newest_runs_of_a_job_reach_back_to_their_oldest_execution(
    catalogue: Catalogue,
) -> None:
    listed = [("a", "j", "r3", 9), ("b", "j", "r2", 8), ("c", "j", "r3", 7), ("d", "j", "r2", 6)]
    older = [("e", "j", "r1", 5), ("f", "j", "r1", 4), ("g", "k", "r3", 1)]
    catalogue.record(rows(*listed, *older))
    since = [catalogue.newest_runs_since("j", count, 100) for count in (1, 2, 3, 4)]
    assert since == [7, 6, 4, 4]
    assert catalogue.newest_runs_since("none", 1, 100) is None


def test_the_newest_runs_of_a_job_reach_no_further_than_a_number_of_executions(
    catalogue: Catalogue,
) -> None:
    catalogue.record(rows(*((f"e{at}", "j", "stream", at) for at in range(10, 20))))
    assert catalogue.newest_runs_since("j", 1, 10) == 10
    assert catalogue.newest_runs_since("j", 1, 4) == 16


def test_of_runs_that_ended_at_one_time_the_greater_id_is_the_newer(
    catalogue: Catalogue,
) -> None:
    ids = [f"run_{digit * 32}" for digit in "19af"]
    listed = [(f"e{place}", "j", run, 5) for place, run in enumerate(ids)]
    began = [(f"b{place}", "j", run, 1 + place) for place, run in enumerate(ids)]
    catalogue.record(rows(*listed, *began))
    since = [catalogue.newest_runs_since("j", count, 100) for count in (1, 2, 3, 4)]
    assert since == [4, 3, 2, 1]


def test_executions_that_do_not_name_their_application_are_of_its_run(
    catalogue: Catalogue,
) -> None:
    listed = [("a", "j", "app-run", 9), ("b", "j", "client-run", 8), ("c", "j", "r1", 7)]
    nameless = [row._replace(application_id="") for row in rows(*listed)]
    named = ApplicationRow("named", "client-run", "app-1", "app-run")
    catalogue.record([*nameless, named])
    assert [catalogue.newest_runs_since("j", count, 100) for count in (1, 2)] == [8, 7]
