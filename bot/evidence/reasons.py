"""Says in one line what a difference is, in the words of the person who will look for it. It ranks nothing."""

import re
from collections.abc import Mapping
from typing import Any

from bot.evidence.amounts import count, size, span
from bot.evidence.differences import NOTHING, Difference
from bot.evidence.found import CHOSEN, Aspect, part, said, seconds
from bot.evidence.usual import Usual

_HEX = re.compile(r"(?:sha\d{1,3}:)?[0-9a-f]{12,128}")
_TAKEN = re.compile(r"(?:total_)?(?:duration|elapsed|run_?time|wall_?time)(?:_s|_ms|_seconds|_millis)?")
_UNIT = re.compile(r"_(?:s|ms|seconds|millis|milliseconds)$")
_DIGESTS = ("digest", "image_digest", "image_id", "image_sha")
SHORT_HASH = 7


def says(difference: Difference, aspect: Aspect) -> str:
    """Return what a chosen value is now, and what it was."""
    path, before, after = difference.path, difference.before, difference.after
    label = label_of(difference, aspect)
    if before is NOTHING:
        return f"{label} is new: {said(after, path, aspect)}"
    if after is NOTHING:
        return f"{label} is gone, it was {said(before, path, aspect)}"
    told = f"{label} {short(said(before, path, aspect))} -> {short(said(after, path, aspect))}"
    share = part(before, after)
    return f"{told}, {share}" if share else told


def says_code(difference: Difference, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what changed in the code, given all that is known of it."""
    leaf, old, new = difference.path[-1], difference.before, difference.after
    if len(difference.path) > 2 or not (isinstance(old, str) and isinstance(new, str)):
        return says(difference, Aspect.CODE)
    if leaf == "version":
        commits = _commits(old, before.get("commits"), after.get("commits"))
        told = f"code {short(old)} -> {short(new)}"
        return f"{told}, {commits} {'commit' if commits == 1 else 'commits'}" if commits else told
    if leaf == "image":
        tag, _, _ = old.partition("@")
        return f"image tag {tag} moved" if tag == new.partition("@")[0] else f"image {tag} -> {new.partition('@')[0]}"
    if leaf in _DIGESTS:
        image = after.get("image")
        if image is not None and image == before.get("image"):
            return f"image tag {str(image).partition('@')[0]} moved: {short(old)} -> {short(new)}"
        same = after.get("version") is not None and after.get("version") == before.get("version")
        return "what the command runs was edited" + (", though the commit is the same" if same else "")
    return says(difference, Aspect.CODE)


def says_number(difference: Difference, aspect: Aspect, of: str, usual: Usual | None) -> str:
    """Return a measured number beside what it was; `of` names what it counts where its own name does not."""
    leaf, before, after = difference.path[-1], difference.before, difference.after
    if aspect is Aspect.TIMING:
        return _says_timing(leaf, before, after, usual)
    told = size if leaf in ("bytes", "size") or leaf.endswith("_bytes") else count
    name = leaf.removesuffix("_bytes").replace("_", " ")
    start = f"{name}{of} {told(before)} -> {told(after)}"
    share = part(usual.middle if usual else before, after)
    start = f"{start}, {share}" if share else start
    return f"{start}; usually {_usually(usual, told)}" if usual else start


def short(text: str) -> str:
    """Return a hash as people name it, anything else as it is."""
    if not _HEX.fullmatch(text):
        return text
    kind, colon, digits = text.rpartition(":")
    return f"{kind}{colon}{digits[:SHORT_HASH]}"


def label_of(difference: Difference, aspect: Aspect) -> str:
    """Return what a chosen value is called."""
    first, *inner = difference.path
    if aspect is Aspect.ENV:
        return difference.path[-1]
    if aspect is Aspect.PARAMS:
        first = "param"
    return " ".join((first, ".".join(inner))).strip() if aspect in CHOSEN else ".".join(difference.path)


def _says_timing(leaf: str, before: float, after: float, usual: Usual | None) -> str:
    took = span(seconds(leaf, after))
    if usual is not None:
        rest = f"usually {_usually(usual, lambda value: span(seconds(leaf, value)))}"
    else:
        rest = f"the last good run {span(seconds(leaf, before))}"
    if not _TAKEN.fullmatch(leaf):
        return f"{_UNIT.sub('', leaf).replace('_', ' ')} {took}, {rest}"
    longer = after > (usual.middle if usual else before)
    return f"{'ran' if longer else 'failed after'} {took}, {rest}"


def _usually(usual: Usual, told: Any) -> str:
    around = f"\N{PLUS-MINUS SIGN} {told(usual.deviation)}, " if usual.deviation else ""
    return f"{told(usual.middle)} ({around}n = {usual.n})"


def _commits(version: str, before: Any, after: Any) -> int | None:
    """Return how many commits lie between, where the source lists its newest commits or counts them all."""
    if isinstance(before, int) and isinstance(after, int):
        return after - before if after > before else None
    if not isinstance(after, list) or len(version) < SHORT_HASH:
        return None
    for place, one in enumerate(after):
        told = one.get("id") or one.get("sha") or one.get("hash") if isinstance(one, Mapping) else one
        name = str(told).split(" ", 1)[0]
        if len(name) >= SHORT_HASH and (name.startswith(version) or version.startswith(name)):
            return place or None
    return None
