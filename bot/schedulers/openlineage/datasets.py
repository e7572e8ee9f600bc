"""Reads the datasets of an event: how they are called, their columns and amounts, what a column was made of. It knows no job."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask_name
from bot.schedulers.openlineage.heard import Uses
from bot.schedulers.openlineage.nodes import Facets, Node, Wrong

LONGEST = 400
MOST_DATASETS = 500
MOST_COLUMNS = 300
MOST_COLUMNS_IN_ALL = 2000
MOST_NAMES = 5


def read_uses(event: Node, ignored: list[str], after: tuple[str, ...] = ()) -> Uses:
    """The inputs and outputs of an event; a list that is none is told of and left out."""
    inputs: dict[str, Mapping[str, Any]] = {}
    described: dict[str, Mapping[str, Any]] = {}
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    room = MOST_COLUMNS_IN_ALL
    for dataset in _datasets(event, "inputs", ignored):
        facets = Facets(dataset, ignored)
        name = name_of(dataset)
        reads |= dict.fromkeys((name, *_other_names(facets)))
        columns = _columns(facets) if room > 0 else {}
        room -= len(columns.get("schema", ()))
        amounts = _amounts(Facets(dataset, ignored, "inputFacets"), "inputStatistics") or _amounts(
            facets, "inputStatistics"
        )
        inputs[name] = {**inputs.get(name, {}), **columns, **amounts}
    for dataset in _datasets(event, "outputs", ignored):
        facets = Facets(dataset, ignored)
        name = name_of(dataset)
        writes |= dict.fromkeys((name, *_other_names(facets)))
        reads |= dict.fromkeys(_sources_of_columns(facets))
        if columns := _columns(facets):
            described[name] = columns
    return Uses(inputs=inputs, reads=tuple(reads), writes=tuple(writes), described=described, after=after)


def read_dataset(dataset: Node, ignored: list[str]) -> tuple[str, Mapping[str, Any]]:
    """The dataset's name and what is told of it."""
    facets = Facets(dataset, ignored)
    version = facets.read("version", lambda facet: facet.text("datasetVersion", most=200), None)
    return name_of(dataset), _columns(facets) | ({"version": version} if version else {})


def name_of(dataset: Node) -> str:
    """Namespace and name as one: a dataset is told apart by both. What is too long keeps its beginning and a digest."""
    return _joined(dataset.need_name("namespace"), dataset.need_name("name"))


def _joined(namespace: str, name: str) -> str:
    whole = mask_name(f"{namespace.rstrip('/')}/{name.lstrip('/')}")
    if len(whole.encode("utf-8", "replace")) <= LONGEST:
        return whole
    return f"{whole[: LONGEST // 4]}~{hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _datasets(event: Node, name: str, ignored: list[str]) -> Iterator[Node]:
    """The datasets that have a name; the first that is none ends the list."""
    try:
        for dataset in event.nodes(name, most=MOST_DATASETS):
            name_of(dataset)
            yield dataset
    except Wrong as wrong:
        ignored.append(str(wrong))


def _columns(facets: Facets) -> dict[str, Any]:
    fields = facets.read("schema", _fields, None)
    return {"schema": fields} if fields else {}


def _fields(facet: Node) -> list[dict[str, str]]:
    columns = []
    for field in facet.nodes("fields", most=MOST_COLUMNS):
        name, kind = (clean((field.raw_text(part) or "")[:200]).strip() for part in ("name", "type"))
        if name:
            columns.append({"name": name, "type": kind} if kind else {"name": name})
    return columns


def _amounts(facets: Facets, name: str) -> dict[str, int]:
    nothing: dict[str, int | None] = {}
    told = facets.read(name, _statistics, nothing) or facets.read("dataQualityMetrics", _metrics, nothing)
    return {unit: amount for unit, amount in told.items() if amount is not None}


def _statistics(facet: Node) -> dict[str, int | None]:
    return {"rows": facet.count("rowCount"), "bytes": facet.count("size"), "files": facet.count("fileCount")}


def _metrics(facet: Node) -> dict[str, int | None]:
    return {"rows": facet.count("rowCount"), "bytes": facet.count("bytes")}


def _other_names(facets: Facets) -> tuple[str, ...]:
    """Other names of the same dataset, such as the table over a path."""

    def names(facet: Node) -> tuple[str, ...]:
        return tuple(name_of(one) for one in facet.nodes("identifiers", most=MOST_NAMES))

    return facets.read("symlinks", names, ())


def _sources_of_columns(facets: Facets) -> tuple[str, ...]:
    """The datasets that columns of an output were made of."""

    def names(facet: Node) -> tuple[str, ...]:
        found: dict[str, None] = {}
        fields = facet.node("fields")
        for name in list(fields.value)[:MOST_COLUMNS] if fields is not None else ():
            column = fields.need_node(name) if fields is not None else facet
            for source in column.nodes("inputFields", most=MOST_COLUMNS):
                found[name_of(source)] = None
        return tuple(found)[:MOST_DATASETS]

    return facets.read("columnLineage", names, ())
