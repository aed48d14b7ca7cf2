"""The job of ``eigenwood embed``: a text in, vectors of its words out, with progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenwood.data.naming import ending
from eigenwood.errors import InputError
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.words import CBOW, CovarianceEmbedding, WordVectors
from eigenwood.estimators.words.queries import WordQueries, unit_rows
from eigenwood.models.file import load, save
from eigenwood.runs.embed_record import EmbedRecord, Neighbours, SectionRecord, WordPlace
from eigenwood.runs.names import EMBEDDING_NAMES

Report = Callable[[str, int, int | None], None]
MODEL_ENDING = ".safetensors"
VECTOR_ENDINGS = (".txt", ".vec", ".bin")
N_ON_MAP, N_WITH_NEIGHBOURS, N_NEAREST = 60, 12, 5
MOST_PASSED_OVER = 100  # of the most frequent words, which say little: "the", "of"


class EmbedSettings(NamedTuple):
    """What people choose."""

    method: str = EMBEDDING_NAMES[0]
    dim: int = 100
    window: int = 5
    min_count: int = 5
    max_vocab: int | None = None
    epochs: int = 5
    seed: int = 0
    time_limit: float | None = None
    encoding: str = "utf-8"
    analogies: Path | None = None  # a file of questions, to be answered when the vectors are there


class Epochs:
    """A callback that tells, after each epoch, its loss, the words in a second, and the time that is left."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._started = time.perf_counter()
        self._n_done = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self._started = time.perf_counter()

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any = None, y: Any = None) -> None:
        if context.task_name == "round" and self._n_done == 0:
            self._started = time.perf_counter()  # the text has been read by now

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None, fitted_estimator: Any = None
    ) -> None:
        if context.task_name != "round":
            return
        self._n_done += 1
        seconds = time.perf_counter() - self._started
        words = progress_words(fitted_estimator, self._n_done, estimator.epochs, seconds)
        self._report(words, self._n_done, estimator.epochs)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing was opened."""


def progress_words(model: Any, n_done: int, n_epochs: int, seconds: float) -> str:
    """Return what is told after an epoch."""
    speed = model.n_corpus_words_ * n_done / max(seconds, 1e-9)
    left = seconds / n_done * (n_epochs - n_done)
    return f"loss {model.losses_[-1]:.4f}, {speed:,.0f} words/s, {left:.0f} s left"


def embed(
    source: Any, name: str, settings: EmbedSettings, report: Report = lambda *_: None
) -> tuple[WordQueries, EmbedRecord]:
    """Return word vectors of a text, and what was done."""
    if settings.method not in EMBEDDING_NAMES:
        raise InputError(f"--method must be one of {', '.join(EMBEDDING_NAMES)}; got {settings.method!r}.")
    started = time.perf_counter()
    report("reading", 0, settings.epochs)
    model = new_model(settings, report).fit(source)
    fitted = time.perf_counter()
    sections = analogy_sections(model, settings.analogies)
    places, shares = word_map(model)
    record = EmbedRecord(
        text=name,
        method=settings.method,
        n_words=model.n_corpus_words_,
        n_vocabulary=model.counts_.size,
        n_components=model.vectors_.shape[1],
        losses=np.asarray(getattr(model, "losses_", [])).tolist(),
        stop_reason=model.stop_reason_,
        certificate=model.certificate_.as_dict(),
        version=version("eigenwood"),
        seed=settings.seed,
        places=places,
        shares=shares,
        neighbours=[neighbours_of(model, place.word) for place in places[:N_WITH_NEIGHBOURS]],
        sections=sections,
        seconds={"fit": fitted - started, "questions": time.perf_counter() - fitted},
    )
    return model, record


def word_map(model: WordQueries) -> tuple[list[WordPlace], list[float]]:
    """Return frequent words by their first two principal components, and the shares of the variance these hold."""
    first = min(MOST_PASSED_OVER, max(model.vocabulary_.size - N_ON_MAP, 0))
    words = model.vocabulary_[first : first + N_ON_MAP]
    rows = unit_rows(model.vectors_[first : first + N_ON_MAP])
    if min(rows.shape) < 2 or words.size < 3 or np.ptp(rows, axis=0).max() == 0.0:
        return [], []
    pca = PCA(2).fit(rows)
    points = pca.transform(rows).tolist()
    places = [WordPlace(str(word), across, up) for word, (across, up) in zip(words, points, strict=True)]
    return places, pca.explained_variance_ratio_.tolist()


def neighbours_of(model: WordQueries, word: str) -> Neighbours:
    return Neighbours(word, model.most_similar(word, n=N_NEAREST))


def analogy_sections(model: WordQueries, file: Path | None) -> list[SectionRecord]:
    """Return the answers to a file of analogies by section, and of all together, if there is one."""
    if file is None:
        return []
    scores = model.evaluate_analogies(file)
    return [SectionRecord(*part) for part in (*scores.sections, scores.total)]


def new_model(settings: EmbedSettings, report: Report) -> Any:
    """Return the estimator, not fitted, that settings describe."""
    shared = {
        "window": settings.window,
        "min_count": settings.min_count,
        "max_vocab": settings.max_vocab,
        "random_state": settings.seed,
        "time_limit": settings.time_limit,
        "encoding": settings.encoding,
        "n_jobs": -1,
    }
    if settings.method == "covariance":
        return CovarianceEmbedding(settings.dim, **shared)
    return CBOW(settings.dim, epochs=settings.epochs, **shared).set_callbacks(Epochs(report))


def check_output(path: Path) -> None:
    """Raise for a file whose ending names no format."""
    if ending(path) not in (MODEL_ENDING, *VECTOR_ENDINGS):
        endings = ", ".join((MODEL_ENDING, *VECTOR_ENDINGS))
        raise InputError(f"{path.name}: --out must end with one of {endings}; got {path.suffix!r}.")


def write(model: Any, path: Path) -> None:
    """Write a model, or its vectors alone in a format of word2vec."""
    if ending(path) == MODEL_ENDING:
        save(model, path)
    else:
        model.save_word2vec(path)


def read(path: Path) -> WordQueries:
    """Return a model of word vectors, or vectors in a format of word2vec."""
    if path.suffix.lower() != MODEL_ENDING:
        return WordVectors.read(path)
    model = load(path)
    if not isinstance(model, WordQueries):
        raise InputError(f"{path.name}: the model must be one of words; got {type(model).__name__}.")
    return model
