"""Word embeddings: vectors for the words of a text."""

from eigenwood.estimators.words.cbow import CBOW
from eigenwood.estimators.words.covariance import CovarianceEmbedding
from eigenwood.estimators.words.vectors import WordVectors

__all__ = ["CBOW", "CovarianceEmbedding", "WordVectors"]
