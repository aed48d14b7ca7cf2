"""Progress, time limit and early stop for every long fit, in one place.

A solver of the core is a generator: it yields where it stands, often. ``Watch`` drives it, tells scikit-learn's
callbacks about every round, looks at the clock between two yields, and says why the fit ended.

    core          ... yield step ──► whole round? ──► callbacks ──► stop? ──► yield step ...
                                   └ time up? ──► leave with the step at hand: a usable model

A step has two flags, ``whole`` (a round is complete) and ``last`` (the solver is done).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sklearn.callback import CallbackSupportMixin

from eigenwood.validation.params import AnyOf, Nothing, Number

TIME_LIMIT = AnyOf(Nothing(), Number(above=0))

FINISHED, TIME_UP, CALLED_OFF, NO_GAIN = STOP_REASONS = ("finished", "time_limit", "callback", "early_stopping")


class Outcome(NamedTuple):
    """The last step of a fit, and why it was the last."""

    step: Any
    reason: str
    n_rounds: int


class OutOfTimeError(Exception):
    """Leaves work that has no result before its end."""


class Deadline:
    """A limit of time that begins now; None is no limit."""

    def __init__(self, limit: float | None) -> None:
        self._deadline = None if limit is None else time.perf_counter() + limit

    def time_is_up(self) -> bool:
        """Return whether ``time_limit`` has passed."""
        return self._deadline is not None and time.perf_counter() >= self._deadline

    def seconds_left(self) -> float | None:
        """Return the time that is left, at most 0 if none is; None without a limit."""
        return None if self._deadline is None else self._deadline - time.perf_counter()

    def check(self) -> None:
        """Raise if ``time_limit`` has passed."""
        if self.time_is_up():
            raise OutOfTimeError

    def time_limit(self) -> float | None:
        """Return the time that is left for a fit; raise if none is."""
        left = self.seconds_left()
        if left is not None and left <= 0.0:
            raise OutOfTimeError
        return left


class Watch(Deadline):
    """Watches one fit; made in its first line, so that the clock starts there."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator.time_limit)
        self._estimator = estimator

    def __reduce__(self) -> tuple:
        """Another process gets None: its clock is another one, and it is this process that ends the fit."""
        return nobody, ()

    def follow(
        self,
        steps: Iterator[Any],
        *,
        max_rounds: int | None,
        fitted: Callable[[Any], dict],
        X: Any = None,
        y: Any = None,
        wants_stop: Callable[[Any], bool] = lambda step: False,
        seconds_after: Callable[[Any], float] = lambda step: 0.0,
    ) -> Outcome:
        """Drive ``steps`` to the end, to the time limit, or until a callback or ``wants_stop`` says stop.

        ``fitted`` makes the fitted attributes out of a step, for callbacks that want to look at the model so far.
        ``seconds_after`` says how long it would take to make the model, were this step the last: time is up when no
        more than that is left.
        """
        estimator = self._estimator
        root = estimator._init_callback_context(max_subtasks=max_rounds)
        root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        reason, n_rounds = None, 0
        while reason is None:
            task = root.subcontext(task_name="round").call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            step = self._after_one_round(steps, seconds_after)
            n_rounds += 1
            called_off = task.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=lambda step=step: fitted(step)
            )
            reason = self._reason(step, called_off, wants_stop(step), self._is_last_chance(step, seconds_after))
        root.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: fitted(step))
        return Outcome(step, reason, n_rounds)

    def _after_one_round(self, steps: Iterator[Any], seconds_after: Callable[[Any], float]) -> Any:
        """Return the step at the end of a round, or where the time limit cut it."""
        while True:
            step = next(steps)
            if step.whole or self._is_last_chance(step, seconds_after):
                return step

    def _is_last_chance(self, step: Any, seconds_after: Callable[[Any], float]) -> bool:
        """Return whether a model that is made of a later step would be late."""
        left = self.seconds_left()
        return left is not None and left <= seconds_after(step)

    def _reason(self, step: Any, called_off: bool, no_gain: bool, is_late: bool) -> str | None:
        """Return why the fit ends here, or None when it goes on.

        The clock goes before the callbacks: it may have left something half done, which a warm start must know.
        """
        if step.last:
            return FINISHED
        if is_late:
            return TIME_UP
        if called_off:
            return CALLED_OFF
        return NO_GAIN if no_gain else None


def nobody() -> None:
    """Return what watches a fit in a process that has not begun it."""


class Watched(CallbackSupportMixin):
    """Gives an estimator scikit-learn's ``set_callbacks``; its ``fit`` makes a ``Watch`` in its first line."""


@contextmanager
def all_or_nothing(estimator: Any, *notes: str) -> Iterator[dict[str, Any]]:
    """Leave an estimator as it was if what is done to it inside fails: the gate notes columns before all is checked.

    Gives the fitted attributes as they were: those whose names end with ``_``, and ``notes`` that have other names.
    What scikit-learn has noted there meanwhile stays, since it tears callbacks down by it.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(n_features_in_=4)
    >>> try:
    ...     with all_or_nothing(model):
    ...         model.n_features_in_, model.half_ = 2, True
    ...         raise ValueError
    ... except ValueError:
    ...     print(model)
    namespace(n_features_in_=4)
    """

    def fitted() -> dict[str, Any]:
        return {name: value for name, value in vars(estimator).items() if name.endswith("_") or name in notes}

    before = fitted()
    try:
        yield before
    except BaseException:
        for name in fitted():
            delattr(estimator, name)
        vars(estimator).update(before)
        raise
