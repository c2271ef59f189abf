"""The changes: a condition turned, a comparison shifted, a constant one off, a statement gone.

Texts and annotations stay unchanged.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OPERATORS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}
PAIRS = ("min", "max"), ("minimum", "maximum"), ("any", "all"), ("argmin", "argmax")
NAMES = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
SIDES = {"left": "right", "right": "left"}


class Change(NamedTuple):
    """A change: the module, the lines, a description, and the source of the changed module."""

    path: Path
    lines: range
    what: str
    source: str


def read_changes(path: Path) -> Iterator[Change]:
    """Yield every change to a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for lines, holder, field, index in _places(tree, range(1, 2), Counter()):
        value = getattr(holder, field)
        node = value if index is None else value[index]
        for other in _alternatives(node):
            _put(holder, field, index, other)
            what = f"{_line(node)}  ->  {_line(other)}"
            yield Change(path, lines, what, ast.unparse(tree))
            _put(holder, field, index, node)


def _put(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    """Put a node into a field of its holder."""
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node


def _line(node: ast.AST) -> str:
    """Return the first line of a node's source."""
    return ast.unparse(node).strip().split("\n")[0][:90]


def _places(node: ast.AST, lines: range, names: Counter) -> Iterator[tuple]:
    """Yield each part below a node that may change, with the lines of its statement."""
    if isinstance(node, ast.FunctionDef):
        names = Counter(
            found.arg if isinstance(found, ast.arg) else found.id
            for found in ast.walk(node)
            if isinstance(found, ast.arg)
            or (isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store))
        )
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_left(child):
                continue
            own = _header(child) if isinstance(child, ast.stmt) else lines
            # Code cannot run without a name's only assignment, so this would not measure tests.
            if not _is_only_assignment(child, names):
                yield own, node, field, index if isinstance(value, list) else None
            yield from _places(child, own, names)


def _header(statement: ast.stmt) -> range:
    """Return the lines of a statement, without its inner statements."""
    body = getattr(statement, "body", None)
    stop = body[0].lineno if body else statement.end_lineno + 1
    return range(statement.lineno, max(stop, statement.lineno + 1))


def _is_left(node: ast.AST) -> bool:
    """Return whether a node stays unchanged: texts, imports, and code for type checkers."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(decorator_list=[ast.Name(id="overload"), *_]):
            return True
    return False


def _is_only_assignment(node: ast.AST, names: Counter) -> bool:
    """Return whether a statement is a name's only assignment, or cannot be left out."""
    if isinstance(node, ast.AnnAssign):
        return True
    if not isinstance(node, ast.Assign):
        return False
    stored = [found.id for target in node.targets for found in _stored(target)]
    return any(names[name] < 2 for name in stored)


def _stored(target: ast.AST) -> list[ast.Name]:
    """Return the names that a target gives a value."""
    found = [node for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [name for name in found if isinstance(name.ctx, ast.Store)]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node with other fields."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _without(values: list) -> list[list]:
    """Return copies of a list, each without one of its members."""
    return [values[:index] + values[index + 1 :] for index in range(len(values))]


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that can replace a node."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=str(value)) if value in SIDES:
            yield ast.Constant(SIDES[value])
        case ast.UnaryOp():
            yield node.operand
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            yield from (_with(node, op=other()) for other in OPERATORS.get(type(node.op), ()))
        case ast.Compare(ops=[op]):
            yield from (_with(node, ops=[other()]) for other in OPERATORS[type(op)])
        case ast.Compare():
            for index, op in enumerate(node.ops):
                for other in OPERATORS[type(op)]:
                    yield _with(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.If() | ast.IfExp():
            yield from (_with(node, test=ast.Constant(value)) for value in (True, False))
        case ast.While():
            yield _with(node, test=ast.Constant(value=False))
        case ast.comprehension():
            yield from (_with(node, ifs=ifs) for ifs in _without(node.ifs))
        case ast.Slice():
            given = [name for name in ("lower", "upper", "step") if getattr(node, name)]
            yield from (_with(node, **{name: None}) for name in given)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield _with(node, func=ast.Name(NAMES[name]))
        case ast.Call(func=ast.Attribute(attr=name)) if name in NAMES:
            yield _with(node, func=_with(node.func, attr=NAMES[name]))
    match node:
        case ast.BoolOp():
            yield from (_with(node, values=values) for values in _without(node.values))
        case ast.Call():
            yield from (_with(node, keywords=keywords) for keywords in _without(node.keywords))
        case ast.Expr() | ast.AugAssign() | ast.Assign() | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Continue() | ast.Break():
            yield ast.Pass()
