"""The Gram route: with n ≪ d the n x n matrix AAᵀ has the same eigenvalues as the d x d matrix AᵀA (the PCA lecture).

A        [ columns 0 ][ columns 1 ] …        centred block by block, never all at once
G        sum of the blocks' products, in float64; tiles of G and lanes of blocks are the tasks
back     v = Aᵀu / s             (``centred.column_products``)
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.centred import Centred, narrow
from eigenwood.core.spectral.moments import FAR, TILE, add_to, even_slices, lanes_of
from eigenwood.core.threads import results_of, row_blocks

GRAM_COLUMNS = 4096
N_LANES = 8


def gram_of(A: Centred, columns: slice, n_threads: int = 1) -> np.ndarray:
    """Return AAᵀ over a range of columns, in float64.

    >>> X = np.array([[1.0, 0.0, 3.0], [-1.0, 0.0, -3.0]])
    >>> gram_of(Centred(X, np.ones(2), np.zeros(3), np.ones(3)), slice(0, 3))
    array([[ 10., -10.],
           [-10.,  10.]])
    """
    return _sparse_gram(A, columns) if sparse.issparse(A.X) else _dense_gram(A, columns, n_threads)


def _dense_gram(A: Centred, chosen: slice, n_threads: int) -> np.ndarray:
    n = A.X.shape[0]
    tiles = even_slices(n, TILE)
    pairs = [(top, bottom) for i, top in enumerate(tiles) for bottom in tiles[i:]]
    blocks = [
        slice(chosen.start + block.start, chosen.start + block.stop)
        for block in row_blocks(chosen.stop - chosen.start, GRAM_COLUMNS)
    ]
    lanes = lanes_of(blocks, max(1, N_LANES // len(pairs)))
    source = narrow(A)

    def tile_sum(task) -> np.ndarray:
        lane, top, bottom = task
        total = np.zeros((top.stop - top.start, bottom.stop - bottom.start))
        for columns in lane:
            a = source.block(top, columns)
            b = a if top is bottom else source.block(bottom, columns)
            add_to(total, a @ b.T)
        return total

    sums = results_of(tile_sum, [(lane, top, bottom) for top, bottom in pairs for lane in lanes], n_threads)
    gram = np.empty((n, n))
    for p, (top, bottom) in enumerate(pairs):
        gram[top, bottom] = np.sum(sums[p * len(lanes) : (p + 1) * len(lanes)], axis=0)
        gram[bottom, top] = gram[top, bottom].T
    return gram


def _sparse_gram(A: Centred, columns: slice) -> np.ndarray:
    """(Y - 1mᵀ)(Y - 1mᵀ)ᵀ for Y = X / σ and m = μ / σ, then weighted."""
    scaled = (A.X[:, columns].astype(np.float64) @ sparse.diags_array(1.0 / A.scale[columns])).tocsr()
    mean = (A.mean / A.scale)[columns]
    squares = float((scaled.data**2).sum())
    if A.X.shape[0] * (mean @ mean) > FAR / (1.0 + FAR) * squares:  # hardly anything is left beside the mean
        dense = A._replace(X=A.X[:, columns].toarray(), mean=A.mean[columns], scale=A.scale[columns])
        return _dense_gram(dense, slice(0, mean.size), 1)
    along = scaled @ mean
    gram = (scaled @ scaled.T).toarray() - along[:, None] - along[None, :] + mean @ mean
    return A.roots[:, None] * gram * A.roots[None, :]
