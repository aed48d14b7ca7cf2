"""Figures: numbers in, Plotly figures out.

Each file draws numbers and knows nothing of models. The functions here take a fitted model and hand its numbers on:

    of a tree
    plots.tree(model)                rules(model)                          → tree_figure
    plots.pruning(model)             its pruning_curve_                    → pruning_figure
    plots.dtreeviz(model, X, y)      its questions and the rows            → dtreeviz's own drawings

    of a booster
    plots.rounds(model, X, y)        errors, bound, losses and margins     → rounds_figure
    plots.round_boundaries(model, X, y)  what it says after some of them   → boundary_figure

    of a tree, a forest or a booster, and rows
    plots.contributions(model, X)    its contributions(X)                  → row_figure, summary_figure

    of classifiers of two features
    plots.boundary(model, X, y)      what it says everywhere, its support  → boundary_figure
    plots.boundary([a, b], X, y)     the same of both, side by side

    of a PCA, or a pipeline that ends in one
    plots.scree(model)               its variances                         → scree_figure
    plots.scores(model, X)           two columns of transform(X)           → scores_figure
    plots.biplot(model, X)           the same, and two of its axes         → biplot_figure
    plots.loadings(model)            its first axes                        → loadings_figure
    plots.component_images(model)    its first axes, and its mean          → component_images_figure
    plots.reconstructions(model, X)  inverse_transform of the first k      → reconstruction_figure

    of a kernel PCA (or a PCA) of two features; plots.scores takes one of any number of features
    plots.contours(model, X, y)      transform of a grid                   → contours_figure

    of tables of images
    plots.side_by_side(tables)       before, with noise, cleaned, …        → side_by_side_figure

    of word vectors
    plots.words(model)               two principal components of them      → scores_figure
    plots.losses(model)              its losses_                           → losses_figure
    plots.analogies(scores)          what evaluate_analogies returns       → analogies_figure
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import plotly.graph_objects as go
from scipy import sparse

from eigenwood.data.row_blocks import Blocks
from eigenwood.errors import InputError, MissingExtraError
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.rules import fitted_tree, pruning_of, rules
from eigenwood.estimators.tree.data import class_lists
from eigenwood.estimators.words.evaluation import AnalogyScores
from eigenwood.estimators.words.queries import WordQueries, unit_rows
from eigenwood.plots.biplot import SCALINGS, biplot_coordinates, biplot_figure
from eigenwood.plots.boosted import (
    check_booster,
    codes_of,
    numbers_of_rounds,
    scores_after,
    some_rounds,
    weights_after,
)
from eigenwood.plots.boundary import Panel, Scene, boundary_figure, grid_points, scene_of
from eigenwood.plots.contours import contours_figure, plane_around
from eigenwood.plots.contributions import row_figure, summary_figure
from eigenwood.plots.images import component_images_figure, reconstruction_figure, side_by_side_figure
from eigenwood.plots.loadings import loadings_figure, loadings_table
from eigenwood.plots.pruning import pruning_figure
from eigenwood.plots.rounds import rounds_figure
from eigenwood.plots.scores import scores_figure
from eigenwood.plots.scree import scree_figure
from eigenwood.plots.tree import tree_figure
from eigenwood.plots.words import Section, analogies_figure, losses_figure
from eigenwood.validation.arrays import check_matrix, frame_of
from eigenwood.validation.targets import check_known, check_labels

__all__ = [
    "analogies",
    "biplot",
    "boundary",
    "component_images",
    "contours",
    "contributions",
    "dtreeviz",
    "loadings",
    "loadings_table",
    "losses",
    "pruning",
    "reconstructions",
    "round_boundaries",
    "rounds",
    "scores",
    "scree",
    "side_by_side",
    "tree",
    "words",
]

SOME_KS = (2, 10, 50, 200)  # shown if nobody says how many components to reconstruct with; and all of them
SAME = 1e-6  # support vectors and rows that are as close as this, beside the largest number, are the same


# --- of a tree ------------------------------------------------------------------------------------


def tree(model: Any, max_depth: int | None = None) -> go.Figure:
    """Return an interactive figure of a fitted decision tree, from the root at the left to the leaves at the right.

    Boxes have the colour of their class, the paler the more mixed they are, or are darker the larger their amount is;
    streams are as wide as the weight of the rows. Point at a box to see all that is known of it. What lies deeper than
    ``max_depth`` is only counted; without it, a large tree is drawn as deep as it can be seen at one glance.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [5.0, 7.0, 7.0])
    >>> [box.text.split("<br>")[0] for box in plots.tree(model).layout.annotations if box.hovertext]
    ['<b>x[0]?</b>', '<b>5</b>', '<b>7</b>']
    """
    return tree_figure(rules(model), max_depth)


def pruning(model: Any) -> go.Figure:
    """Return a figure of how the error changed while a decision tree was pruned, by validation or cross-validation."""
    alphas, n_leaves, errors, chosen, measure = pruning_of(model)
    form = ".1%" if measure == "error" else ".4~g"
    return pruning_figure(alphas, n_leaves, errors, chosen, f"{measure} on validation rows", form)


def dtreeviz(
    model: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target_name: str | None = None,
    class_names: Sequence[str] | None = None,
) -> Any:
    """Return what ``dtreeviz.model`` returns, for any fitted decision tree, also one that asks about categories.

    Its ``view()``, ``leaf_sizes()``, ``explain_prediction_path(x)`` and so on are dtreeviz's; a row x is taken as it
    stands in X, such as ``X.iloc[0]``. Names are those of the model and of its classes unless others are given. X may
    have missing categories, but no missing numbers, which dtreeviz cannot draw. Needs ``pip install dtreeviz``.
    """
    tree = fitted_tree("plots.dtreeviz", model)
    try:
        from eigenwood.estimators.tree.shadow_tree import Drawings, ShadowTree
    except ImportError:
        raise MissingExtraError("plots.dtreeviz: dtreeviz must be installed; pip install dtreeviz.") from None
    if tree is not model and len(model.steps) > 1:
        X = model[:-1].transform(X)
    names = [str(name) for name in (input_names(tree, None) if feature_names is None else feature_names)]
    classes = [str(label) for labels in class_lists(tree) for label in labels] if class_names is None else class_names
    target = str(getattr(y, "name", None) or "y") if target_name is None else target_name
    return Drawings(ShadowTree(tree, X, y, names, target, classes))


# --- of classifiers of two features -------------------------------------------------------------------


def boundary(
    model: Any, X: Any, y: Any, names: Sequence[str] | None = None, equal_aspect: bool | None = None
) -> go.Figure:
    """Return a figure of what a classifier of two features says everywhere, and of the rows of X and their labels y.

    Of two classes it shows the surface f = 0 and the margin; of a support vector machine also its support vectors, on
    the margin or beyond it, and the slack of every row. Several models, in a list, stand side by side: a perceptron
    beside a support vector machine, as in the kernel lecture. A pipeline is seen by its last step.

    ``names`` are those of the panels. ``equal_aspect`` says whether the two features have one scale; by default they
    do where their spans are alike.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import SVC
    >>> X, y = [[0.0, 0.0], [2.0, 2.0], [3.0, 3.0]], ["low", "high", "high"]
    >>> figure = plots.boundary(SVC(kernel="linear", C=100.0).fit(X, y), X, y)
    >>> figure.layout.annotations[0].text.split("<br>")[0], [trace.name for trace in figure.data if trace.showlegend]
    ('<b>SVC, linear</b>', ['surface f = 0', 'margin f = ±1', 'high', 'low', 'support vector on the margin'])
    """
    models = list(model) if isinstance(model, list | tuple) else [model]
    check_boundary_models(models)
    points = check_matrix("plots.boundary", X)
    if points.shape[1] != 2:
        raise InputError(f"plots.boundary: X must have 2 features, to be drawn in a plane; got {points.shape[1]}.")
    titles = [title_of(one) for one in models] if names is None else [str(name) for name in names]
    if len(titles) != len(models):
        raise InputError(f"plots.boundary: names must have one for each of {len(models)} models; got {len(titles)}.")
    labels = models[0].classes_
    codes = check_known(models[0], check_labels(models[0], y, len(points)), labels).codes
    scene = scene_of(points.astype(np.float64), codes, [str(label) for label in labels], len(models), equal_aspect)
    panels = [panel_of(one, title, X, scene) for one, title in zip(models, titles, strict=True)]
    return boundary_figure(scene, panels, plane_names(models[0], X))


def check_boundary_models(models: list) -> None:
    """Raise unless all are fitted classifiers of two features, for the same classes."""
    if not models:
        raise InputError("plots.boundary: the model must be a fitted classifier or a list of them; got an empty list.")
    for model in models:
        if not (hasattr(model, "classes_") and hasattr(model, "predict")):
            raise InputError(f"plots.boundary: the model must be a fitted classifier; got {type(model).__name__}.")
        n_features = getattr(model, "n_features_in_", 2)
        if n_features != 2:
            raise InputError(
                f"plots.boundary: the model must have 2 features, to be drawn in a plane; got {n_features}."
            )
        if not np.array_equal(model.classes_, models[0].classes_):
            raise InputError(
                f"plots.boundary: all models must have the classes {models[0].classes_.tolist()}; "
                f"got {model.classes_.tolist()}."
            )


def panel_of(model: Any, title: str, X: Any, scene: Scene) -> Panel:
    """Return what a model says of the plane and of the rows."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    places, shape = like_rows(X, grid_points(scene)), (scene.up.size, scene.across.size)
    codes, row_codes = (np.searchsorted(model.classes_, model.predict(rows)) for rows in (places, X))
    support = support_of(model, last, X, len(scene.points))
    plain_panel = Panel(title, codes.reshape(shape), row_codes, support)
    if len(scene.labels) > 2 or not hasattr(model, "decision_function"):
        return plain_panel
    scores, row_scores = (np.asarray(model.decision_function(rows), dtype=np.float64).ravel() for rows in (places, X))
    has_slack = hasattr(last, "C") and hasattr(last, "dual_coef_")
    level = 1.0 if has_slack else nearest_level(row_scores, scene.codes)
    norm = norm_of(last, support, row_scores)
    return plain_panel._replace(
        scores=scores.reshape(shape),
        row_scores=row_scores,
        level=level,
        width=2.0 * level / norm if level and norm else None,
        has_slack=has_slack,
    )


def nearest_level(row_scores: np.ndarray, codes: np.ndarray) -> float | None:
    """Return the smallest |f| of a row, if all rows are on their sides."""
    nearest = float((np.where(codes == 1, 1.0, -1.0) * row_scores).min())
    return nearest if nearest > 0.0 else None


def norm_of(last: Any, support: np.ndarray, row_scores: np.ndarray) -> float | None:
    """Return ‖w‖ of a classifier of two classes, in the space in which it is linear; ‖w‖² = Σ β_i (f(x_i) - b)."""
    if support.size and getattr(last, "vote", "last") != "voted":
        return float(np.sqrt(np.maximum(last.dual_coef_ @ (row_scores[support] - last.intercept_[0]), 0.0))[0])
    coef = np.asarray(getattr(last, "coef_", ()))
    return float(np.linalg.norm(coef)) if coef.shape[:1] == (1,) else None


def support_of(model: Any, last: Any, X: Any, n_rows: int) -> np.ndarray:
    """Return which rows of X are support vectors of a model; none if X are not the rows that it has learnt from."""
    nobody = np.empty(0, dtype=np.intp)
    support, vectors = np.asarray(getattr(last, "support_", nobody)), getattr(last, "support_vectors_", None)
    if vectors is None or vectors.shape[0] != support.size or not 0 < support.size <= n_rows > support.max():
        return nobody
    rows = check_matrix("plots.boundary", X if last is model else model[:-1].transform(X), accept_sparse=True)
    apart = abs(rows[support] - vectors).max()
    return support if apart <= SAME * abs(vectors).max() else nobody


def like_rows(X: Any, points: np.ndarray) -> Any:
    """Return points as a frame like X, if X is one: models know columns by their names."""
    frame = frame_of("plots.boundary", X)
    if frame is None:
        return points
    columns = dict(zip(frame.columns, points.T, strict=True))
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def plane_names(model: Any, X: Any) -> list[str]:
    """Return the names of the two features."""
    frame = frame_of("plots.boundary", X)
    known = getattr(model, "feature_names_in_", ("x₁", "x₂")) if frame is None else frame.columns
    return [str(name) for name in known]


def title_of(model: Any) -> str:
    """Return the name of a classifier, and of its kernel."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    kernel = getattr(last, "kernel", None)
    return f"{type(last).__name__}, {kernel}" if isinstance(kernel, str) else type(last).__name__


# --- of a tree, a forest or a booster, and rows ------------------------------------------------------------------


def contributions(model: Any, X: Any, output: Any = None) -> go.Figure:
    """Return a figure of how much each feature moves the predictions for the rows of X away from the base value.

    One row is drawn as bars, the largest contribution first; many rows as a dot for each row and feature, dark where
    the feature is large. ``output`` is a class of a classifier, the last one if nothing is said, or the number of an
    output of a regressor.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import DecisionTreeRegressor
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 7.0])
    >>> plots.contributions(model, X[:1]).layout.title.text
    '<b>prediction 1</b> = base 3.5 -2.5'
    """
    if not hasattr(model, "contributions"):
        raise InputError(f"plots.contributions: the model must have contributions(X); got {type(model).__name__}.")
    found = model.contributions(X)
    if isinstance(found, list):
        raise InputError(f"plots.contributions: the model must have 1 output with classes; got {len(found)}.")
    values, base, what = one_output(model, found, output)
    names = [str(name) for name in input_names(model, None)]
    words, numbers = shown_values(X)
    if len(values) == 1:
        return row_figure(values[0], base, names, words, what)
    return summary_figure(values, numbers, names, what)


def one_output(model: Any, found: Any, output: Any) -> tuple[np.ndarray, float, str]:
    """Return the contributions to one output, its base value, and what it is called."""
    values, base = found
    has_scores = hasattr(model, "decision_function")
    if values.ndim == 2:
        return values, float(base), "score" if has_scores else "prediction"
    labels = list(getattr(model, "classes_", range(values.shape[2])))
    chosen = labels[-1] if output is None else output
    if chosen not in labels:
        raise InputError(
            f"plots.contributions: output must be one of {[str(label) for label in labels]}; got {output!r}."
        )
    place, kind = labels.index(chosen), "score of" if has_scores else "probability of"
    kind = kind if hasattr(model, "classes_") else "output"
    return values[:, :, place], float(base[place]), f"{kind} {chosen}"


def shown_values(X: Any) -> tuple[list[str], np.ndarray]:
    """Return the values of the first row in words, and all that are numbers as numbers."""
    frame = frame_of("plots.contributions", X)
    if frame is None:
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        columns = list(rows.T)
    else:
        columns = [np.asarray(frame[name].to_list(), dtype=object) for name in frame.columns]
    words = [f"{own[0]:.4g}" if isinstance(own[0], float | np.floating) else str(own[0]) for own in columns]
    return words, np.column_stack([as_numbers(own) for own in columns])


def as_numbers(column: np.ndarray) -> np.ndarray:
    """Return a column as numbers; as NaN if it holds words."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return np.full(column.size, np.nan)


# --- of a booster -------------------------------------------------------------------------------------


def rounds(model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> go.Figure:
    """Return a figure of the rounds of a fitted booster: its errors on X and y, and on test rows, and how margins grow.

    The training error of AdaBoost comes with its bound, the product of the normalizers Z_t; gradient boosting comes
    with the losses it has noted. Margins are shown as shares of the rows whose margin is at most so much, after some
    numbers of rounds. Any model with ``staged_predict`` will do, and a classifier with ``staged_decision_function``.

    >>> import eigenwood.plots as plots
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "b", "a", "a"]
    >>> figure = plots.rounds(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    >>> [line.name for line in figure.data]
    ['training', 'bound', '1 round', '2 rounds', '3 rounds']
    """
    check_booster("rounds", model)
    return rounds_figure(numbers_of_rounds(model, X, y, X_test, y_test))


def round_boundaries(
    model: Any, X: Any, y: Any, rounds: Sequence[int] | None = None, equal_aspect: bool | None = None
) -> go.Figure:
    """Return a figure of what a boosted classifier of two features says after some numbers of rounds.

    The larger a row is drawn, the more weight it has in the next round. ``rounds`` are the numbers of rounds; by
    default four from the first to the last. ``equal_aspect`` is that of ``boundary``.
    """
    check_booster("round_boundaries", model)
    check_boundary_models([model])
    points = check_matrix("plots.round_boundaries", X)
    codes = codes_of(model, y)
    n_rounds = sum(1 for _ in model.staged_predict(X[:1]))
    shown = some_rounds(n_rounds) if rounds is None else sorted(set(rounds))
    if not shown or shown[0] < 1 or shown[-1] > n_rounds:
        raise InputError(f"plots.round_boundaries: rounds must be integers from 1 to {n_rounds}; got {rounds!r}.")
    scene = scene_of(
        points.astype(np.float64), codes, [str(label) for label in model.classes_], len(shown), equal_aspect
    )
    grid, shape = like_rows(X, grid_points(scene)), (scene.up.size, scene.across.size)
    on_grid, of_rows = (scores_after(model, rows, shown) for rows in (grid, X))
    drawn = zip(shown, on_grid, of_rows, weights_after(model, X, y, shown), strict=True)
    panels = [round_panel(n, there, here, weights, shape) for n, there, here, weights in drawn]
    return boundary_figure(scene, panels, plane_names(model, X)).update_layout(legend_itemsizing="constant")


def round_panel(n_rounds: int, scores: np.ndarray, row_scores: np.ndarray, weights: np.ndarray, shape: tuple) -> Panel:
    """Return what a booster says after some rounds, given its scores on the grid and of the rows."""
    title, nobody = f"after {n_rounds:,} round{'s' if n_rounds > 1 else ''}", np.empty(0, dtype=np.intp)
    relative = weights * weights.size
    if scores.ndim > 1:
        codes, row_codes = scores.argmax(axis=1).reshape(shape), row_scores.argmax(axis=1)
        return Panel(title, codes, row_codes, nobody, row_weights=relative)
    codes, row_codes = (scores > 0.0).astype(int).reshape(shape), (row_scores > 0.0).astype(int)
    return Panel(title, codes, row_codes, nobody, scores.reshape(shape), row_scores, row_weights=relative)


# --- of a PCA -------------------------------------------------------------------------------------


def scree(model: Any) -> go.Figure:
    """Return a figure of how much of the variance each component of a PCA holds, and the first of them together.

    A share of the variance that was asked for is a thin line.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import PCA
    >>> model = PCA(0.9).fit([[1.0, 1.1], [2.0, 1.9], [3.0, 3.2], [4.0, 3.8]])
    >>> plots.scree(model).layout.annotations[0].text
    '<b>1 component holds 99.5 %</b> (90.0 % wanted)'
    """
    pca = fitted_pca("scree", model)
    asked = pca.n_components
    wanted = float(asked) if isinstance(asked, float | np.floating) and 0.0 < asked < 1.0 else None
    return scree_figure(pca.explained_variance_ratio_, 1.0, int(pca.n_components_), wanted)


def scores(
    model: Any,
    X: Any,
    colour: Any = None,
    axes: tuple[int, int] = (0, 1),
    names: Sequence[str] | None = None,
    equal_aspect: bool = True,
) -> go.Figure:
    """Return a figure of the rows of X where two components of a PCA or a kernel PCA put them.

    ``colour`` has a value for each row, or is the name of a column of X, which the model need not know. Texts and few
    integers that repeat are categories; other numbers are amounts (numbers given as texts are categories). ``names``
    are those of the rows. With ``equal_aspect`` distances on the paper are distances between rows.
    """
    pca = fitted_components("scores", model)
    axes = two_axes("scores", pca, axes)
    points = points_of("scores", model, X, colour, axes)
    colours, colour_name = colours_of("scores", X, colour, len(points))
    names = row_names("scores", names, len(points))
    return scores_figure(points, shares_of(pca, axes), axes, colours, names, colour_name, equal_aspect)


def biplot(
    model: Any,
    X: Any,
    scaling: str = "form",
    colour: Any = None,
    axes: tuple[int, int] = (0, 1),
    names: Sequence[str] | None = None,
) -> go.Figure:
    """Return a figure of the rows of X as points and of its columns as arrows, in the plane of two components.

    With ``scaling="form"`` distances between points are those between rows; with ``"covariance"`` inner products of
    arrows are the covariances of columns, or of scaled columns if the PCA scales them. ``colour`` and ``names`` are
    those of the rows, as in ``scores``.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import PCA
    >>> X = [[1.0, 1.1], [2.0, 1.9], [3.0, 3.2], [4.0, 3.8]]
    >>> plots.biplot(PCA().fit(X), X, scaling="covariance").layout.title.text.split("<br>")[0]
    '<b>Covariance biplot</b>: inner products of arrows are covariances of columns, their lengths'
    """
    if scaling not in SCALINGS:
        raise InputError(f"plots.biplot: scaling must be {' or '.join(map(repr, SCALINGS))}; got {scaling!r}.")
    pca = fitted_pca("biplot", model)
    axes = two_axes("biplot", pca, axes)
    pair = list(axes)
    variances = pca.explained_variance_[pair]
    scores = points_of("biplot", model, X, colour, axes)
    if getattr(pca, "whiten", False):
        scores = scores * np.sqrt(variances)
    points, arrows = biplot_coordinates(scores, pca.components_[pair], variances, scaling)
    colours, colour_name = colours_of("biplot", X, colour, len(points))
    return biplot_figure(
        points,
        arrows,
        shares_of(pca, axes),
        feature_names(model, pca),
        scaling,
        axes=axes,
        colours=colours,
        row_names=row_names("biplot", names, len(points)),
        colour_name=colour_name,
        is_scaled=bool(getattr(pca, "scale", False)),
    )


def loadings(model: Any, n_components: int = 5) -> go.Figure:
    """Return a figure of the first axes of a PCA in numbers, the features that matter most for the first one first.

    ``loadings_table(model.components_, names)`` has all of them.
    """
    pca = fitted_pca("loadings", model)
    n_shown = min(whole_number("loadings", "n_components", n_components), len(pca.components_))
    shares = shares_of(pca, range(n_shown))
    return loadings_figure(pca.components_[:n_shown], feature_names(model, pca), shares)


def component_images(model: Any, image_shape: tuple[int, int], n: int = 11) -> go.Figure:
    """Return a figure of the mean and the first ``n`` axes of a PCA as images of ``image_shape`` (height, width)."""
    pca = fitted_pca("component_images", model)
    shape = shape_of("component_images", image_shape, pca.components_.shape[1])
    n_shown = min(whole_number("component_images", "n", n), len(pca.components_))
    return component_images_figure(pca.components_[:n_shown], shape, shares_of(pca, range(n_shown)), pca.mean_)


def reconstructions(
    model: Any, X: Any, image_shape: tuple[int, int], ks: Sequence[int] | None = None, n: int = 6
) -> go.Figure:
    """Return a figure of the first ``n`` rows of X as images, and what the first k components of a PCA keep of them."""
    pca = fitted_pca("reconstructions", model)
    n_shown = whole_number("reconstructions", "n", n)
    shown = first_rows(X, n_shown)
    originals = check_matrix("plots.reconstructions", shown, accept_sparse=True, missing=True)
    shape = shape_of("reconstructions", image_shape, originals.shape[1])
    scores = np.asarray(model.transform(shown))
    kept = {k: model.inverse_transform(first_scores(scores, k)) for k in ks_of(pca, ks)}
    originals = originals.toarray() if sparse.issparse(originals) else originals
    return reconstruction_figure(originals, {k: np.asarray(rows) for k, rows in kept.items()}, shape)


def contours(model: Any, X: Any, y: Any = None, n_components: int = 6) -> go.Figure:
    """Return a figure of what the first components of a PCA or a kernel PCA of two features say everywhere.

    The rows of X stand on top, in the colours of their classes ``y``.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import KernelPCA
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]]
    >>> figure = plots.contours(KernelPCA(2, kernel="rbf", gamma=0.2).fit(X), X)
    >>> [title.text for title in figure.layout.annotations]
    ['PC1 (74.0 %)', 'PC2 (18.8 %)']
    """
    last = fitted_components("contours", model)
    points = check_matrix("plots.contours", X).astype(np.float64)
    if points.shape[1] != 2:
        raise InputError(f"plots.contours: X must have 2 features, to be drawn in a plane; got {points.shape[1]}.")
    count = min(whole_number("contours", "n_components", n_components), len(last.explained_variance_ratio_))
    frame, places = plane_around(points)
    values = np.asarray(model.transform(like_rows(X, places)))[:, :count]
    classes, codes = ((), None) if y is None else np.unique(check_labels(model, y, len(points)), return_inverse=True)
    shares = last.explained_variance_ratio_[:count]
    return contours_figure(
        frame, values, points, shares, plane_names(model, X), codes, [str(label) for label in classes]
    )


# --- of images ----------------------------------------------------------------------------------------


def side_by_side(tables: Mapping[str, Any], image_shape: tuple[int, int], n: int = 6) -> go.Figure:
    """Return a figure of the first ``n`` rows of several tables as images, side by side: noisy, cleaned, and so on.

    >>> import eigenwood.plots as plots
    >>> figure = plots.side_by_side({"clean": [[0.0, 1.0]], "noisy": [[0.2, 0.7]]}, (1, 2))
    >>> [title.text for title in figure.layout.annotations]
    ['clean', 'noisy']
    """
    if not tables:
        raise InputError("plots.side_by_side: tables must have at least 1 table by its name; got none.")
    n_shown = whole_number("side_by_side", "n", n)
    shown = {str(name): check_matrix("plots.side_by_side", first_rows(rows, n_shown)) for name, rows in tables.items()}
    shapes = {rows.shape for rows in shown.values()}
    if len(shapes) > 1:
        raise InputError(f"plots.side_by_side: tables must have the same shape; got {sorted(shapes)}.")
    return side_by_side_figure(shown, shape_of("side_by_side", image_shape, shapes.pop()[1]))


# --- what a PCA has, and what its figures may be asked ------------------------------------------------


def fitted_components(who: str, model: Any) -> Any:
    """Return the PCA or kernel PCA that a model is or ends in; raise unless there is one and it is fitted."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not hasattr(last, "explained_variance_ratio_"):
        raise InputError(
            f"plots.{who}: the model must be a fitted PCA or a pipeline that ends in one; got {type(last).__name__}."
        )
    if len(last.explained_variance_ratio_) == 0:
        raise InputError(f"plots.{who}: the model must have at least 1 component; got 0.")
    return last


def fitted_pca(who: str, model: Any) -> Any:
    """Return the PCA that a model is or ends in; raise unless there is one, it is fitted, and has axes in the rows."""
    last = fitted_components(who, model)
    if not hasattr(last, "components_"):
        raise InputError(
            f"plots.{who}: the model must be a fitted PCA or a pipeline that ends in one; got {type(last).__name__}."
        )
    return last


def feature_names(model: Any, pca: Any) -> list[str]:
    """Return the names of the columns as the PCA saw them."""
    names = input_names(pca, None)
    if model is not pca and not hasattr(pca, "feature_names_in_"):
        with suppress(AttributeError):  # a step before it may give no names
            names = model[:-1].get_feature_names_out()
    return [str(name) for name in names]


def shares_of(pca: Any, axes: Sequence[int]) -> list[float]:
    """Return the shares of the variance that some components hold."""
    return [float(pca.explained_variance_ratio_[axis]) for axis in axes]


def points_of(who: str, model: Any, X: Any, colour: Any, axes: tuple[int, int]) -> np.ndarray:
    """Return two of the scores of every row; of blocks, one block after the other."""
    scores = model.transform(without_colour(who, model, X, colour))
    parts = scores if isinstance(scores, Blocks) else [np.asarray(scores)]
    return np.concatenate([part[:, list(axes)] for part in parts])


def without_colour(who: str, model: Any, X: Any, colour: Any) -> Any:
    """Return X without the column that only colours its rows, if it is a frame with one more than the model knows."""
    frame = frame_of(who, X) if isinstance(colour, str) else None
    known = getattr(model, "feature_names_in_", None)
    if frame is None or known is None or colour in known or colour not in frame.columns:
        return X
    return frame.drop(colour).to_native()


def first_rows(X: Any, n: int) -> Any:
    """Return the first rows; of blocks, no more is read than these."""
    return next(iter(replace(X, block_rows=n))) if isinstance(X, Blocks) else X[:n]


def first_scores(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the scores with zeros after the first k."""
    return np.where(np.arange(scores.shape[1]) < k, scores, 0.0)


def two_axes(who: str, pca: Any, axes: Any) -> tuple[int, int]:
    """Return the two components to show."""
    n_components = len(pca.explained_variance_ratio_)
    if n_components < 2:
        raise InputError(f"plots.{who}: the model must have at least 2 components; got {n_components}.")
    chosen = tuple(axes) if isinstance(axes, Sequence | np.ndarray) else ()
    if len(chosen) != 2 or chosen[0] == chosen[1] or any(axis not in range(n_components) for axis in chosen):
        raise InputError(
            f"plots.{who}: axes must be two different integers from 0 to {n_components - 1}; got {axes!r}."
        )
    return int(chosen[0]), int(chosen[1])


def ks_of(pca: Any, ks: Any) -> list[int]:
    """Return the numbers of components to reconstruct with."""
    n_components = len(pca.explained_variance_ratio_)
    if ks is None:
        return [*(k for k in SOME_KS if k < n_components), n_components]
    chosen = list(ks)
    wrong = [k for k in chosen if k not in range(1, n_components + 1)]
    if wrong or not chosen:
        got = wrong[0] if wrong else ks
        raise InputError(f"plots.reconstructions: ks must be integers from 1 to {n_components}; got {got!r}.")
    return [int(k) for k in chosen]


def whole_number(who: str, name: str, value: Any) -> int:
    """Return how many are to be shown."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"plots.{who}: {name} must be an integer above 0; got {value!r}.")
    return int(value)


def shape_of(who: str, image_shape: Any, n_pixels: int) -> tuple[int, int]:
    """Return height and width of an image."""
    shape = tuple(image_shape) if isinstance(image_shape, Sequence | np.ndarray) else ()
    is_pair = len(shape) == 2 and all(isinstance(side, int | np.integer) and side > 0 for side in shape)
    if not is_pair or shape[0] * shape[1] != n_pixels:
        raise InputError(
            f"plots.{who}: image_shape must be (height, width) with height x width = {n_pixels}; got {image_shape!r}."
        )
    return int(shape[0]), int(shape[1])


def colours_of(who: str, X: Any, colour: Any, n_rows: int) -> tuple[Any, str]:
    """Return a value for each row and what the values are called."""
    if colour is None:
        return None, ""
    if isinstance(colour, str):
        return column_of(who, X, colour), colour
    values = np.asarray(colour)
    if values.shape != (n_rows,):
        raise InputError(f"plots.{who}: colour must have one value for each of {n_rows:,} rows; got {values.shape}.")
    return values, str(getattr(colour, "name", None) or "")


def column_of(who: str, X: Any, name: str) -> np.ndarray:
    """Return a column of a frame."""
    columns = getattr(X, "column_names", getattr(X, "columns", ()))
    if name not in list(columns):
        raise InputError(f"plots.{who}: colour must be values or the name of a column of X; got {name!r}.")
    return np.asarray(X[name])


def row_names(who: str, names: Any, n_rows: int) -> list[str] | None:
    """Return the names of the rows."""
    if names is None:
        return None
    texts = [str(name) for name in names]
    if len(texts) != n_rows:
        raise InputError(f"plots.{who}: names must have one name for each of {n_rows:,} rows; got {len(texts):,}.")
    return texts


# --- word vectors -------------------------------------------------------------------------------------


def words(model: Any, words: Sequence[str] | None = None, n: int = 40) -> go.Figure:
    """Return a map of words: the first two principal components of their vectors, each divided by its length.

    ``words`` names them; else the ``n`` most frequent are shown.
    """
    who = "plots.words"
    if not isinstance(model, WordQueries):
        raise InputError(f"{who}: the model must be one of words; got {type(model).__name__}.")
    chosen = list(model.vocabulary_[: whole_number(who, "n", n)] if words is None else words)
    if len(chosen) < 3:
        raise InputError(f"{who}: words must be at least 3; got {len(chosen)}.")
    rows = unit_rows(np.array([model.vector(word) for word in chosen]))
    pca = PCA(2).fit(rows)
    return scores_figure(pca.transform(rows), shares_of(pca, (0, 1)), names=chosen)


def losses(model: Any) -> go.Figure:
    """Return a figure of the loss of each epoch."""
    if not hasattr(model, "losses_"):
        raise InputError(f"plots.losses: the model must be a fitted CBOW; got {type(model).__name__}.")
    return losses_figure(model.losses_, model.validation_losses_)


def analogies(scores: Any) -> go.Figure:
    """Return a figure of what ``evaluate_analogies`` returns: the share of right answers by section."""
    if not isinstance(scores, AnalogyScores):
        raise InputError(f"plots.analogies: scores must be those of evaluate_analogies; got {type(scores).__name__}.")
    return analogies_figure([Section(*part[:3]) for part in scores.sections])
