"""A fitted tree in words: one rule for each leaf, in the names of the table it was fitted to.

    outlook?  ──overcast──►  yes                  outlook is overcast                       → yes
              ──rain──►  wind?  ──strong──►  no   outlook is rain and wind is strong        → no
              …                                   …

The tree's arrays are first brought into the shape in which people see a tree: ``Branch`` after ``Branch`` from the
root down, a chain of nodes that ask one question being one branch with several answers. An answer is a condition on a
column; the conditions on the way to a leaf, joined column by column, are its rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.tree.types import LEAF, Tree
from eigenwood.estimators.tree.data import class_lists
from eigenwood.estimators.tree.faces import DecisionTree
from eigenwood.validation.models import check_kind
from eigenwood.validation.trees import check_was_pruned

if TYPE_CHECKING:
    from rich.table import Table

MOST_SHOWN = 200  # rules that are printed; the others are there to be looped over
MOST_LABELS = 12  # categories that are spelt out in a sentence
LEAST_DIGITS, MOST_DIGITS = 6, 17  # that count in a threshold
WIDTH, CONDITION_WIDTH = 110, 72  # of a line, and of the conditions in it
LARGEST = float(np.finfo(np.float64).max)  # a threshold that only missing numbers pass
SAME_ERROR = 1e-12  # relative: errors closer than this are equal
AMOUNT_DIGITS = 5
WRITTEN_OUT = 1e15  # numbers below this are written without an exponent
MISSING, ANYTHING_ELSE, ALWAYS = "missing", "anything else", "always"


@dataclass(frozen=True)
class Interval:
    """A condition on a column of numbers: ``above < x ≤ up_to``, or x is missing if ``missing`` allows it."""

    column: str
    above: float = -np.inf
    up_to: float = np.inf
    missing: bool = True
    says_missing: bool = field(default=False, repr=False)  # whether missing numbers are worth a word
    digits: int = field(default=LEAST_DIGITS, repr=False)

    def split(self, threshold: float, missing_left: bool) -> tuple[Interval, Interval]:
        """Return the two answers to "x ≤ threshold"; missing numbers follow if they came this way at all."""
        bound = np.inf if threshold >= LARGEST else threshold
        left = replace(self, above=-np.inf, up_to=bound, missing=self.missing and missing_left)
        return left, replace(self, above=bound, up_to=np.inf, missing=self.missing and not missing_left)

    def joined(self, answer: Interval) -> Interval:
        """Return the condition that holds where this one and an answer hold."""
        return replace(answer, above=max(self.above, answer.above), up_to=min(self.up_to, answer.up_to))

    def __str__(self) -> str:
        """Return the condition in words.

        >>> str(Interval("age", above=30.0, up_to=40.5)), str(Interval("age", up_to=9.5, says_missing=True))
        ('30 < age ≤ 40.5', 'age ≤ 9.5 or missing')
        """
        if np.isinf(self.above) and np.isinf(self.up_to):
            return f"{self.column} is {self.answer()}"
        return self._bounds(self.column)

    def answer(self) -> str:
        """Return the condition without the column's name."""
        if np.isinf(self.above) and np.isinf(self.up_to):
            return MISSING if self.above > 0 else f"not {MISSING}"
        return self._bounds("").strip()

    def _bounds(self, name: str) -> str:
        low, high = written(self.above, self.digits), written(self.up_to, self.digits)
        if self.up_to == np.inf:
            words = f"{name} > {low}"
        else:
            words = f"{name} ≤ {high}" if self.above == -np.inf else f"{low} < {name} ≤ {high}"
        return f"{words} or {MISSING}" if self.missing and self.says_missing else words


@dataclass(frozen=True)
class OneOf:
    """A condition on a column of categories: one of ``labels``, or one that was never seen if ``others`` allows it.

    ``excluded`` are the categories that were seen and do not fulfil it, where ``others`` do. None is the label of a
    missing category.
    """

    column: str
    labels: tuple[Any, ...]
    excluded: tuple[Any, ...] = ()
    others: bool = True

    @property
    def missing(self) -> bool:
        """Whether a missing category fulfils the condition."""
        return None in self.labels or (self.others and None not in self.excluded)

    def narrowed(self, labels: Iterable[Any], others: bool) -> OneOf:
        """Return the condition that only some of its labels fulfil."""
        left = dict.fromkeys(labels)
        excluded = tuple(label for label in self.labels if label not in left) if others else ()
        return replace(self, labels=tuple(left), excluded=excluded, others=others)

    def joined(self, answer: OneOf) -> OneOf:
        """Return the condition that holds where this one and an answer to a question below it hold."""
        return replace(answer, excluded=self.excluded + answer.excluded) if answer.others else answer

    def __str__(self) -> str:
        """Return the condition in words.

        >>> str(OneOf("outlook", ("rain", "sunny"), ("overcast",), others=False))
        'outlook is rain or sunny'
        >>> str(OneOf("outlook", ("rain",), ("overcast", "sunny"))), str(OneOf("wind", ("weak", None), ("strong",)))
        ('outlook is rain or anything else', 'wind is not strong')
        """
        return f"{self.column} is {self.answer()}"

    def answer(self) -> str:
        """Return the condition without the column's name; what it excludes, if that is shorter."""
        if self.others and 0 < len(self.excluded) < len(self.labels):
            kept_out = alternatives([label_text(label) for label in self.excluded], word="nor")
            return f"not {kept_out}" if len(self.excluded) == 1 else f"neither {kept_out}"
        return alternatives([label_text(label) for label in self.labels], [ANYTHING_ELSE] if self.others else [])


Condition = Interval | OneOf


@dataclass(frozen=True)
class Rule:
    """What leads to a leaf, and what is predicted there."""

    leaf: int  # as ``apply`` numbers it
    conditions: tuple[Condition, ...]  # one for each column that was asked, in the order of the questions
    prediction: Any  # a class or an amount; a tuple of them for several outputs
    share: Any  # of that class among the rows of the leaf; None for an amount
    impurity: float
    n_rows: int
    weight_share: float  # of the weight of all rows

    def condition(self) -> str:
        """Return all conditions in one sentence."""
        return " and ".join(map(str, self.conditions)) or ALWAYS

    def outcome(self) -> str:
        """Return the prediction in words."""
        return several(self.prediction, amount_text if self.share is None else label_text)

    def support(self) -> str:
        """Return how many rows stand behind the prediction, and how many of them have the predicted class."""
        sure = "" if self.share is None else f"{several(self.share, percent)} of "
        return sure + ("1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows")

    def __str__(self) -> str:
        return f"{self.condition()} → {self.outcome()} ({self.support()})"


@dataclass(frozen=True, eq=False)
class Branch:
    """A node as people see it: how one gets there, what is asked there, and what is known of its rows."""

    above: int  # the branch it hangs on, -1 for the root
    depth: int
    answer: Condition | None  # to the question of the branch above
    question: str | None  # the column that is asked; None at a leaf
    n_leaves: int  # at it or below it
    rule: Rule  # as if it were a leaf
    value: np.ndarray  # shares of the classes, output by output, or one amount for each output


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Sequence[Rule]):
    """The rules of a tree, one for each leaf: a sequence that prints as a table."""

    leaves: tuple[Rule, ...]
    branches: tuple[Branch, ...]  # the root first, then all that hangs on its first answer, …
    classes: tuple[tuple[str, ...], ...]  # of each output; empty for amounts
    measure: str  # the criterion, in words

    def __len__(self) -> int:
        return len(self.leaves)

    def __getitem__(self, place: Any) -> Any:
        return self.leaves[place]

    def __str__(self) -> str:
        from rich.console import Console  # only who prints rules waits for it

        console = Console(width=WIDTH, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(self.table())
        return "\n".join(line.rstrip() for line in capture.get().splitlines())

    __repr__ = __str__

    def __rich__(self) -> Table:
        return self.table()

    def table(self) -> Table:
        """Return the rules as a table for the terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), caption=self._rest(), caption_justify="left")
        for place, heading in enumerate(self._headings()):
            table.add_column(heading, justify="left" if place < 2 else "right", no_wrap=place > 1)
        for rule in self._shown():
            _, *others = self._cells(rule)
            table.add_row(*map(Text, (folded(rule.conditions), *others)))  # as text: a class may be called [red]
        return table

    def tree(self, max_depth: int | None = None) -> str:
        """Return the whole tree as indented text; what lies deeper than ``max_depth`` is only counted."""
        return "\n".join(outline(self.branches, max_depth))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(heading)}</th>" for heading in self._headings())
        lines = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in self._cells(rule)) + "</tr>"
            for rule in self._shown()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table><p>{self._rest()}</p>"

    def _headings(self) -> tuple[str, ...]:
        return "if", "then", "share" if self.classes else self.measure, "rows", "weight"

    def _cells(self, rule: Rule) -> tuple[str, ...]:
        sure = several(rule.share, percent) if self.classes else written(rule.impurity, 4)
        return rule.condition(), rule.outcome(), sure, f"{rule.n_rows:,}", percent(rule.weight_share)

    def _shown(self) -> list[Rule]:
        """Return the rules that are printed: all, or the heaviest ones in the order of the tree."""
        heaviest = np.argsort([-rule.weight_share for rule in self], kind="stable")[:MOST_SHOWN]
        return [self[place] for place in np.sort(heaviest)]

    def _rest(self) -> str:
        return f"… and {len(self) - MOST_SHOWN:,} lighter rules" if len(self) > MOST_SHOWN else ""


def rules(model: Any) -> Rules:
    """Return the rules of a fitted decision tree, or of a pipeline that ends in one.

    Print it for a table, loop over it for plain data, and see ``.tree()`` for the tree as indented text.

    >>> from eigenwood import DecisionTreeClassifier, rules
    >>> from eigenwood.data.datasets import load
    >>> days = load("play_tennis").table().frame.select(["outlook", "humidity", "wind", "play_tennis"])
    >>> model = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway")
    >>> found = rules(model.fit(days.drop_columns("play_tennis"), days["play_tennis"].to_pylist()))
    >>> for rule in found:
    ...     print(rule)
    outlook is Overcast → Yes (100 % of 4 rows)
    outlook is Rain or anything else and wind is Strong → No (100 % of 2 rows)
    outlook is Rain or anything else and wind is Weak or anything else → Yes (100 % of 3 rows)
    outlook is Sunny and humidity is High or anything else → No (100 % of 3 rows)
    outlook is Sunny and humidity is Normal → Yes (100 % of 2 rows)
    >>> found[1].prediction, found[1].conditions[0].labels
    ('No', ('Rain',))
    """
    tree = fitted_tree("rules", model)
    classes = tuple(tuple(map(label_text, labels.tolist())) for labels in class_lists(tree))
    branches = tuple(branches_of(tree))
    leaves = tuple(branch.rule for branch in branches if branch.question is None)
    return Rules(leaves, branches, classes, tree.criterion.replace("_", " "))


class Pruning(NamedTuple):
    """The trees on the way from the whole one to a single leaf."""

    alphas: list[float]
    n_leaves: list[int]
    errors: list[float]  # on rows that they did not learn from
    chosen: int  # which of them was taken
    measure: str  # what the errors are


def pruning_of(model: Any) -> Pruning:
    """Return the pruning curve of a fitted decision tree, or of a pipeline that ends in one."""
    tree = fitted_tree("pruning", model)
    check_was_pruned("pruning", tree.prune, tree.pruning_curve_)
    alphas, n_leaves, errors = tree.pruning_curve_.T
    chosen = np.flatnonzero(errors <= errors.min() * (1.0 + SAME_ERROR))[-1]
    measure = "error" if class_lists(tree) else "loss"
    return Pruning(alphas.tolist(), n_leaves.astype(int).tolist(), errors.tolist(), int(chosen), measure)


def fitted_tree(who: str, model: Any) -> Any:
    """Return the decision tree that a model is or ends in; raise unless there is one and it is fitted."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    allowed = "a DecisionTreeClassifier or a DecisionTreeRegressor, or a pipeline that ends in one"
    check_kind(who, last, isinstance(last, DecisionTree), allowed)
    check_is_fitted(last)
    return last


def branches_of(model: DecisionTree) -> Iterator[Branch]:
    """Yield the branches of a fitted tree in preorder."""
    nodes, columns, n_leaves = model.nodes_, initial_conditions(model), leaf_counts(model.nodes_)
    classes = [labels.tolist() for labels in class_lists(model)]
    waiting: list[tuple] = [(0, -1, 0, None, {})]
    n_branches = 0
    while waiting:
        node, above, depth, answer, path = waiting.pop()
        feature = int(nodes.feature[node])
        is_leaf = nodes.left[node] == LEAF
        question = None if is_leaf else columns[feature].column
        rule = rule_at(nodes, node, classes, tuple(path.values()))
        yield Branch(above, depth, answer, question, int(n_leaves[node]), rule, nodes.value[node])
        if not is_leaf:
            known = path.get(feature, columns[feature])
            for child, reply in reversed(answers(nodes, node, known, model.categories_[feature])):
                below = {**path, feature: known.joined(reply)}
                waiting.append((child, n_branches, depth + 1, reply, below))
        n_branches += 1


def answers(nodes: Tree, node: int, known: Any, labels: list | None) -> list[tuple[int, Condition]]:
    """Return the children of a question and the answers that lead there; ``known`` is what held before it was asked."""
    if labels is not None:
        return list(category_answers(nodes, node, known, labels))
    left, right = known.split(float(nodes.threshold[node]), bool(nodes.default_left[node]))
    return [(int(nodes.left[node]), left), (int(nodes.right[node]), right)]


def category_answers(nodes: Tree, node: int, known: OneOf, labels: list) -> Iterator[tuple[int, OneOf]]:
    """Yield the same for a column of categories.

    The links of a chain are one question: each of them takes an answer off what the others have left, and only that,
    for there may be very many.
    """
    rest, others = dict.fromkeys(known.labels), known.others
    while True:
        codes = nodes.categories[nodes.category_start[node] : nodes.category_start[node + 1]]
        listed = [label for label in (labels[code] for code in codes) if label in rest]
        if nodes.default_left[node]:  # what is not listed goes left, seen or not
            right = dict.fromkeys(listed)
            own, rest = [label for label in rest if label not in right], right
            yield int(nodes.left[node]), known.narrowed(own, others)
            others = False
        else:
            for label in listed:
                del rest[label]
            yield int(nodes.left[node]), known.narrowed(listed, others=False)
        link = int(nodes.right[node])
        if not nodes.chained[node] or nodes.left[link] == LEAF:
            yield link, known.narrowed(rest, others)
            return
        node = link


def rule_at(nodes: Tree, node: int, class_lists: list[list], conditions: tuple[Condition, ...]) -> Rule:
    """Return what is predicted at a node."""
    predicted, proba = nodes.value[node].tolist(), None
    if class_lists:
        ends = np.cumsum([len(labels) for labels in class_lists])
        parts = np.split(nodes.value[node], ends[:-1])
        predicted = [labels[part.argmax()] for labels, part in zip(class_lists, parts, strict=True)]
        proba = [float(part.max()) for part in parts]
    is_single = len(predicted) == 1
    return Rule(
        leaf=node,
        conditions=conditions,
        prediction=predicted[0] if is_single else tuple(predicted),
        share=None if proba is None else proba[0] if is_single else tuple(proba),
        impurity=float(nodes.impurity[node]),
        n_rows=int(nodes.n_rows[node]),
        weight_share=float(nodes.weight[node] / nodes.weight[0]),
    )


def initial_conditions(model: DecisionTree) -> list[Condition]:
    """Return for each column the condition that holds for all rows."""
    nodes, n_features = model.nodes_, len(model.categories_)
    names = getattr(model, "feature_names_in_", [f"x[{j}]" for j in range(n_features)])
    digits = threshold_digits(nodes, n_features)
    return [
        Interval(str(names[j]), says_missing=bool(model.has_missing_[j]), digits=digits[j])
        if labels is None
        else OneOf(str(names[j]), tuple(labels))
        for j, labels in enumerate(model.categories_)
    ]


def threshold_digits(nodes: Tree, n_features: int) -> list[int]:
    """Return how many digits tell the thresholds of each column apart: all before the point and one after it, or more.

    A threshold between two whole numbers ends in .5, and must not be rounded to one of them.
    """
    asked = (nodes.left != LEAF) & (np.diff(nodes.category_start) == 0) & (np.abs(nodes.threshold) < WRITTEN_OUT)
    digits = [LEAST_DIGITS] * n_features
    for feature in np.unique(nodes.feature[asked]):
        thresholds = np.unique(nodes.threshold[asked & (nodes.feature == feature)])
        enough = max(LEAST_DIGITS, len(f"{np.abs(thresholds).max():.0f}") + 1)
        while enough < MOST_DIGITS and len({written(t, enough) for t in thresholds}) < thresholds.size:
            enough += 1
        digits[feature] = enough
    return digits


def leaf_counts(nodes: Tree) -> np.ndarray:
    """Return how many leaves there are at each node or below it."""
    counts = np.ones(nodes.left.size, dtype=np.int64)
    for node in range(nodes.left.size - 1, -1, -1):  # children before their parent
        if nodes.left[node] != LEAF:
            counts[node] = counts[nodes.left[node]] + counts[nodes.right[node]]
    return counts


def outline(branches: Sequence[Branch], max_depth: int | None = None) -> Iterator[str]:
    """Yield the lines of a tree, each branch below the one it hangs on."""
    is_last = last_answers(branches)
    margins = [""] * len(branches)  # what stands left of the answers to each branch's question
    for i, branch in enumerate(branches):
        if max_depth is not None and branch.depth > max_depth:
            continue
        start, told = "", told_at(branch, branch.depth == max_depth)
        if branch.answer is not None:
            margin = margins[branch.above]
            start = f"{margin}{'└─ ' if is_last[i] else '├─ '}{branch.answer.answer()}"
            margins[i] = margin + ("   " if is_last[i] else "│  ")
            start += " " if branch.question is None else ": "
        yield start + told


def told_at(branch: Branch, cut: bool) -> str:
    """Return what a branch asks or says; where the tree is ``cut``, how much is below."""
    if branch.question is None:
        return f"→ {branch.rule.outcome()} ({branch.rule.support()})"
    return f"… {branch.n_leaves:,} leaves" if cut else f"{branch.question}?"


def last_answers(branches: Sequence[Branch]) -> list[bool]:
    """Return which branches are the last ones that hang on the branch above them."""
    last = {branch.above: i for i, branch in enumerate(branches)}
    return [last[branch.above] == i for i, branch in enumerate(branches)]


def folded(conditions: Sequence[Condition]) -> str:
    """Return the conditions in lines that break between two of them."""
    lines: list[str] = []
    for words in map(str, conditions):
        if lines and len(f"{lines[-1]} and {words}") <= CONDITION_WIDTH:
            lines[-1] += f" and {words}"
        else:
            lines.append(f"and {words}" if lines else words)
    return "\n".join(lines) or ALWAYS


def alternatives(labels: list[str], more: Sequence[str] = (), word: str = "or") -> str:
    """Return "a, b or c"; of a long list only the beginning.

    >>> alternatives(["a", "b"], ["anything else"]), alternatives([str(i) for i in range(100)])[-17:]
    ('a, b or anything else', '10, 11 or 88 more')
    """
    if len(labels) > MOST_LABELS + 1:
        labels = [*labels[:MOST_LABELS], f"{len(labels) - MOST_LABELS} more"]
    *first, last = [*labels, *more] or ["nothing"]
    return f"{', '.join(first)} {word} {last}" if first else last


def label_text(label: Any) -> str:
    """Return a label as it is, in quotation marks if it could be taken for something else.

    >>> label_text("rain"), label_text(3.0), label_text(None), label_text("missing"), label_text("a or b")
    ('rain', '3', 'missing', "'missing'", "'a or b'")
    """
    if label is None:
        return MISSING
    if isinstance(label, float):
        return f"{label:.0f}" if label.is_integer() and abs(label) < WRITTEN_OUT else repr(label)
    if not isinstance(label, str):
        return str(label)
    is_odd = label.strip() != label or not label.isprintable() or label in ("", MISSING, ANYTHING_ELSE)
    return repr(label) if is_odd or " or " in label or ", " in label else label


def amount_text(value: float) -> str:
    return written(value, AMOUNT_DIGITS)


def several(values: Any, text: Any) -> str:
    """Return the words for one output or for several."""
    return ", ".join(map(text, values)) if isinstance(values, tuple) else text(values)


def written(value: float, digits: int) -> str:
    """Return a number with so many digits that count, or all those before the point.

    >>> written(2.45, 6), written(1712345678.25, 6), written(1e-7, 6), written(-0.0, 6)
    ('2.45', '1712345678', '1e-07', '0')
    """
    return f"{value:z.0f}" if 10.0**digits <= abs(value) < WRITTEN_OUT else f"{value:z.{digits}g}"


def percent(share: float) -> str:
    """Return a share as a percentage; 100 % without a point are all.

    >>> percent(1.0), percent(0.9999), percent(0.25)
    ('100 %', '100.0 %', '25.0 %')
    """
    return "100 %" if share == 1.0 else f"{100 * share:.1f} %"
