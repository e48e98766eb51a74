"""The faults that can be put into the product, a draw of them, and their planting.

A planted fault is an expression with a switch, ``a < b`` => ``(a >= b if active(7) else a < b)``,
so one tree holds all of them and a process has one on.
"""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PRODUCT: Final = ("api", "aws", "collectors", "graph_model", "pipeline", "spark_agent_config")
SWITCH: Final = "planted_faults"

_TURNED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_SHIFTED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_ESCAPES: Final = ("escape", "quote", "mask", "redact", "shorten")
_SAYING: Final = ("log", "warn", "print", "debug", "info", "echo")
#: Three locks among sixty: most tests have one thread.
_TURN: Final = (
    *("comparison turned round", "step left out", "bound off by one", "and becomes or") * 3,
    *("negation left out", "limit off by one", "escape left out") * 2,
    *("comparison turned round", "lock left out"),
)
_WITHOUT_CODE: Final = (ast.JoinedStr, ast.match_case, ast.Assert)


@dataclass(frozen=True)
class Fault:
    """One change of the product. ``nth`` tells equal texts of one function and kind apart."""

    path: str
    function: str
    kind: str
    before: str
    nth: int
    line: int

    @property
    def room(self) -> str:
        """Its package, of the two upper levels: ``graph_model/lineage``, ``aws``."""
        return "/".join(self.path.split("/")[:-1][:2])

    @property
    def place(self) -> tuple[str, str, str, int]:
        """What finds it again in another commit, whatever the file and line."""
        return self.function, self.kind, self.before, self.nth


Rewriting = Callable[[ast.expr], ast.expr]


def faults_of(root: Path) -> list[Fault]:
    """Every fault that could be planted in the product below ``root``, in order of path."""
    listed: list[Fault] = []
    for top in PRODUCT:
        for path in sorted((root / top).rglob("*.py")):
            listed += faults_in(path.read_text("utf-8"), path.relative_to(root).as_posix())
    return listed


def faults_in(source: str, path: str) -> list[Fault]:
    return [fault for fault, _ in _sites(ast.parse(source), path)]


def draw(faults: Sequence[Fault], seed: int, count: int, kept: Sequence[Fault] = ()) -> list[Fault]:
    """Kinds in turn; of a kind, from the rooms from which least was drawn for their size.

    ``kept`` are of an earlier draw of as many: they stay, and what is missing beside them is drawn.
    """
    choice = random.Random(seed)
    by_kind: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_kind[fault.kind].append(fault)
    sizes = Counter(fault.room for fault in faults)
    chosen, drawn = list(kept), Counter(fault.room for fault in kept)
    turn = [_TURN[number % len(_TURN)] for number in range(count)]
    missing = Counter(turn) - Counter(fault.kind for fault in kept)
    for kind in turn:
        if missing[kind] == 0:
            continue
        missing[kind] -= 1
        left = [fault for fault in by_kind[kind] if fault not in chosen]
        least = min(drawn[fault.room] / sizes[fault.room] for fault in left)
        rooms = sorted({each.room for each in left if drawn[each.room] / sizes[each.room] == least})
        room = choice.choice(rooms)
        chosen.append(choice.choice([fault for fault in left if fault.room == room]))
        drawn[room] += 1
    return chosen


def plant(root: Path, faults: Mapping[int, Fault]) -> list[int]:
    """Write the switches into the product below ``root``; the numbers whose place has gone."""
    present = present_of(root, faults)
    by_path = defaultdict[str, dict[int, Fault]](dict)
    for number, fault in present.items():
        by_path[fault.path][number] = fault
    for path, planted in by_path.items():
        source = (root / path).read_text("utf-8")
        (root / path).write_text(with_switches(source, path, planted), "utf-8")
    return [number for number in faults if number not in present]


def present_of(root: Path, faults: Mapping[int, Fault]) -> dict[int, Fault]:
    """Where these faults are below ``root`` today; without those whose place has gone."""
    listed = faults_of(root)
    present = {}
    for number, fault in faults.items():
        same = [each for each in listed if each.place == fault.place]
        if same:
            present[number] = next((each for each in same if each.path == fault.path), same[0])
    return present


def with_switches(source: str, path: str, faults: Mapping[int, Fault]) -> str:
    """The module's text with a switch at each fault; comments do not survive."""
    tree = ast.parse(source)
    numbers = {fault: number for number, fault in faults.items()}
    replaced: dict[ast.AST, ast.AST] = {}
    for fault, node in _sites(tree, path):
        if fault in numbers:
            replaced[node] = _switched(node, fault.kind, numbers[fault])
    changed: ast.Module = _Replacing(replaced).visit(tree)  # type: ignore[assignment]
    after = next(
        (place for place, node in enumerate(changed.body) if not _is_heading(node)),
        len(changed.body),
    )
    name = f"from {SWITCH} import active as _active_fault"
    changed.body[after:after] = ast.parse(name).body
    return ast.unparse(ast.fix_missing_locations(changed))


# --- what can be wrong ---------------------------------------------------------------------------


def _sites(tree: ast.Module, path: str) -> Iterator[tuple[Fault, ast.AST]]:
    counted = Counter[tuple[str, str, str]]()
    limits = _limits(tree)
    for function, node in _in_functions(tree, ""):
        for kind in _kinds(node, limits):
            text = ast.unparse(node)
            nth = counted[function, kind, text]
            counted[function, kind, text] += 1
            yield Fault(path, function, kind, text, nth, getattr(node, "lineno", 0)), node


def _in_functions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _WITHOUT_CODE):
            continue
        match child:
            case ast.FunctionDef():
                yield from _expressions(ast.Module(child.body, []), f"{name}{child.name}")
            case ast.ClassDef():
                yield from _in_functions(ast.Module(child.body, []), f"{name}{child.name}.")
            case _ if not name:
                yield from _in_functions(child, name)


def _expressions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _WITHOUT_CODE):
            continue
        if isinstance(child, ast.AnnAssign):
            if child.value is not None:
                yield from _expressions(ast.Module([ast.Expr(child.value)], []), name)
            continue
        yield name, child
        yield from _expressions(child, name)


def _limits(tree: ast.Module) -> frozenset[str]:
    """Names of the module's own whole numbers: ``MOST_NODES: Final = 500``."""
    names = set()
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            value = statement.value
            if isinstance(value, ast.Constant) and type(value.value) is int:
                names.add(statement.target.id)
    return frozenset(names)


def _kinds(node: ast.AST, limits: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[operator], comparators=[right]):
            if isinstance(right, ast.Name) and right.id in limits:
                yield "limit off by one"
            if type(operator) in _TURNED:
                yield "comparison turned round"
            if type(operator) in _SHIFTED and "monotonic" not in ast.unparse(node):
                yield "bound off by one"  # two readings of a clock are never equal
        case ast.BoolOp(op=ast.And()):
            yield "and becomes or"
        case ast.UnaryOp(op=ast.Not()):
            yield "negation left out"
        case ast.withitem(context_expr=held, optional_vars=None) if "lock" in ast.unparse(held):
            yield "lock left out"
        case ast.Expr(value=ast.Call(func=called)) if not _only_says(ast.unparse(called)):
            yield "step left out"
        case ast.Call(func=called, args=[_, *_]) if _escapes(ast.unparse(called)):
            yield "escape left out"


def _only_says(called: str) -> bool:
    return any(word in called.lower() for word in _SAYING)


def _escapes(called: str) -> bool:
    return any(word in called.split(".")[-1].lower() for word in _ESCAPES)


def _switched(node: ast.AST, kind: str, number: int) -> ast.AST:
    switch = ast.parse(f"_active_fault({number})", mode="eval").body
    match node:
        case ast.Expr():
            return ast.If(ast.UnaryOp(ast.Not(), switch), [node], [])
        case ast.withitem():
            nothing = ast.parse("__import__('contextlib').nullcontext()", mode="eval").body
            return ast.withitem(ast.IfExp(switch, nothing, node.context_expr), None)
        case ast.expr():
            return ast.IfExp(switch, _wrong(node, kind), node)
    raise AssertionError(kind)


def _wrong(node: ast.expr, kind: str) -> ast.expr:
    match node:
        case ast.Compare(ops=[operator]):
            if kind == "limit off by one":
                higher = ast.BinOp(node.comparators[0], ast.Add(), ast.Constant(1))
                return ast.Compare(node.left, [operator], [higher])
            table = _TURNED if kind == "comparison turned round" else _SHIFTED
            return ast.Compare(node.left, [table[type(operator)]()], node.comparators)
        case ast.BoolOp():
            return ast.BoolOp(ast.Or(), node.values)
        case ast.UnaryOp():
            return node.operand
        case ast.Call():
            return node.args[0]
    raise AssertionError(kind)


class _Replacing(ast.NodeTransformer):
    def __init__(self, replaced: Mapping[ast.AST, ast.AST]) -> None:
        self._replaced = replaced

    def visit(self, node: ast.AST) -> ast.AST:
        visited = super().generic_visit(node)
        new = self._replaced.get(node)
        return visited if new is None else new


def _is_heading(node: ast.stmt) -> bool:
    """The docstring and ``from __future__``: nothing may stand before them."""
    return isinstance(node, ast.Expr) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )
