"""The part of jinja2 that a prompt template may use, and the proof that rendering one ends. Pure.

Templates come from people who try out wording, so they are treated as data: they print values, choose between texts, walk over a
list that they are given and include one another. No calls, macros, assignments or arithmetic that grows; so no template reads a
file, imports a module or runs for ever. Source: spec/06 "Prompt bundles"; decision 0076.
"""

from collections.abc import Iterator, Mapping

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_TEMPLATE_BYTES = 32_768
MAX_TEMPLATES = 200
MAX_EXPANDED_BYTES = 262_144  # of one template with all that it includes
MAX_RENDERED = 4_000_000  # characters of one rendered text
UNKNOWN = "unknown_"  # names that begin so are never given: `unknown_code[code]` says that there is no text for a code
MAX_DEPTH = 60  # of what stands inside what
MAX_NAMES = 50  # in one expression: each may stand for a long text
MAX_SEPARATOR = 20  # characters of what `join` puts between

_FILTERS = frozenset({"join", "length", "upper", "lower", "title", "trim", "first", "last", "default", "tojson"})
_TESTS = frozenset({"defined", "none", "string", "number", "eq", "equalto", "even", "odd", "in"})
_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.Tuple,
    nodes.List,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Filter,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.CondExpr,
    nodes.Concat,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Add,
    nodes.Sub,
    nodes.If,
    nodes.For,
    nodes.Include,
)


class TooLong(Exception):
    """A rendered text passed MAX_RENDERED."""


def environment(sources: Mapping[str, str]) -> jinja2.Environment:
    """`sources`: path -> template text. Nothing outside them can be reached."""
    made = ImmutableSandboxedEnvironment(
        loader=jinja2.DictLoader(sources),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # plain text for a model, not markup
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    made.globals.clear()
    return made


def render(template: jinja2.Template, values: Mapping[str, object]) -> str:
    """Raises: UndefinedError for a value that nobody gave, TooLong."""
    pieces: list[str] = []
    room = MAX_RENDERED
    for piece in template.generate(**values):
        room -= len(piece)
        if room < 0:
            raise TooLong(f"{template.name} rendered more than {MAX_RENDERED} characters")
        pieces.append(piece)
    return "".join(pieces)


def problems(sources: Mapping[str, str]) -> tuple[str, ...]:
    """What keeps these templates from being used, each as "path:line: what"; () when nothing does."""
    found: list[str] = []
    parsed: dict[str, nodes.Template] = {}
    if len(sources) > MAX_TEMPLATES:
        found.append(f"{len(sources)} templates; at most {MAX_TEMPLATES} are allowed")
    for path, source in sources.items():
        if len(source.encode()) > MAX_TEMPLATE_BYTES:
            found.append(f"{path}:1: is larger than {MAX_TEMPLATE_BYTES} bytes")
            continue
        try:
            parsed[path] = environment({}).parse(source)
        except jinja2.TemplateSyntaxError as error:
            found.append(f"{path}:{error.lineno}: {error.message}")
        except RecursionError:
            found.append(f"{path}:1: is nested too deeply")
    for path, tree in parsed.items():
        found += (f"{path}:{line}: {what}" for line, what in _faults(tree, loops=(), known=sources, depth=0))
    if not found:
        found += _endless(sources, {path: _includes(tree) for path, tree in parsed.items()})
    return tuple(dict.fromkeys(found))


def _faults(
    node: nodes.Node, *, loops: tuple[str, ...], known: Mapping[str, str], depth: int
) -> Iterator[tuple[int, str]]:
    """`loops`: names of the loops' variables around it, the innermost last."""
    if depth > MAX_DEPTH:
        yield node.lineno, "is nested too deeply"
        return
    if not isinstance(node, _ALLOWED):
        yield node.lineno, f"{type(node).__name__.lower()} is not part of the template language"
        return
    match node:
        case nodes.Filter(name=name) if name not in _FILTERS:
            yield node.lineno, f"the filter {name} is not allowed; there are {', '.join(sorted(_FILTERS))}"
        case nodes.Filter(name="join") if not _is_plain_join(node):
            yield (
                node.lineno,
                f"join takes a value as it is given and a separator in quotation marks, at most {MAX_SEPARATOR} characters",
            )
        case nodes.Test(name=name) if name not in _TESTS:
            yield node.lineno, f"the test {name} is not allowed; there are {', '.join(sorted(_TESTS))}"
        case nodes.Include(template=nodes.Const(value=str(name))) if not loops:
            if name not in known:
                yield node.lineno, f"includes {name}, which is not in this bundle"
        case nodes.Include():
            yield node.lineno, "an include names its template in quotation marks and stands outside loops"
        case nodes.Getattr(attr=attr) if attr.startswith("_"):
            yield node.lineno, f"{attr}: names that begin with _ are not allowed"
        case nodes.Output(nodes=parts) if any(_names(part) > MAX_NAMES for part in parts):
            yield node.lineno, f"uses more than {MAX_NAMES} values at once"
        case nodes.For():
            yield from _loop_faults(node, loops)
            loops = (*loops, node.target.name if isinstance(node.target, nodes.Name) else "")
        case _:
            pass
    for child in node.iter_child_nodes():
        yield from _faults(child, loops=loops, known=known, depth=depth + 1)


def _names(node: nodes.Node) -> int:
    """How many values an expression, however deep, refers to."""
    found, waiting = 0, [node]
    while waiting:
        one = waiting.pop()
        found += isinstance(one, nodes.Name)
        waiting.extend(one.iter_child_nodes())
    return found


def _is_plain_join(join: nodes.Filter) -> bool:
    """Joins of joins, or with a long text between, multiply lengths."""
    separators = [one.value if isinstance(one, nodes.Const) else None for one in join.args]
    return (
        join.node is not None
        and _root(join.node) is not None
        and not join.kwargs
        and len(separators) <= 1
        and all(isinstance(one, str) and len(one) <= MAX_SEPARATOR for one in separators)
    )


def _loop_faults(loop: nodes.For, loops: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    if loop.recursive or not isinstance(loop.target, nodes.Name) or _root(loop.iter) is None:
        yield loop.lineno, "a loop walks over one list that is given, with one variable"
    if loops and _root(loop.iter) != loops[-1]:  # else its rounds multiply
        yield loop.lineno, "a loop inside a loop walks over what the outer loop's variable holds"


def _root(node: nodes.Node) -> str | None:
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        node = node.node
    return node.name if isinstance(node, nodes.Name) else None


def _includes(tree: nodes.Template) -> list[str]:
    return [str(one.template.value) for one in tree.find_all(nodes.Include) if isinstance(one.template, nodes.Const)]


def wanted(sources: Mapping[str, str], path: str) -> frozenset[str]:
    """Names of the values that a template and all that it includes ask for, also behind conditions, but for those of UNKNOWN.

    `sources` have no `problems`.
    """
    tree = environment({}).parse(sources[path])
    found = frozenset(name for name in meta.find_undeclared_variables(tree) if not name.startswith(UNKNOWN))
    return found.union(*(wanted(sources, name) for name in _includes(tree)))


def included(sources: Mapping[str, str], path: str) -> frozenset[str]:
    """Every template that this one includes, those that they include as well. `sources` have no `problems`."""
    direct = [name for name in _includes(environment({}).parse(sources[path])) if name in sources]
    return frozenset(direct).union(*(included(sources, name) for name in direct))


def _endless(sources: Mapping[str, str], includes: Mapping[str, list[str]]) -> Iterator[str]:
    sizes: dict[str, int] = {}

    def size(path: str, above: tuple[str, ...]) -> int | None:
        """With all that it includes; None: it includes itself."""
        if path in above:
            return None
        if path not in sizes:
            total = len(sources[path].encode())
            for name in includes[path]:
                inner = size(name, (*above, path))
                if inner is None:
                    return None
                total = min(total + inner, MAX_EXPANDED_BYTES + 1)
            sizes[path] = total
        return sizes[path]

    for path in sources:
        expanded = size(path, ())
        if expanded is None:
            yield f"{path}:1: includes itself"
        elif expanded > MAX_EXPANDED_BYTES:
            yield f"{path}:1: with all that it includes it is larger than {MAX_EXPANDED_BYTES} bytes"
