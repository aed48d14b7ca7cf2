"""A share of the variance on a route that takes a count: the count grows until its components hold the share.

However approximate directions are, the variance along them is measured. So what the components are said to hold they
do hold, and only their number may be larger than that of the best ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eigenwood.core.spectral.pairs import Wanted, count_for_share
from eigenwood.estimators.pca.sources import Source
from eigenwood.estimators.pca.types import Request, Step, Steps, once

FIRST_COUNT, GROWTH = 16, 2  # components that are tried first; times as many where these hold too little


def growing_steps(source: Source, request: Request, route: Callable[[Source, Request], Steps]) -> Iterator[Step]:
    """Yield the steps of a route with more and more components; the last has the fewest of them that hold the share."""
    share, most = request.wanted.share, request.wanted.count
    count = min(FIRST_COUNT, most)
    while True:
        for step in route(source, request._replace(wanted=Wanted(count))):
            if not step.last:
                yield step
        result = step.result()
        enough = count_for_share(result.variances, share, result.total)  # type: ignore[arg-type]
        if enough is not None or count == most:
            yield step._replace(result=once(result.first, enough or count))
            return
        yield step._replace(last=False)
        count = min(GROWTH * count, most)
