"""The winner: the figures and tables of each member, made of the plain numbers that its fit left in the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from eigenwood.estimators.rules import Branch, Rule, Rules
from eigenwood.plots.boundary import Panel, Scene, boundary_figure
from eigenwood.plots.contributions import summary_figure
from eigenwood.plots.pruning import pruning_figure
from eigenwood.plots.rounds import Rounds, rounds_figure
from eigenwood.plots.scores import Frame
from eigenwood.plots.tree import tree_figure
from eigenwood.report.task_report import Shown
from eigenwood.report.words import counted, decimal, is_stopped, method_words, parameter_words, percent
from eigenwood.runs.record import MemberRecord, Run

MOST_FIGURES_OF = 2  # members, the heaviest
PLANE = (560, 420)  # pixels, to put the two components on their scales


class Said(NamedTuple):
    """A condition that is only known in words."""

    words: str

    def answer(self) -> str:
        return self.words

    def __str__(self) -> str:
        return self.words


class MemberView(NamedTuple):
    """A member of the final model, as it is shown."""

    name: str
    weight: str
    params: str
    rounds: str
    facts: str  # what can be counted, in a sentence
    figures: dict[str, Shown]
    rules: list[Rule]
    n_rules: int


def member_views(run: Run) -> list[MemberView]:
    """Return the members, the heaviest first; figures only of the first ones."""
    members = sorted(run.recipe.members, key=lambda member: -member.weight)
    details = run.explanation.details.get("members", [{} for _ in members])
    return [
        member_view(member, own, place < MOST_FIGURES_OF)
        for place, (member, own) in enumerate(zip(members, details, strict=False))
    ]


def member_view(member: MemberRecord, details: dict[str, Any], has_figures: bool) -> MemberView:
    """Return one member."""
    told = details.get("rules", {})
    return MemberView(
        name=method_words(member.method),
        weight=f"{100 * member.weight:.0f} %",
        params=parameter_words(member.params),
        rounds="" if member.n_rounds is None else f"{member.n_rounds:,}",
        facts=facts_words(details),
        figures=member_figures(details) if has_figures else {},
        rules=[rule_of(entry) for entry in told.get("rules", [])] if has_figures else [],
        n_rules=told.get("n_rules", 0),
    )


def facts_words(details: dict[str, Any]) -> str:
    """Return what can be counted in a member, in sentences."""
    numbers, words = details.get("numbers", {}), list[str]()
    if "leaves" in numbers:
        leaves, depth = counted(numbers["leaves"], "leaf", "leaves"), counted(numbers["depth"], "question")
        words.append(f"A tree with {leaves}, {depth} deep at most.")
    if "trees" in numbers:
        words.append(f"{counted(numbers['trees'], 'tree')} vote.")
    if "rounds" in numbers:
        words.append(f"{counted(numbers['rounds'], 'round')} of boosting.")
    if "support vectors" in numbers:
        words.append(support_words(numbers))
    if "out_of_bag" in details:
        words.append(out_of_bag_words(details["out_of_bag"]))
    if is_stopped(details):
        words.append("Its fit was cut by the time limit.")
    return " ".join(words)


def support_words(numbers: dict[str, Any]) -> str:
    """Return what holds the boundary of a support vector machine up, and how near to the optimum it is."""
    vectors, rows = numbers["support vectors"], numbers["rows"]
    share = numbers["gap"] / numbers["primal"] if numbers["primal"] else 0.0
    return (
        f"{vectors:,} of {rows:,} training rows are support vectors ({percent(vectors / max(rows, 1))}), "
        f"{numbers['at bound']:,} of them inside the margin or wrong. "
        f"The fit is within {100 * share:.2g} % of the best one with this kernel (duality gap)."
    )


def out_of_bag_words(found: dict[str, Any]) -> str:
    """Return the out-of-bag score of a forest."""
    form = percent if found["is_classes"] else decimal
    low, high = found["interval"]
    name = "accuracy" if found["is_classes"] else "R²"
    ends = f"95 % interval {form(low)} to {form(high)}"
    return f"On rows that a tree had not seen (out of bag), {name} is {form(found['score'])}, {ends}."


def member_figures(details: dict[str, Any]) -> dict[str, Shown]:
    """Return the figures there are of a member."""
    found = {name: shown(details[key]) for name, (key, shown) in FIGURES.items() if key in details}
    return {name: figure for name, figure in found.items() if figure is not None}


# --- figures --------------------------------------------------------------------------------------


def tree_shown(found: dict[str, Any]) -> Shown:
    branches = tuple(branch_of(entry) for entry in found["branches"])
    classes = tuple(tuple(labels) for labels in found["classes"])
    figure = tree_figure(Rules((), branches, classes, found["measure"]), found["depth"])
    return Shown("The tree", "From the first question at the left to the answers at the right.", figure)


def branch_of(entry: dict[str, Any]) -> Branch:
    """Return a recorded branch as figures take it."""
    answer: Any = None if entry["answer"] is None else Said(entry["answer"])
    return Branch(
        entry["above"],
        entry["depth"],
        answer,
        entry["question"],
        entry["n_leaves"],
        rule_of(entry["rule"]),
        np.array(entry["value"]),
    )


def rule_of(entry: dict[str, Any]) -> Rule:
    """Return a recorded rule; its conditions are words."""
    conditions: Any = tuple(Said(words) for words in entry["conditions"])
    return Rule(
        0,
        conditions,
        entry["prediction"],
        entry["share"],
        entry["impurity"],
        entry["n_rows"],
        entry["weight_share"],
    )


def pruning_shown(found: dict[str, Any]) -> Shown:
    form = ".1%" if found["measure"] == "error" else ".4~g"
    title = f"{found['measure']} on rows left out"
    figure = pruning_figure(found["alphas"], found["n_leaves"], found["errors"], found["chosen"], title, form)
    return Shown("Pruning", "The error of every tree on the way from the whole one to a single leaf.", figure)


def errors_shown(found: dict[str, Any]) -> Shown | None:
    if not found["errors"]:
        return None
    bound = ", beside the bound of the training error" if "bound" in found["errors"] else ""
    figure = rounds_figure(Rounds(found["errors"], found["measure"]))
    return Shown("Rounds: error", f"How each round changed the error{bound}; test means blind rows.", figure)


def oob_shown(found: dict[str, Any]) -> Shown:
    figure = rounds_figure(Rounds({"out of bag": found["errors"]}, found["measure"]))
    words = (
        "The error after each tree on rows of the fit, each answered only by trees that had not learnt from it "
        f"({found['n_rows']:,} rows)."
    )
    return Shown("Out of bag", words, figure)


def losses_shown(found: dict[str, Any]) -> Shown | None:
    if not found["losses"]:
        return None
    figure = rounds_figure(Rounds({}, "", found["losses"]))
    return Shown("Rounds: loss", "How each round lowered the loss that is minimized.", figure)


def margins_shown(found: dict[str, Any]) -> Shown | None:
    margins = {number: np.array(values) for number, values in found.get("margins", [])}
    if not margins:
        return None
    words = (
        "The share of blind rows whose margin is at most so much, after some numbers of rounds; below 0 a row is wrong."
    )
    return Shown("Margins", words, rounds_figure(Rounds({}, "", margins=margins)))


def plane_shown(found: dict[str, Any]) -> Shown:
    points, codes = np.array(found["points"]), np.array(found["codes"])
    across, up = np.array(found["across"]), np.array(found["up"])
    frame = Frame(np.array([across[0], up[0]]), np.array([across[-1], up[-1]]), np.array(PLANE))
    scene = Scene(points, codes, found["labels"], frame, across, up)
    nobody, predicted = np.empty(0, dtype=np.intp), np.array(found["predicted"])
    if "scores" in found:
        scores = np.array(found["scores"])
        panel = Panel("", (scores > 0.0).astype(int), predicted, nobody, scores, None, 1.0, has_slack=True)
    else:
        panel = Panel("", np.array(found["regions"]), predicted, nobody)
    shares = [percent(share) for share in found["shares"]]
    names = [f"component {place + 1} ({share} of the variance)" for place, share in enumerate(shares)]
    figure = boundary_figure(scene, [panel], names)
    n_wrong = int((predicted != codes).sum())
    words = (
        "Blind rows in the plane of their first two principal components, and what the machine would say there; "
        f"of these {codes.size:,} rows it gets {n_wrong:,} wrong."
    )
    return Shown("The boundary in a plane", words, as_wide_as_the_page(figure))


def as_wide_as_the_page(figure: go.Figure) -> go.Figure:
    """Return a figure of the plane without a width of its own, its legend above it."""
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    figure.layout.annotations = ()
    figure.update_traces(zsmooth="best", selector={"type": "heatmap"})
    figure.update_layout(width=None, height=460, legend=legend, margin={"l": 10, "r": 10, "t": 10, "b": 10})
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    return figure


def contributions_shown(found: dict[str, Any]) -> Shown:
    columns = found["columns"]
    values = np.array([column["contributions"] for column in columns]).T
    numbers = np.array([column["values"] for column in columns], dtype=np.float64).T
    figure = summary_figure(values, numbers, [column["name"] for column in columns], found["what"])
    words = "Each dot is a blind row: how far the column moved the answer for it (Shapley values)."
    return Shown("Contributions", words, figure)


FIGURES: dict[str, tuple[str, Callable[[dict[str, Any]], Shown | None]]] = {  # name → the part of the details it shows
    "tree": ("rules", tree_shown),
    "pruning": ("pruning", pruning_shown),
    "oob": ("oob_curve", oob_shown),
    "errors": ("rounds", errors_shown),
    "losses": ("rounds", losses_shown),
    "margins": ("rounds", margins_shown),
    "plane": ("plane", plane_shown),
    "contributions": ("contributions", contributions_shown),
}
PAIRED = ("errors", "losses", "margins")  # stand beside each other where the page is wide enough
