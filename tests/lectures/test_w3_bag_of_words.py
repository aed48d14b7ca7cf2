"""W3 (the boosting and SVM lecture): the four drama reviews as one-hot words and as a bag of frequent words; reviews
liked or not liked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from eigenwood import SVC, BagOfWords, verify
from eigenwood.data import datasets

REVIEWS = [
    "The drama was interesting, loved the way each scene was directed. I simply loved everything in the drama.",
    "I had three boring hours. Very boring to watch.",
    "I liked the role each that was assigned to each super star. Especially loved the performance of actor.",
    "Though I hate all the dramas of the director, this one was an exception with lot of entertainment.",
]
WORDS = ("loved", "boring", "liked", "hate", "entertainment")


def table(bag, counts):
    """Return the deck's kind of table: for each review how often each word is in it."""
    return {word: counts.toarray()[:, bag.vocabulary_[word]].tolist() for word in WORDS}


def test_the_reviews_in_bag_of_words_form():
    bag = BagOfWords()
    counts = bag.fit_transform(REVIEWS)
    assert table(bag, counts) == {
        "loved": [2, 0, 1, 0],
        "boring": [0, 2, 0, 0],
        "liked": [0, 0, 1, 0],
        "hate": [0, 0, 0, 1],
        "entertainment": [0, 0, 0, 1],
    }
    assert verify(bag, REVIEWS).holds


def test_one_hot_words_say_only_whether_a_word_is_there():
    bag = BagOfWords(binary=True)
    assert table(bag, bag.fit_transform(REVIEWS))["boring"] == [0, 1, 0, 0]


def test_a_vocabulary_of_the_most_frequent_words():
    """Of the words that are no stop words, two occur more than twice: each and loved; drama and boring follow."""
    bag = BagOfWords(max_features=4, stop_words=["the", "was", "of"]).fit(REVIEWS)
    totals = dict(zip(bag.terms_, bag.term_counts_.tolist(), strict=True))
    assert sorted(bag.vocabulary_) == ["boring", "drama", "each", "loved"]
    assert [totals[word] for word in ("each", "loved", "drama", "boring")] == [3, 3, 2, 2]


@pytest.mark.data
def test_liked_or_not_liked():
    """Every fourth review, 500 in all, by a machine on the bag of words; five folds. A guess is right half the time."""
    reviews = datasets.load("polarity")
    model = make_pipeline(BagOfWords(binary=True, min_df=3), Normalizer(), SVC(kernel="linear", C=3.0))
    scores = cross_val_score(model, reviews.X[::4], reviews.y[::4], cv=5)
    assert 0.76 <= np.mean(scores) <= 0.86
