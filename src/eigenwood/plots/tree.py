"""A tree from left to right: a box for each question and each leaf, a stream of rows to each answer.

                            ┌─────┐
    ┌──────────┐  ┌overcast─│ yes │       box       its colour says which class, and how surely; or how much
    │ outlook? │──┤         └─────┘       stream    as wide as the weight of the rows that take it
    └──────────┘  └rain─ …

Every end of the tree has a line of its own and every question stands between its answers, so that no two boxes of
one column are nearer than a line. Text runs across, so columns are as wide as their words and nothing is turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

import plotly.graph_objects as go

from eigenwood.estimators.rules import Branch, Rules, percent, written
from eigenwood.plots.style import ACCENT, INK, MUTED, PALETTE, styled

STREAM, PAPER, PALE = "#c3cec8", "#ffffff", "#f1f3f2"
LINE_HEIGHT, CURVE, PADDING, HIDDEN = 50, 44, 16, 8  # pixels; streams begin and end hidden under a box
TITLE_LETTER, NOTE_LETTER, ANSWER_LETTER = 8.0, 6.1, 7.2  # pixels of a letter, in the wider fonts
THINNEST, THICKEST = 1.5, 14.0  # streams, in pixels
LEAST_WIDTH = 420  # pixels
MOST_ENDS, MOST_DEPTH = 36, 8  # lines and columns of a figure whose depth is not given
MOST_ANSWERS = 25  # of one question; the lightest ones are put together
LONGEST_TITLE, LONGEST_ANSWER = 28, 24  # letters
STRONGEST = 0.62  # share of colour in a box: text stays readable on it
MOST_SHARES = 8  # classes in a hover


class Box(NamedTuple):
    """What is drawn of a branch."""

    above: int  # its box, -1 for the root
    depth: int
    answer: str  # on the way to it
    title: str
    note: str
    colour: str
    hover: str
    weight_share: float


def tree_figure(rules: Rules, max_depth: int | None = None) -> go.Figure:
    """Return a figure of a tree; what lies deeper than ``max_depth`` is only counted.

    Without it, the tree is drawn as deep as it can be seen at one glance.
    """
    depth = readable_depth(rules.branches) if max_depth is None else max_depth
    boxes = drawn_boxes(rules, depth)
    places = lines_of(boxes)
    lefts, rights, width = box_columns(boxes)
    shapes, words, notes = [], [], []
    for box, place in zip(boxes, places, strict=True):
        y = LINE_HEIGHT * (place + 0.5)
        notes.append(box_note(box, lefts[box.depth], y))
        if box.above >= 0:
            before, y_above = box.depth - 1, LINE_HEIGHT * (places[box.above] + 0.5)
            shapes.append(stream(box, (lefts[before], rights[before], y_above), (lefts[box.depth], y)))
            words.append(answer_note(box, rights[before] + CURVE, y))
    figure, height = go.Figure(layout={"shapes": shapes, "annotations": words + notes}), LINE_HEIGHT * (max(places) + 1)
    figure.update_xaxes(range=[0, width], visible=False)
    figure.update_yaxes(range=[height, 0], visible=False)
    margin = {"l": 10, "r": 10, "t": 34, "b": 10}  # above, room for Plotly's buttons
    return styled(figure, height=round(height) + 44).update_layout(
        width=max(round(width) + 20, LEAST_WIDTH), margin=margin, dragmode="pan"
    )


def readable_depth(branches: Sequence[Branch]) -> int:
    """Return the greatest depth at which the tree has few enough ends; 1 at least."""
    readable = 1
    for depth in range(2, MOST_DEPTH + 1):
        n_ends = sum(branch.depth == depth or (branch.depth < depth and branch.question is None) for branch in branches)
        readable = depth if n_ends <= MOST_ENDS else readable
    return readable


def drawn_boxes(rules: Rules, max_depth: int) -> list[Box]:
    """Return the boxes of a tree in preorder: of its branches, and of what is put together or cut off."""
    children: dict[int, list[int]] = {}
    for i, branch in enumerate(rules.branches):
        if branch.above >= 0:
            children.setdefault(branch.above, []).append(i)
    colours = box_colours(rules)
    boxes: list[Box] = []
    waiting: list[tuple] = [(0, -1)]
    while waiting:
        place, above = waiting.pop()
        if isinstance(place, list):
            boxes.append(joined_box(rules, place, above))
            continue
        branch = rules.branches[place]
        is_cut = branch.depth >= max_depth
        boxes.append(box_of(rules, branch, above, colours[place], is_cut))
        if branch.question is not None and not is_cut:
            answers, lighter = heaviest(rules, children[place])
            below = [*answers, lighter] if lighter else answers
            waiting += [(answer, len(boxes) - 1) for answer in reversed(below)]
    return boxes


def heaviest(rules: Rules, answers: list[int]) -> tuple[list, list]:
    """Return the answers to a question that are drawn, and the lighter ones if there are too many."""
    if len(answers) <= MOST_ANSWERS:
        return answers, []
    by_weight = sorted(answers, key=lambda i: -rules.branches[i].rule.weight_share)
    chosen = set(by_weight[: MOST_ANSWERS - 1])
    return [i for i in answers if i in chosen], [i for i in answers if i not in chosen]


def box_of(rules: Rules, branch: Branch, above: int, colour: str, is_cut: bool) -> Box:
    """Return the box of a branch."""
    rule = branch.rule
    if branch.question is None:
        title, note = rule.outcome(), rule.support()
    elif is_cut:
        title, note = f"… {branch.n_leaves:,} leaves", f"{rule.outcome()}: {rule.support()}"
    else:
        title, note = f"{branch.question}?", f"{rule.outcome()}: {rule.support()}"
    answer = "" if branch.answer is None else branch.answer.answer()
    return Box(above, branch.depth, answer, title, note, colour, hover_text(rules, branch), rule.weight_share)


def joined_box(rules: Rules, places: list[int], above: int) -> Box:
    """Return one box for the lighter answers to a question."""
    branches = [rules.branches[place] for place in places]
    n_leaves, n_rows = (
        sum(branch.n_leaves for branch in branches),
        sum(branch.rule.n_rows for branch in branches),
    )
    share = sum(branch.rule.weight_share for branch in branches)
    answer, title, note = f"{len(places):,} other answers", f"… {n_leaves:,} leaves", f"{n_rows:,} rows"
    hover = "<br>".join([f"<b>{answer}</b>", f"rows: {n_rows:,}", f"weight: {percent(share)}", f"leaves: {n_leaves:,}"])
    return Box(above, branches[0].depth, answer, title, note, PALE, hover, share)


def hover_text(rules: Rules, branch: Branch) -> str:
    """Return all that is known of a branch."""
    rule = branch.rule
    lines = [f"<b>{plain(str(condition))}</b>" for condition in rule.conditions] or ["<b>all rows</b>"]
    lines += [f"rows: {rule.n_rows:,}", f"weight: {percent(rule.weight_share)}"]
    lines += [f"{plain(label)}: {share}" for label, share in value_lines(rules, branch)]
    lines.append(f"{rules.measure}: {written(rule.impurity, 4)}")
    if branch.question is not None:
        lines.append(f"leaves below: {branch.n_leaves:,}")
    return "<br>".join(lines)


def value_lines(rules: Rules, branch: Branch) -> list[tuple[str, str]]:
    """Return the shares of the largest classes of each output, or the amounts."""
    if not rules.classes:
        names = ["amount"] if branch.value.size == 1 else [f"amount {o + 1}" for o in range(branch.value.size)]
        return [(name, written(value, 5)) for name, value in zip(names, branch.value, strict=True)]
    lines, first = [], 0
    for o, labels in enumerate(rules.classes):
        shares = branch.value[first : first + len(labels)]
        first += len(labels)
        prefix = "" if len(rules.classes) == 1 else f"output {o + 1}, "
        largest = sorted(range(len(labels)), key=lambda k, shares=shares: -shares[k])[:MOST_SHARES]  # type: ignore[misc]
        lines += [(prefix + labels[k], percent(float(shares[k]))) for k in largest if shares[k] > 0.0]
    return lines


def box_colours(rules: Rules) -> list[str]:
    """Return a colour for each branch: of its class, the paler the more mixed it is; or by its amount.

    With several outputs it says only how mixed a branch is.
    """
    branches = rules.branches
    impurities = [branch.rule.impurity for branch in branches]
    if len(rules.classes) > 1 or (not rules.classes and branches[0].value.size > 1):
        most = max(impurities) or 1.0
        return [blended(ACCENT, 1.0 - impurity / most) for impurity in impurities]
    if not rules.classes:
        amounts = [float(branch.value[0]) for branch in branches]
        low, high = min(amounts), max(amounts)
        return [blended(ACCENT, (amount - low) / ((high - low) or 1.0)) for amount in amounts]
    n_classes = max(2, len(rules.classes[0]))
    colours = []
    for branch in branches:
        majority = int(branch.value.argmax())
        sureness = (float(branch.value[majority]) - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
        colours.append(blended(PALETTE[majority % len(PALETTE)], 0.1 + 0.9 * sureness))
    return colours


def blended(colour: str, strength: float) -> str:
    """Return a colour on white paper.

    >>> blended("#000000", 0.0), blended("#000000", 1.0)
    ('#ffffff', '#616161')
    """
    share = STRONGEST * min(max(strength, 0.0), 1.0)
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in parts)


def lines_of(boxes: Sequence[Box]) -> list[float]:
    """Return the line of each box: ends one below the other, a question in the middle of its answers."""
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    places, n_ends = [0.0] * len(boxes), 0
    asked = {box.above for box in boxes}
    for i in range(len(boxes)):
        if i not in asked:
            places[i] = float(n_ends)
            n_ends += 1
    for i in range(len(boxes) - 1, -1, -1):  # answers before their question
        if i in asked:
            places[i] = 0.5 * (first[i] + last[i])
        above = boxes[i].above
        first[above] = places[i]
        last.setdefault(above, places[i])
    return places


def box_columns(boxes: Sequence[Box]) -> tuple[list[float], list[float], float]:
    """Return where the boxes of each depth begin and end, and the width of all."""
    lefts, rights, x = [], [], 0.0
    for depth in range(max(box.depth for box in boxes) + 1):
        own = [box for box in boxes if box.depth == depth]
        if depth > 0:
            x += CURVE + ANSWER_LETTER * max(length(shortened(box.answer, LONGEST_ANSWER)) for box in own) + PADDING
        lefts.append(x)
        x += PADDING + max(
            max(TITLE_LETTER * length(shortened(box.title, LONGEST_TITLE)), NOTE_LETTER * length(box.note))
            for box in own
        )
        rights.append(x)
    return lefts, rights, x


def stream(box: Box, start: tuple[float, float, float], end: tuple[float, float]) -> dict:
    """Return the way from a question, which stands between two x at some y, to an answer at x and y."""
    (left, right, y0), (x, y1) = start, end
    middle, bent = right + CURVE / 2, right + CURVE
    return {
        "type": "path",
        "path": f"M {left + HIDDEN:.1f},{y0:.1f} L {right:.1f},{y0:.1f} "
        f"C {middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {bent:.1f},{y1:.1f} L {x + HIDDEN:.1f},{y1:.1f}",
        "line": {"color": STREAM, "width": THINNEST + (THICKEST - THINNEST) * box.weight_share},
        "layer": "below",
    }


def answer_note(box: Box, x: float, y: float) -> dict:
    """Return the words on the way to a box."""
    text = shortened(box.answer, LONGEST_ANSWER)
    return {
        "x": x,
        "y": y,
        "text": plain(text),
        "hovertext": plain(box.answer) if text != box.answer else None,
        "font": {"size": 12, "color": INK},
        "bgcolor": PAPER,
        "borderpad": 2,
        "xanchor": "left",
        "showarrow": False,
    }


def box_note(box: Box, x: float, y: float) -> dict:
    """Return the box itself."""
    title = plain(shortened(box.title, LONGEST_TITLE))
    return {
        "x": x,
        "y": y,
        "text": f"<b>{title}</b><br><span style='font-size:11px'>{plain(box.note)}</span>",
        "hovertext": box.hover,
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": MUTED, "font": {"color": INK}},
        "font": {"size": 13, "color": INK},
        "align": "left",
        "bgcolor": box.colour,
        "bordercolor": MUTED,
        "borderpad": 5,
        "xanchor": "left",
        "showarrow": False,
    }


def plain(text: str) -> str:
    """Return a text that Plotly shows as it is."""
    return escape(text, quote=False)


def shortened(text: str, longest: int) -> str:
    """Return the beginning of a text that is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def length(text: str) -> int:
    """Return the width of a text in letters; Chinese characters are two wide."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
