"""What the variables and cursors of a procedure hold, through branches, loops and handlers.

    IF x THEN FETCH c INTO v; ELSE FETCH d INTO v; END IF    v: unknown behind END IF
    v := 0; LOOP FETCH c INTO v; … END LOOP                  v: a row of c behind END LOOP

A constant is nothing beside rows of one query; rows of two queries, or of one and something that
nobody can tell, are unknown. A script is read once, from top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple


class HeldRow(NamedTuple):
    """What a variable holds: a row of the query of that number, or the value at a place of it."""

    query: int
    place: int | None = None


NOTHING: Final = HeldRow(0)
"""What a variable holds that nothing or a constant has filled."""

MOST_BRANCHES: Final = 200
"""One within another; nothing is known in deeper ones."""


_OF_ONE: Final = frozenset({"one IF", "one WHILE"})


class _Branch:
    def __init__(self, ending: str, rows: Iterable[str], *, certain: bool) -> None:
        self.ending = ending
        self.rows = frozenset(rows)
        self.certain = certain
        self.before: dict[str, HeldRow | None] = {}  # of what was filled within
        self.fresh: set[str] = set()  # filled since the last ELSE or WHEN
        self.ends: dict[str, set[HeldRow | None]] = {}  # what branches before this one left
        self.is_over = False  # the one statement behind IF x of T-SQL
        self.is_else = False


class Holdings(dict[str, HeldRow | None]):
    """By folded name; None where nobody can tell."""

    def __init__(self) -> None:
        super().__init__()
        self._branches: list[_Branch] = []
        self._beyond = 0

    @property
    def innermost(self) -> _Branch | None:
        return self._branches[-1] if self._branches else None

    @property
    def depth(self) -> int:
        return len(self._branches) + self._beyond

    def fill(self, name: str, row: HeldRow | None) -> None:
        branch = self.innermost
        if branch is not None:
            branch.before.setdefault(name, self.get(name, NOTHING))
            branch.fresh.add(name)
        self[name] = None if self._beyond and row != NOTHING else row

    def open(self, ending: str, rows: Iterable[str] = (), *, certain: bool = False) -> None:
        """A branch up to ``END ending``, a loop whose rows are ``rows``; a certain one runs."""
        if len(self._branches) >= MOST_BRANCHES:
            self._beyond += 1
            if self._beyond == 1:
                for name in list(self):
                    self.fill(name, None)
            return
        self._branches.append(_Branch(ending, rows, certain=certain))

    def end_statement(self) -> None:
        """The one statement that ``IF x`` of T-SQL guards may be over; ELSE may follow."""
        if (branch := self.innermost) is not None and branch.ending in _OF_ONE:
            branch.is_over = True

    def proceed(self, word: str) -> None:
        """The next statement begins with a word: what is over ends, or has another branch."""
        branch = self.innermost
        while branch is not None and branch.is_over and word != ";":
            if word == "ELSE" and branch.ending == "one IF" and not branch.is_else:
                branch.is_over, branch.is_else = False, True
                return
            self._close(keeps=False)
            self.end_statement()
            branch = self.innermost

    def other(self) -> None:
        """ELSE, WHEN: what variables held before the first branch."""
        if (branch := self.innermost) is None:
            return
        for name in branch.fresh:
            branch.ends.setdefault(name, set()).add(self[name])
            self[name] = branch.before[name]
        branch.fresh.clear()

    def handle(self) -> None:
        """EXCEPTION: what was filled in the block holds that, or what it held before."""
        if (branch := self.innermost) is None:
            return
        branch.certain = False
        for name in branch.fresh:
            branch.ends.setdefault(name, set()).add(self[name])
            self[name] = NOTHING
        branch.fresh.clear()

    def close(self, ending: str, *, keeps: bool = False) -> set[str]:
        """END: the names that were filled within; ``keeps``: a loop's variable has its last row."""
        names: set[str] = set()
        if self._beyond:
            self._beyond -= 1
        elif any(branch.ending == ending for branch in self._branches):
            closed = None
            while closed != ending:
                names |= self._branches[-1].before.keys()
                closed = self._close(keeps=keeps)
        return names

    def _close(self, *, keeps: bool) -> str:
        branch = self._branches.pop()
        for name, before in branch.before.items():
            ends = {*branch.ends.get(name, ()), self[name]}
            self[name] = before
            if name in branch.rows:
                self.fill(name, None if keeps and before != NOTHING else before)
            else:
                ends |= set() if branch.certain else {before}
                ends -= {NOTHING}
                self.fill(name, ends.pop() if len(ends) == 1 else None if ends else NOTHING)
        return branch.ending
