"""BagOfWords: scikit-learn's vocabulary and matrix to the last bit; streams, parts, files, and what goes wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import eigenwood
from eigenwood import SVC, BagOfWords, verify
from eigenwood.data import datasets
from eigenwood.errors import InputError, ModelFileError, TextError
from eigenwood.estimators.text import counting

DOCUMENTS = [
    "The drama was interesting, loved the way each scene was directed.",
    "",
    "ÀÉÎ été ÉTÉ — naïve_naïve ΣΊΣΥΦΟΣ Σ ΑΣ straße STRASSE İstanbul",
    "a b c I'm 1 22 333 x_1 don't",
    "日本語 日本 𐐀𐐁𐐂 𝟘𝟙 ﬁne ①② ª½ ℂℍ",
    "combining e\u0301e\u0301 zero\u200dwidth non\u00a0breaking half\ud800pair null\0byte",
    "The the THE drama DRAMA\nnew\tline\r\nend",
] * 3


def reviews(n_documents=200, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(f"W{n}x" for n in rng.zipf(1.4, rng.integers(0, 60)) % 300) for _ in range(n_documents)]


def assert_same_bits(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.shape == theirs.shape
    for part in ("data", "indices", "indptr"):
        assert getattr(ours, part).dtype == getattr(theirs, part).dtype
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


SETTINGS = {
    "defaults": {},
    "upper case": {"lowercase": False},
    "accents": {"strip_accents": "unicode"},
    "accents to ascii": {"strip_accents": "ascii"},
    "accents by a function": {"strip_accents": lambda text: text.replace("é", "E")},
    "a preprocessor": {"preprocessor": str.upper},
    "stop words": {"stop_words": "english"},
    "a stop list": {"stop_words": ["the", "été"]},
    "pairs": {"ngram_range": (2, 2)},
    "one to three words": {"ngram_range": (1, 3)},
    "pairs without stop words": {"ngram_range": (1, 2), "stop_words": ["the"]},
    "letters": {"analyzer": "char", "ngram_range": (1, 2)},
    "letters in words": {"analyzer": "char_wb", "ngram_range": (3, 3)},
    "a function": {"analyzer": str.split},
    "a tokenizer": {"tokenizer": str.split, "token_pattern": None},
    "a pattern": {"token_pattern": r"\w+"},
    "not in too many": {"max_df": 0.4},
    "in enough": {"min_df": 4},
    "no more than": {"max_features": 7},
    "of all bounds": {"max_features": 5, "min_df": 2, "max_df": 0.9},
    "binary": {"binary": True, "max_features": 9},
    "float32": {"dtype": np.float32, "max_features": 9},
    "bytes of counts": {"dtype": np.uint8, "max_features": 9},
    "a vocabulary": {"vocabulary": ["drama", "nowhere", "été", "w3x"]},
    "a vocabulary with columns": {"vocabulary": {"drama": 1, "été": 0, "null\0byte": 2}},
    "a vocabulary less stop words": {"vocabulary": ["the", "drama"], "stop_words": ["the"]},
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_the_same_bits_as_scikit_learn(params, monkeypatch):
    monkeypatch.setattr(counting, "BLOCK_LETTERS", 300)
    for documents in (DOCUMENTS, [*reviews(40), *DOCUMENTS[:7]]):
        ours, theirs = BagOfWords(**params, n_jobs=2), CountVectorizer(**params)
        assert_same_bits(ours.fit_transform(documents), theirs.fit_transform(documents))
        assert ours.vocabulary_ == theirs.vocabulary_
        np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
        queries = [*reviews(20, seed=1), *DOCUMENTS[::-1]]
        assert_same_bits(ours.transform(queries), theirs.transform(queries))


@pytest.mark.data
@pytest.mark.parametrize("name", ["polarity", "sms_spam"])
def test_the_same_bits_on_reviews_and_messages(name):
    documents = datasets.load(name).X[::4]
    ours, theirs = BagOfWords(max_features=1000, n_jobs=2), CountVectorizer(max_features=1000)
    assert_same_bits(ours.fit_transform(documents), theirs.fit_transform(documents))
    assert ours.vocabulary_ == theirs.vocabulary_


def test_the_kind_of_sparse_matrix_is_what_scikit_learn_is_set_to():
    for kind in ("sparray", "spmatrix"):
        with config_context(sparse_interface=kind):
            assert_same_bits(BagOfWords().fit_transform(DOCUMENTS), CountVectorizer().fit_transform(DOCUMENTS))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_threads_and_blocks_change_nothing(n_jobs, monkeypatch):
    whole = BagOfWords()
    counts = whole.fit_transform(reviews())
    monkeypatch.setattr(counting, "BLOCK_LETTERS", 100)
    monkeypatch.setattr(counting, "BLOCKS_AT_ONCE", 3)
    parts = BagOfWords(n_jobs=n_jobs)
    assert_same_bits(parts.fit_transform(reviews()), counts)
    assert parts.vocabulary_ == whole.vocabulary_
    np.testing.assert_array_equal(parts.term_counts_, whole.term_counts_)


@pytest.mark.parametrize("params", [{}, {"max_features": 20, "min_df": 3}, {"vocabulary": ["w1x", "w2x"]}])
def test_parts_and_merged_models_are_one_fit(params):
    documents = reviews()
    whole = BagOfWords(**params).fit(documents)
    streamed, merged, other = BagOfWords(**params), BagOfWords(**params), BagOfWords(**params)
    for begin in range(0, 200, 50):
        streamed.partial_fit(iter(documents[begin : begin + 50]))
    merged.partial_fit(documents[:120]).merge(other.partial_fit(documents[120:]))
    for model in (streamed, merged):
        assert model.vocabulary_ == whole.vocabulary_
        assert model.n_documents_ == 200
        np.testing.assert_array_equal(model.terms_, whole.terms_)
        np.testing.assert_array_equal(model.document_counts_, whole.document_counts_)
        np.testing.assert_array_equal(model.term_counts_, whole.term_counts_)
        assert_same_bits(model.transform(documents), whole.transform(documents))
        assert verify(model, documents).holds


def test_merging_what_was_cut_in_another_way_is_refused():
    one, other = (BagOfWords(**params).fit(DOCUMENTS) for params in ({}, {"lowercase": False}))
    with pytest.raises(InputError) as caught:
        one.merge(other)
    assert str(caught.value) == "BagOfWords: merge needs the same lowercase, True; got False."


@pytest.mark.parametrize("made", [iter, tuple, np.array, pd.Series, pa.array, lambda texts: (text for text in texts)])
def test_documents_in_any_container(made):
    texts = reviews(30)
    assert BagOfWords().fit(made(texts)).vocabulary_ == BagOfWords().fit(texts).vocabulary_


def test_files_and_bytes(tmp_path):
    for place, text in enumerate(DOCUMENTS[:5]):
        (tmp_path / f"{place}.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
    paths = sorted(tmp_path.glob("*.txt"))
    expected = BagOfWords().fit_transform(DOCUMENTS[:5])
    assert_same_bits(BagOfWords(input="filename").fit_transform(paths), expected)
    assert_same_bits(BagOfWords().fit_transform([path.read_bytes() for path in paths]), expected)
    streams = [path.open("rb") for path in paths]
    assert_same_bits(BagOfWords(input="file").fit_transform(streams), expected)
    for stream in streams:
        stream.close()


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "review.txt"
    path.write_bytes(b"good \xff bad")
    with pytest.raises(TextError) as caught:
        BagOfWords(input="filename").fit([str(path)])
    assert str(caught.value) == (
        f"BagOfWords: {path} must be utf-8 text; got byte 0xff at 5 (decode_error='replace' or 'ignore' reads on)."
    )
    with pytest.raises(UnicodeDecodeError, match="document 1 must be utf-8 text; got byte 0xff at 5"):
        BagOfWords().fit(["good", b"good \xff bad"])
    assert BagOfWords(decode_error="ignore").fit([b"good \xff bad"]).vocabulary_ == {"bad": 0, "good": 1}


BAD = {
    "an empty corpus": ([], "empty vocabulary; perhaps the documents only contain stop words."),
    "no words": (["", " . "], "empty vocabulary; perhaps the documents only contain stop words."),
    "a text": ("one text", "Iterable over raw text documents expected, string object received."),
    "a number": (3, "documents must be an iterable of texts; got int."),
    "numbers": ([1, 2], "document 0 must be text or bytes; got int."),
    "nothing": (["yes", None], "document 1 must be text or bytes; got NoneType."),
    "not a number": (["yes", np.nan], "document 1: np.nan is an invalid document, expected byte or unicode string."),
}


@pytest.mark.parametrize(("documents", "sentence"), BAD.values(), ids=BAD)
def test_what_is_no_corpus_is_said_in_one_sentence(documents, sentence):
    with pytest.raises(InputError) as caught:
        BagOfWords().fit(documents)
    assert str(caught.value) == f"BagOfWords: {sentence}"


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"min_df": 3, "max_df": 2}, "max_df corresponds to < documents than min_df."),
        ({"min_df": 100}, "max_df corresponds to < documents than min_df."),
        ({"min_df": 21, "max_df": 21}, "After pruning, no terms remain. Try a lower min_df or a higher max_df."),
        ({"vocabulary": ["a", "b", "a"]}, "Duplicate term in vocabulary: 'a'."),
        ({"vocabulary": []}, "empty vocabulary passed to fit."),
        (
            {"ngram_range": (2, 1)},
            "Invalid value for ngram_range=(2, 1) lower boundary larger than the upper boundary.",
        ),
    ],
)
def test_settings_that_leave_nothing(params, sentence):
    with pytest.raises(InputError) as caught:
        BagOfWords(**params).fit(DOCUMENTS)
    assert str(caught.value) == f"BagOfWords: {sentence}"


def test_one_word_and_a_word_of_many_letters():
    assert BagOfWords().fit_transform(["word"]).toarray().tolist() == [[1]]
    assert BagOfWords().fit(["a" * 10_000 + " b", "été" * 5000]).vocabulary_ == {"a" * 10_000: 0, "été" * 5000: 1}


def test_a_failed_fit_leaves_the_old_model():
    model = BagOfWords().fit(DOCUMENTS)
    before = dict(model.vocabulary_)
    with pytest.raises(InputError):
        model.fit([])
    assert model.vocabulary_ == before
    assert not model.fixed_vocabulary_
    with pytest.raises(NotFittedError):
        BagOfWords().transform(DOCUMENTS)


def test_a_file_and_a_pickle_keep_the_words(tmp_path):
    for params in (
        {},
        {"ngram_range": (1, 2), "stop_words": ["the"], "dtype": np.float32},
        {"vocabulary": {"drama": 0}},
    ):
        model = BagOfWords(**params).fit(DOCUMENTS)
        for kept in (
            pickle.loads(pickle.dumps(model)),
            eigenwood.load(eigenwood.save(model, tmp_path / "model.safetensors")),
        ):
            assert kept.get_params() == model.get_params()
            assert kept.vocabulary_ == model.vocabulary_
            assert_same_bits(kept.transform(DOCUMENTS), model.transform(DOCUMENTS))
            assert verify(kept, DOCUMENTS).holds
    with pytest.raises(ModelFileError, match="preprocessor must be a number, a string or None to be saved"):
        eigenwood.save(BagOfWords(preprocessor=str.upper).fit(DOCUMENTS), tmp_path / "function.safetensors")


def test_what_verify_sees():
    model = BagOfWords().fit(DOCUMENTS)
    certificate = verify(model, DOCUMENTS)
    assert [claim.name for claim in certificate] == ["counts", "terms", "certificate", "fitted again"]
    assert certificate.holds
    assert verify(model, DOCUMENTS[:3])["terms"].holds is None
    model.term_counts_[0] += 1
    assert verify(model, DOCUMENTS).holds is False


def test_words_into_a_machine():
    texts, y = ["good fine good", "bad poor", "fine good", "poor poor bad"] * 5, [1, 0, 1, 0] * 5
    model = make_pipeline(BagOfWords(), SVC(kernel="linear")).fit(texts, y)
    assert model.predict(["so good", "so bad"]).tolist() == [1, 0]
    assert sparse.issparse(model[0].transform(["good"]))
