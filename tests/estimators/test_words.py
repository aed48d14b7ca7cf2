"""CBOW with scikit-learn's face: what it learns, what can be asked, and what is said when it cannot learn."""

from __future__ import annotations

import pickle
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from eigenwood import CBOW, WordVectors, verify
from eigenwood.errors import InputError, TableError
from eigenwood.estimators.words.corpus import read_corpus
from tests.estimators.exam import Recorder
from tests.models.crafting import assert_one_sentence

COMPILED = not config.DISABLE_JIT
DRINKS = ["we drink hot tea", "we drink hot coffee", "they read old books", "they read old letters"]
TEXT = DRINKS * (30 if COMPILED else 3)
SMALL = {"n_components": 8, "min_count": 1, "subsample": None, "epochs": 8, "window": 3}


def fitted(text=None, **params):
    return CBOW(**{**SMALL, **params}).fit(TEXT if text is None else text)


@pytest.fixture(scope="module")
def model():
    return fitted(epochs=20 if COMPILED else 2)


# ---- the text ------------------------------------------------------------------------------------------------------


def test_the_vocabulary_is_in_the_order_of_counts_then_of_the_alphabet():
    corpus = read_corpus("CBOW", ["b a b c", "a d b"], 1, None)
    assert corpus.words.tolist() == ["b", "a", "c", "d"]
    assert corpus.counts.tolist() == [3, 2, 1, 1]
    assert corpus.ids.tolist() == [0, 1, 0, 2, -1, 1, 3, 0, -1]
    assert corpus.n_words == 7


def test_rare_words_are_left_out_and_the_text_closes_up():
    corpus = read_corpus("CBOW", ["b a b c", "a d b"], 2, None)
    assert corpus.words.tolist() == ["b", "a"]
    assert corpus.ids.tolist() == [0, 1, 0, -1, 1, 0, -1]
    assert corpus.n_words == 7


def test_the_top_words_are_kept_ties_by_the_alphabet():
    assert read_corpus("CBOW", ["b a b c d c"], 1, 2).words.tolist() == ["b", "c"]
    assert read_corpus("CBOW", ["z y x w"], 1, 3).words.tolist() == ["w", "x", "y"]


def test_a_file_and_a_generator_are_learnt_as_a_list_is(tmp_path, model):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(TEXT), encoding="utf-8")
    epochs = model.epochs
    assert_array_equal(fitted(path, epochs=epochs).vectors_, model.vectors_)
    assert_array_equal(fitted((line.split() for line in TEXT), epochs=epochs).vectors_, model.vectors_)


def test_no_sentence_is_cut():
    """Gensim drops what is beyond the 10,000th word of a sentence, and says nothing."""
    long = list(chain.from_iterable(line.split() for line in DRINKS)) * 700
    one = fitted([long], epochs=1) if COMPILED else read_corpus("CBOW", [long], 1, None)
    total = one.n_examples_.sum() if COMPILED else (one.ids >= 0).sum()
    assert total == len(long) > 11_000


# ---- what is learnt ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not COMPILED, reason="takes more epochs than plain Python has time for")
def test_words_of_the_same_contexts_are_alike(model):
    assert model.most_similar("tea", n=1)[0][0] == "coffee"
    assert model.similarity("tea", "coffee") > 0.9 > model.similarity("tea", "books")
    assert model.losses_[-1] < 0.7 * model.losses_[0]
    assert model.certificate_.holds


def test_every_word_beside_another_is_an_example(model):
    assert model.n_examples_.tolist() == [4 * len(TEXT)] * model.epochs
    assert model.n_iter_ == model.epochs
    assert model.stop_reason_ == "finished"
    assert model.counts_.sum() == model.n_corpus_words_ == 4 * len(TEXT)


def test_the_first_loss_is_that_of_vectors_of_zeros():
    """Of what is drawn, the answer itself is no negative: so a bit less."""
    loss = fitted(DRINKS, learning_rate=1e-9, final_learning_rate=1e-9, epochs=1, negatives=3).losses_[0]
    assert 2.8 * np.log(2.0) < loss <= 4 * np.log(2.0)


@pytest.mark.parametrize("loss", ["negative_sampling", "softmax"])
@pytest.mark.parametrize("corrected", [True, False])
def test_the_same_bits_for_any_number_of_threads(loss, corrected):
    alone = fitted(loss=loss, corrected=corrected, epochs=2)
    together = fitted(loss=loss, corrected=corrected, epochs=2, n_jobs=4)
    assert_array_equal(together.vectors_, alone.vectors_)
    assert_array_equal(together.losses_, alone.losses_)


def test_another_seed_is_another_model(model):
    assert np.abs(fitted(random_state=1, epochs=model.epochs).vectors_ - model.vectors_).max() > 1e-3


def test_softmax_tells_a_word_from_all_others():
    model = fitted(loss="softmax", learning_rate=0.3, epochs=30 if COMPILED else 3)
    assert model.losses_[0] < np.log(len(model.vocabulary_)) + 0.1
    assert verify(model, TEXT).holds
    if COMPILED:
        assert model.losses_[-1] < 0.6


def test_text_that_is_held_out():
    model = fitted(validation_fraction=0.25, epochs=6)
    assert model.validation_losses_.size == model.n_iter_ == 6
    assert model.n_examples_[0] == pytest.approx(3 * len(TEXT), abs=4)
    assert_allclose(model.validation_losses_[-1], model.losses_[-1], rtol=0.25)
    learnt = TEXT[: 3 * len(TEXT) // 4]
    assert_array_equal(fitted(learnt, epochs=6).n_examples_, model.n_examples_)


def test_the_score_is_minus_a_loss_that_falls(model):
    before = fitted(epochs=1, learning_rate=1e-6, final_learning_rate=1e-6)
    assert before.score(TEXT) == pytest.approx(-before.losses_[0], rel=0.05)
    assert model.score(TEXT) > before.score(TEXT)
    assert model.score(TEXT) == clone(model).set_params(n_jobs=2).fit(TEXT).score(TEXT)


def test_a_window_longer_than_any_sentence_is_the_sentence():
    """The reach is drawn up to the window, so almost always the sentence is the context: as if it were all of it."""
    assert fitted(window=10**9, epochs=1).n_examples_.tolist() == [4 * len(TEXT)]


def test_words_of_ten_thousand_letters():
    model = fitted(["a" * 10_000 + " tea", "a" * 10_000 + " coffee"] * 5, epochs=1)
    assert model.vector("a" * 10_000).shape == (8,)
    with pytest.raises(InputError) as caught:
        model.vector("b" * 10_000)
    assert len(str(caught.value)) < 200


# ---- questions -----------------------------------------------------------------------------------------------------


def test_vectors_by_name(model):
    assert_array_equal(model.vector("tea"), model.vectors_[model.vocabulary_.tolist().index("tea")])
    model.vector("tea")[:] = 0.0  # a copy
    assert np.abs(model.vector("tea")).max() > 0.0
    assert "tea" in model
    assert "wine" not in model


def test_the_words_of_a_question_are_no_answer(model):
    answers = model.most_similar(["tea", "books"], ["read"], n=100)
    assert len(answers) == len(model.vocabulary_) - 3
    assert not {word for word, _ in answers} & {"tea", "books", "read"}
    cosines = [cosine for _, cosine in answers]
    assert cosines == sorted(cosines, reverse=True)
    assert model.analogy("tea", "read", "books", n=100) == answers


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (lambda model: model.vector("wine"), "'wine'"),
        (lambda model: model.most_similar("wine"), "'wine'"),
        (lambda model: model.analogy("tea", "wine", "beer"), "'beer', 'wine'"),
        (lambda model: model.similarity("tea", 3), "3"),
    ],
)
def test_words_that_are_not_there_are_named(model, question, named):
    with pytest.raises(InputError) as caught:
        question(model)
    assert_one_sentence(str(caught.value))
    assert str(caught.value).startswith("CBOW: words must be in the vocabulary of 10 words; got ")
    assert set(re.findall(r"'\w+'|\d$", str(caught.value).rstrip(".").split("got ")[1])) <= set(named.split(", "))


def test_a_sentence_is_the_mean_of_its_words(model):
    got = model.transform(["hot tea wine", ["wine"], "tea"])
    assert_allclose(got[0], (model.vector("hot") + model.vector("tea")) / 2, atol=1e-6)
    assert_array_equal(got[1], np.zeros(8))
    assert_array_equal(got[2], model.vector("tea"))
    assert model.get_feature_names_out().tolist()[:2] == ["cbow0", "cbow1"]
    assert make_pipeline(clone(model)).fit(TEXT).transform(["tea"]).shape == (1, 8)


ROWS = {"king": [1, 1], "queen": [1, -1], "man": [0, 1], "woman": [0, -1], "paris": [-1, 0.2], "berlin": [-1, -0.2]}


@pytest.fixture
def royals():
    return WordVectors(ROWS, np.array(list(ROWS.values()), dtype=float))


def test_analogies_by_section(royals, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": family\nMan king woman queen\nman King woman paris\n: other\nman woman rome berlin\n")
    scores = royals.evaluate_analogies(path)
    assert [tuple(section) for section in scores.sections] == [("family", 1, 2, 0), ("other", 0, 0, 1)]
    assert tuple(scores.total) == ("all", 1, 2, 1)
    assert scores.accuracy == 0.5
    assert np.isnan(scores.sections[1].accuracy)
    assert royals.evaluate_analogies(path, lowercase=False).total.n_skipped == 3
    assert royals.evaluate_analogies(path, max_vocab=3).total.n_asked == 0


def test_similarity_is_spearmans(royals, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("# remark\nking\tqueen\t5\nking\tman\t8\nParis\tberlin\t9\nking\twine\t1\nman\twoman\t0\n")
    score = royals.evaluate_similarity(path)
    assert score.correlation == pytest.approx(1.0)
    assert (score.n_pairs, score.n_skipped) == (4, 1)
    path.write_text("king\twine\t1\n")
    with pytest.raises(InputError, match="at least 2 pairs must be of known words; got 0"):
        royals.evaluate_similarity(path)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.bin"])
def test_vectors_go_into_a_file_and_come_back(model, tmp_path, name):
    read = WordVectors.read(model.save_word2vec(tmp_path / name))
    assert_array_equal(read.vectors_, model.vectors_)
    assert read.most_similar("tea") == model.most_similar("tea")


@pytest.mark.parametrize(
    ("words", "vectors", "what"),
    [
        (["a", "a"], [[1.0], [2.0]], "words must differ"),
        (["a"], [[1.0], [2.0]], "vectors must have a row for each of the 1 words"),
        (["a", 2], [[1.0], [2.0]], "words must be strings; got 2 of type int"),
        (["a"], [[np.nan]], "vectors must be finite"),
        ([], [], "vectors must have a row"),
    ],
)
def test_vectors_that_are_none(words, vectors, what):
    with pytest.raises(InputError, match=what):
        WordVectors(words, vectors)


# ---- what cannot be learnt -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ([], "sentences must hold words; got none"),
        (["", []], "sentences must hold words; got none"),
        (["one"], "must hold two different words at least 5 times each (min_count); got none of 1"),
        (
            ["one one one one one"],
            "must hold two different words at least 5 times each (min_count); got only 'one' of 1",
        ),
        (["one", "two"] * 5, "a sentence must hold two words of the vocabulary; got none that does"),
        ([[1, 2, 3]], "words must be strings; got 1 of type int"),
        ([["a", None]], "words must be strings; got None of type NoneType"),
        ([[["a"]]], "words must be strings; got unhashable type: 'list'"),
        ("some text", "sentences must be a file, as pathlib.Path, or an iterable of sentences; got a string"),
        (np.eye(3), "words must be strings; got"),
    ],
)
def test_a_text_that_cannot_be_learnt(text, what):
    with pytest.raises(InputError) as caught:
        CBOW().fit(text)
    assert what in str(caught.value)
    assert_one_sentence(str(caught.value))


def test_held_out_text_without_an_example():
    with pytest.raises(InputError, match="a sentence must hold two words"):
        fitted(["a b"] * 4 + ["a", "b"], validation_fraction=0.2)


def test_an_epoch_without_an_example_has_no_loss():
    """Of three words that are everything, subsampling leaves 1 in 20, and hardly ever two beside each other."""
    with pytest.raises(InputError) as caught:
        CBOW(4, min_count=1).fit(["a b c"] * 10)
    assert str(caught.value) == (
        "CBOW: subsample must leave two words beside each other in every epoch; got 0.001, which is too small for a "
        "text of few words (None leaves all)."
    )
    model = CBOW(4, min_count=1, subsample=None).fit(["a b c"] * 10)
    assert (model.n_examples_ == 30).all()
    assert (model.losses_ > 0.0).all()


def drawn_text(n_words):
    """Return sentences of 100 words of which the most frequent is a quarter."""
    draws = np.random.default_rng(0).zipf(1.3, size=n_words) % 20_000
    return [[f"w{word}" for word in part] for part in np.split(draws, n_words // 100)]


@pytest.mark.parametrize("learning_rate", [0.1, 0.3])
def test_the_loss_falls_where_one_word_is_a_quarter_of_the_text(learning_rate):
    """Steps that shards take side by side would go too far together: such a text diverged."""
    text = drawn_text(100_000 if COMPILED else 5_000)
    model = CBOW(20, window=2, min_count=1, subsample=None, epochs=3, learning_rate=learning_rate).fit(text)
    assert 0.2 < model.counts_[0] / model.n_corpus_words_ < 0.3
    assert (np.diff(model.losses_) < 0.0).all()
    assert model.certificate_.holds


def test_steps_that_are_too_long_are_refused():
    text = drawn_text(20_000)
    with pytest.raises(
        InputError, match=r"^CBOW: learning_rate and subsample must leave steps so short .*diverged with"
    ):
        CBOW(50, window=2, min_count=1, subsample=None, learning_rate=1e3).fit(text)


def test_an_absent_file():
    with pytest.raises(TableError, match="must be an existing file"):
        CBOW().fit(Path("absent.txt"))


def test_before_fit_there_is_nothing_to_ask():
    for ask in (lambda model: model.vector("a"), lambda model: model.most_similar("a"), lambda model: "a" in model):
        with pytest.raises(NotFittedError):
            ask(CBOW())


# ---- time, callbacks, proofs ---------------------------------------------------------------------------------------


def test_a_time_limit_leaves_a_model():
    model = fitted(time_limit=1e-9, epochs=50)
    assert model.stop_reason_ == "time_limit"
    assert model.n_iter_ <= 1
    assert model.losses_.size == 1
    assert model.most_similar("tea", n=1)
    assert verify(model, TEXT).holds is None


def test_callbacks_see_every_epoch_and_may_stop():
    recorder = Recorder(stop_after=2)
    model = CBOW(**SMALL).set_callbacks(recorder).fit(TEXT)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == model.losses_.size == 2
    assert recorder.count("end", "round") == 2
    assert recorder.models[0].vectors_.shape == model.vectors_.shape


def test_the_certificate_is_found_again_on_the_text_and_on_no_other(model):
    certificate = verify(model, TEXT)
    assert certificate.holds
    assert certificate["vocabulary"].value == 0
    assert certificate["fitted again"].value == 0
    other = verify(model, [*TEXT, "we drink hot tea"])
    assert other.holds is False
    assert other["vocabulary"].value > 0


def test_a_pickle_says_the_same(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.most_similar("tea") == model.most_similar("tea")
