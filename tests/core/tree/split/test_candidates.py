"""The draw: candidates come in the order of their keys, whichever way they are taken out."""

import numpy as np
import pytest

from eigenwood.core.bits import ONE, add_member, word_count
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.split.candidates import (
    SHORT,
    band_for,
    key_of,
    make_draw,
    next_band,
    next_drawn,
)
from eigenwood.core.tree.split.histogram import write_groups
from eigenwood.core.tree.workspace import DrawBuffers


def drawn_by_bands(draw, n_candidates, n, band):
    """Return all ``n`` candidates that can be drawn, band by band."""
    near, bar, found = np.empty(n_candidates, dtype=np.uint64), np.uint64(0), []
    while len(found) < n:
        n_near, bar = next_band(draw, n_candidates, np.uint64(bar), np.uint64(band), near)
        found += [int(next_drawn(near, n_near - t)) for t in range(n_near)]
    return found


@pytest.mark.parametrize("n_wanted", [1, 7, 1000])
@pytest.mark.parametrize("n_groups", [0, 3, 30])
@pytest.mark.parametrize("n_columns", [1, 5, SHORT, SHORT + 1, 40, 300])
def test_the_draw_is_in_the_order_of_its_keys(n_columns, n_groups, n_wanted):
    rng = np.random.default_rng(n_columns + n_groups)
    features = rng.permutation(400)[: n_columns + n_groups]
    dense, sparse_feature = (
        features[:n_columns],
        np.repeat(np.sort(features[n_columns:]), 2),
    )  # two sparse bins for each
    sparse_bins, group = np.arange(sparse_feature.size), np.empty(sparse_feature.size + 1, dtype=np.int64)
    assert write_groups(sparse_bins, sparse_bins.size, sparse_feature, group) == n_groups
    feature_keys, sparse_keys = (splitmix64(each.astype(np.uint64) + ONE) for each in (dense, sparse_feature))
    constant, draw = (
        np.zeros(word_count(n_columns), dtype=np.uint64),
        np.empty(n_columns + sparse_bins.size, dtype=np.uint64),
    )
    buffers = DrawBuffers(feature_keys, sparse_keys, draw, np.empty_like(draw))
    for at in range(0, n_columns, 4):
        add_member(constant, at)
    candidates = [at for at in range(n_columns + n_groups) if at >= n_columns or at % 4]
    asked = np.concatenate([dense, sparse_feature[::2]])
    for seed in rng.integers(2**63, size=5, dtype=np.uint64):
        n = make_draw(buffers, sparse_keys, n_columns, n_groups, sparse_bins, group, constant, seed)
        assert n == len(candidates)
        found = drawn_by_bands(draw, n_columns + n_groups, n, band_for(n_wanted, n))
        assert found == sorted(candidates, key=lambda at, seed=seed: int(key_of(seed + ONE, asked[at])))
