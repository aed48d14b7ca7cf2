"""What makes numbers of documents, with scikit-learn's faces."""

from eigenwood.estimators.text.bag_of_words import BagOfWords

__all__ = ["BagOfWords"]
