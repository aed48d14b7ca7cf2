"""The sentences and names that the page, the terminal and the notebook share."""

from __future__ import annotations

from typing import Any

from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.estimators.watching import TIME_UP
from eigenwood.runs.assessment_record import MeasureRecord
from eigenwood.runs.metrics import metric_named
from eigenwood.runs.record import CUT, CandidateRecord, RecipeRecord, Run

SHARES = ("accuracy", "balanced accuracy", "recall", "precision", "F1")  # measures that are told in percent
NAMES = {"svm": "SVM", "adaboost": "AdaBoost", "kernel logistic": "kernel logistic regression"}
FRONTS = {"pca": "behind principal components", "pairs": "with sums and differences of correlated numbers"}
TARGETS = {"log": "of the logarithm", "standard": "of the scaled amount"}


# --- numbers --------------------------------------------------------------------------------------


def percent(share: float) -> str:
    """Return a share as a percentage with one digit.

    >>> percent(0.8684)
    '86.8 %'
    """
    return f"{100 * share:.1f} %"


def decimal(score: float) -> str:
    """Return a score with three digits after the point.

    >>> decimal(0.71249), decimal(-0.0001)
    ('0.712', '0.000')
    """
    return f"{score:z.3f}"


def amount(value: float) -> str:
    """Return an amount with three digits that count, or all those before the point.

    >>> amount(11.0), amount(0.00031), amount(99.96), amount(48211.7), amount(1e12)
    ('11.0', '0.000310', '100', '48,212', '1.00e+12')
    """
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(0.42), duration(12.3), duration(75), duration(60), duration(3700)
    ('0.4 s', '12 s', '1 min 15 s', '1 min', '1 h 1 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "category", "categories")
    ('1 row', '1,200 rows', '2 categories')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def together(words: list[str]) -> str:
    """Return words as one phrase.

    >>> together(["a"]), together(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


# --- scores ---------------------------------------------------------------------------------------


def metric_words(run: Run) -> str:
    """Return the name of the metric that candidates were compared by."""
    return metric_named(run.metric, run.task).words


def score_words(run: Run, value: float) -> str:
    """Return a score of a candidate: errors, of which less is better, are recorded with a minus."""
    return measure_words(metric_words(run), run.task, unsigned(run, value))


def unsigned(run: Run, value: float) -> float:
    """Return the score as its metric defines it."""
    return value if metric_named(run.metric, run.task).larger_is_better else -value


def measure_words(name: str, task: str, value: float) -> str:
    """Return the value of a measure, in percent where it is a share of rows.

    >>> measure_words("accuracy", "classification", 0.8684), measure_words("AUC", "classification", 0.934)
    ('86.8 %', '0.934')
    >>> measure_words("R²", "regression", 0.81), measure_words("mean absolute error", "regression", 31250.0)
    ('0.810', '31,250')
    """
    if name in SHARES:
        return percent(value)
    return decimal(value) if task == CLASSIFICATION or name == "R²" else amount(value)


def measure_form(name: str, task: str) -> str:
    """Return the same as a format of Plotly."""
    if name in SHARES:
        return ".1~%"
    return ".3f" if task == CLASSIFICATION or name == "R²" else ",.3~s"


def interval_words(measure: MeasureRecord, task: str) -> str:
    """Return the ends of the 95 % interval of a measure."""
    low, high = (measure_words(measure.name, task, end) for end in (measure.low, measure.high))
    return f"{low} – {high}"


# --- candidates -----------------------------------------------------------------------------------


def method_words(method: str) -> str:
    """Return the name of a method as people write it.

    >>> method_words("gradient-boosting-regression"), method_words("svm")
    ('gradient boosting', 'SVM')
    """
    plain = method.removesuffix("-regression").replace("-", " ")
    return NAMES.get(plain, plain)


def model_words(method: str) -> str:
    """Return the name of a method as it stands in a sentence.

    >>> model_words("decision-tree"), model_words("adaboost")
    ('a decision tree', 'AdaBoost')
    """
    name = method_words(method)
    return f"a {name}" if name.endswith(("tree", "forest")) else f"an {name}" if name == "SVM" else name


def parameter_words(params: dict[str, Any]) -> str:
    """Return the choice of parameters; none of them is 'defaults'.

    >>> parameter_words({"C": 10.0, "kernel": "rbf", "front": "pca"}), parameter_words({})
    ('C 10, kernel rbf, behind principal components', 'defaults')
    """
    words = [
        FRONTS.get(value) or TARGETS.get(value) or str(value)
        if name in ("front", "target")
        else f"{name.replace('_', ' ')} {value:g}"
        if isinstance(value, float)
        else f"{name.replace('_', ' ')} {value}"
        for name, value in params.items()
        if value is not None
    ]
    return ", ".join(words) or "defaults"


def is_cut(candidate: CandidateRecord) -> bool:
    return candidate.status == CUT


# --- the final model ------------------------------------------------------------------------------


def title(run: Run) -> str:
    return f"{run.table}: {run.target}"


def winner_words(recipe: RecipeRecord) -> str:
    """Return what the final model is, in a phrase."""
    members = sorted(recipe.members, key=lambda member: -member.weight)
    if len(members) == 1:
        return model_words(members[0].method)
    shares = dict[str, list[float]]()
    for member in members:
        shares.setdefault(method_words(member.method), []).append(member.weight)
    names = [f"{len(own)} fits of {name}" if len(own) > 1 else name for name, own in shares.items()]
    if len(names) == 1:
        return f"a weighted mean of {names[0]}"
    parts = zip(names, shares.values(), strict=True)
    return f"a weighted mean of {together([f'{name} ({100 * sum(own):.0f} %)' for name, own in parts])}"


def rows_words(run: Run) -> str:
    """Return which rows the final model learnt from, and whether these are all there were."""
    learnt, there = run.recipe.n_rows, run.split.n_train
    if run.assessed is not None:
        return f"all {learnt:,} rows, the blind ones too, once the test was done"
    if learnt >= there:
        return f"all {there:,} training rows"
    return f"{learnt:,} of the {there:,} training rows: the time limit did not allow more"


def cut_words(run: Run) -> list[str]:
    """Return what the time limit took from the final model, a sentence each."""
    found = list[str]()
    if run.recipe.n_rows < run.split.n_train:
        found.append(f"The final model learnt from {rows_words(run)}.")
    for member in run.recipe.members:
        if "forest" in member.method and member.n_rounds is not None:  # forests have all their trees, where time allows
            found.append(f"There was time for {counted(member.n_rounds, 'tree')} of the {method_words(member.method)}.")
    stopped = [one["name"] for one in run.explanation.details.get("members", []) if is_stopped(one)]
    return found + [f"The fit of {name or 'the model'} was stopped before its end." for name in stopped]


def is_stopped(details: dict[str, Any]) -> bool:
    """Return whether the fit of a member was cut."""
    return details.get("numbers", {}).get("stopped") == TIME_UP


def sentence(words: str) -> str:
    """Return words as a sentence: a capital at the beginning, a full stop at the end.

    >>> sentence("there was no time"), sentence("Done.")
    ('There was no time.', 'Done.')
    """
    words = words.strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


def guess_words(run: Run) -> str:
    """Return the warning that the model does no better than guessing, or nothing."""
    if run.assessment.is_better_than_guessing:
        return ""
    return "On these rows the model is no better than guessing: do not rely on it."


def result_words(run: Run) -> str:
    """Return the score beside that of guessing, as far as the headline has not told it."""
    found = run.assessment
    score, low, high, guessing = (
        measure_words(found.metric, run.task, value) for value in (found.score, found.low, found.high, found.baseline)
    )
    if score in found.headline:
        return f"Guessing means {baseline_words(run)}."
    name = found.metric[:1].upper() + found.metric[1:]
    return (
        f"{name} is {score} on {run.split.n_test:,} blind rows (95 % interval {low} to {high}); "
        f"guessing, {baseline_words(run)}, gives {guessing}."
    )


def baseline_words(run: Run) -> str:
    """Return what guessing means here."""
    label = getattr(run.assessment, "baseline_label", None)
    if label is not None:
        return f"always saying “{label}”, the most frequent class"
    return f"always saying {amount(run.assessment.baseline_amount)}, the mean of the training rows"  # type: ignore[union-attr]


def split_words(run: Run) -> str:
    """Return how the rows were divided."""
    split = run.split
    words = f"{split.n_test:,} of {run.n_rows:,} rows were put aside unseen for the blind test ({split.how})"
    left = f"; the other {split.n_train:,} are the training rows"
    were = "was" if split.n_without_target == 1 else "were"
    without = f". {counted(split.n_without_target, 'row')} without a target {were} left out"
    return f"{words}{left}{without if split.n_without_target else ''}."


def command_words(run: Run) -> str:
    """Return the time that was allowed and used."""
    used = duration(sum(run.seconds.values()))
    limit = run.settings.get("time_limit")
    return f"{used}, of {duration(limit)} allowed" if limit else used
