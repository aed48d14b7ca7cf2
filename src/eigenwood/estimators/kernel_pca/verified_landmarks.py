"""The claims about components of a low-rank kernel, recomputed from its landmarks and all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import gram, gram_diagonal
from eigenwood.estimators.kernel_pca.faces import KernelPCA
from eigenwood.estimators.kernel_pca.fitting import EXACT, tolerance_of
from eigenwood.estimators.kernel_pca.planning import LOW_RANK
from eigenwood.estimators.kernel_pca.results import rounding_of
from eigenwood.estimators.kernel_pca.routes import TIGHTENED_ROWS
from eigenwood.estimators.kernel_pca.types import Problem
from eigenwood.estimators.kernel_pca.verified_rows import HELD_ROWS, Rows, n_other_rows, stated_checks
from eigenwood.estimators.kernels import similarity
from eigenwood.estimators.watching import FINISHED, Deadline
from eigenwood.proofs.kernel_pca import KernelPcaFacts, bracketed, relative, smallest_found

LEAST = 1e-13  # of an eigenvalue among landmarks, beside the largest: below, it is rounding


class Landmarks(NamedTuple):
    """What the features of all rows tell, in any square root of the kernel among the landmarks."""

    n_rows: int
    mean: np.ndarray
    products: np.ndarray
    trace: float
    kept: float
    largest: float
    mean_error: float  # of ⟨φ(x), mean⟩ by the model's weights, on any row, beside the largest k(x, x)
    scores: np.ndarray  # sums of the scores
    angles: np.ndarray  # of their products
    score_error: float  # √λ v beside scores, where there are eigenvectors


def facts_of_landmarks(model: KernelPCA, parts: Iterator[Any], rows: Rows | None, deadline: Deadline) -> KernelPcaFacts:
    """Return the facts about components of a low-rank kernel."""
    dtype = model.X_fit_.dtype if rows is None or model.kernel != "precomputed" else rows.given.dtype
    dtype = np.dtype(np.float64) if callable(model.kernel) else dtype
    seen = features_seen(model, parts, rows, deadline)
    values, n = model.eigenvalues_, seen.n_rows
    k = values.size
    expected = np.linalg.eigvalsh(seen.products)[::-1] if seen.products.size else np.empty(0)
    expected = np.append(np.maximum(expected, 0.0), np.zeros(k))[:k]
    largest = float(values.max(initial=0.0))
    rounding = rounding_of(seen.largest, n, largest, dtype)
    missing = max(seen.trace - seen.kept, 0.0)
    total = max(seen.trace - n * float(seen.mean @ seen.mean), 0.0)
    off = np.abs(seen.angles - np.diag(values)).max(initial=0.0)
    centre = relative(float(np.abs(seen.scores / n).max(initial=0.0)), float(np.sqrt(seen.largest)))
    checks = (
        *stated_checks(model, None if rows is None else rows.X, total, seen.trace, missing, n),
        (
            "eigenvalues",
            "largest |λ - that of the low-rank kernel|, beside λ₁",
            relative(float(np.abs(values - expected).max(initial=0.0)), largest),
        ),
        ("projection", "largest |Σ scores scoresᵀ - diag λ|, beside λ₁", relative(float(off), largest)),
        ("offset", "largest mean of the scores, beside the length of a row", centre),
        ("mean", "largest error of ⟨φ(x), mean⟩, beside the largest k(x, x)", seen.mean_error),
        ("eigenvectors", "largest |√λ v - score|, beside the length of a row", seen.score_error),
    )
    smallest = None
    if rows is not None and n <= HELD_ROWS and not Problem(rows.X, rows.matrix(), model.gamma_).is_mercer():
        smallest = smallest_found(rows.centred_times, n, largest)
    V = getattr(model, "eigenvectors_", np.empty((0, 0))).astype(np.float64)
    brackets, residuals = bracketed(values, missing, rounding), np.zeros(k)
    if rows is not None and V.size and n <= TIGHTENED_ROWS and model.stop_reason_ == FINISHED:
        brackets, residuals = narrower(values, V, missing, rounding, rows, seen)
    return KernelPcaFacts(
        values=values,
        residuals=residuals,
        intervals=brackets,
        skew=float(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0)),
        total=total,
        tolerance=tolerance_of(model, LOW_RANK, dtype),
        rounding=rounding,
        exact=EXACT[dtype],
        trace_share=relative(missing, seen.trace),
        smallest=smallest,
        checks=checks,
        n_other_rows=None if rows is None else n_other_rows(model, rows),
        interval_error=relative(float(np.abs(model.eigenvalue_interval_ - brackets).max(initial=0.0)), largest),
    )


def narrower(
    values: np.ndarray, V: np.ndarray, missing: float, rounding: float, rows: Rows, seen: Landmarks
) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals from the residuals in K itself, and these."""
    real = int((values > 0.0).sum())
    product = rows.centred_times(V[:, :real])
    ritz = V[:, :real].T @ product
    following = np.append(np.linalg.eigvalsh(seen.products)[::-1], np.zeros(real + 1))[real]
    rest = float(np.linalg.norm(product - V[:, :real] @ ritz, 2)) if real else 0.0
    thetas = np.linalg.eigvalsh((ritz + ritz.T) / 2.0)[::-1]
    narrow = bracketed(values[:real], missing, rounding, (thetas, rest, float(following) + missing))
    residuals = np.append(np.linalg.norm(product - V[:, :real] * values[:real], axis=0), np.zeros(values.size - real))
    return np.vstack([narrow, bracketed(values[real:], missing, rounding)]), residuals


def features_seen(model: KernelPCA, parts: Iterator[Any], rows: Rows | None, deadline: Deadline) -> Landmarks:
    """Return what all rows tell, block by block."""
    root = inverse_root(among_landmarks(model, rows))
    so_far, shown = empty_landmarks(root.shape[1], model.eigenvalues_.size), None
    for part in parts:
        deadline.check()
        near, diagonal = beside_landmarks(model, part.astype(np.float64), rows, so_far.n_rows)
        F = near @ root
        so_far = added(so_far, F, near @ model.projection_ - model.offset_, diagonal, model)
        shown = (F, near @ model.mean_weights_) if shown is None else shown  # any rows show what the weights are worth
    n, largest = max(so_far.n_rows, 1), so_far.largest or 1.0
    mean = so_far.mean / n
    error = 0.0 if shown is None else float(np.abs(shown[0] @ mean - shown[1]).max(initial=0.0))
    return so_far._replace(
        mean=mean,
        products=so_far.products - n * np.outer(mean, mean),
        mean_error=error / largest,
        score_error=so_far.score_error / np.sqrt(largest),
    )


def among_landmarks(model: KernelPCA, rows: Rows | None) -> np.ndarray:
    """Return the kernel values among the landmarks."""
    places, kernel = model.landmark_indices_, similarity(model, model.gamma_, model.X_fit_)
    if kernel is None:
        assert rows is not None
        return rows.X[np.ix_(places, places)]
    landmarks = model.X_fit_.astype(np.float64)
    return gram(landmarks, landmarks, kernel) if places.size else np.empty((0, 0))


def beside_landmarks(model: KernelPCA, block: Any, rows: Rows | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel values of a block of rows beside the landmarks, and k(x, x); ``first`` is its first row."""
    places, kernel = model.landmark_indices_, similarity(model, model.gamma_, model.X_fit_)
    if kernel is None:
        assert rows is not None
        own = slice(first, first + block.shape[0])
        return rows.X[own][:, places], rows.X.diagonal()[own]
    landmarks = model.X_fit_.astype(np.float64)
    near = gram(block, landmarks, kernel) if places.size else np.empty((block.shape[0], 0))
    return near, gram_diagonal(block, kernel)


def added(so_far: Landmarks, F: np.ndarray, scores: np.ndarray, diagonal: np.ndarray, model: KernelPCA) -> Landmarks:
    """Return what rows tell with those of one block more."""
    stated = scores_stated(model, so_far.n_rows, scores) if hasattr(model, "eigenvectors_") else scores
    return so_far._replace(
        n_rows=so_far.n_rows + len(F),
        mean=so_far.mean + F.sum(axis=0),
        products=so_far.products + F.T @ F,
        trace=so_far.trace + float(diagonal.sum()),
        kept=so_far.kept + float(np.square(F).sum()),
        largest=max(so_far.largest, float(np.abs(diagonal).max(initial=0.0))),
        scores=so_far.scores + scores.sum(axis=0),
        angles=so_far.angles + scores.T @ scores,
        score_error=max(so_far.score_error, float(np.abs(stated - scores).max(initial=0.0))),
    )


def scores_stated(model: KernelPCA, first: int, scores: np.ndarray) -> np.ndarray:
    """Return √λ v for some rows; something else where there are not so many."""
    stated = model.eigenvectors_[first : first + len(scores)] * np.sqrt(model.eigenvalues_)
    return stated if stated.shape == scores.shape else np.full(scores.shape, np.inf)


def empty_landmarks(rank: int, k: int) -> Landmarks:
    return Landmarks(0, np.zeros(rank), np.zeros((rank, rank)), 0.0, 0.0, 0.0, 0.0, np.zeros(k), np.zeros((k, k)), 0.0)


def inverse_root(among: np.ndarray) -> np.ndarray:
    """Return R with k(x, S) R Rᵀ k(S, z) the low-rank kernel: R Rᵀ is the inverse of K[S, S], but for its rounding."""
    if among.size == 0:
        return among
    values, vectors = np.linalg.eigh((among + among.T) / 2.0)
    real = values > LEAST * values[-1]
    return vectors[:, real] / np.sqrt(values[real])
