"""``eigenwood embed`` and ``eigenwood words``, as a person uses them."""

from __future__ import annotations

import re

import pytest

import eigenwood
from eigenwood import WordVectors
from eigenwood.cli.sources import plus_and_minus
from eigenwood.errors import InputError
from eigenwood.runs.embed import progress_words
from tests.cli.running import ran

pytestmark = pytest.mark.slow

TEXT = ["we drink hot tea", "we drink hot coffee", "they read old books", "they read old letters"] * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a text, the vectors of its words, and files that are wrong in some way."""
    place = tmp_path_factory.mktemp("embed")
    (place / "corpus.txt").write_text("\n".join(TEXT), encoding="utf-8")
    (place / "latin.txt").write_bytes(b"caf\xe9 noir")
    (place / "empty.txt").write_text("")
    (place / "questions.txt").write_text(": drinks\ntea hot hot coffee\n: others\nwine tea beer coffee\n")
    (place / "lies.txt").write_text("5 2\na 1 2\n")
    run = ran("embed corpus.txt --dim 8 --min-count 1 --epochs 4 --out vectors.safetensors", place)
    assert run.returncode == 0, run.stderr
    (place / "log.txt").write_text(f"{run.stdout}\n---\n{run.stderr}")
    return place


def test_a_text_becomes_a_model_with_progress(folder):
    out, err = (folder / "log.txt").read_text().split("---")
    assert "corpus: 8 numbers for each of 10 words, by cbow" in out
    assert "Certificate: all claims hold." in out
    assert len(re.findall(r"^\[\d/4\] loss \d\.\d{4}, [\d,]+ words/s, \d+ s left$", err, flags=re.MULTILINE)) == 4
    model = eigenwood.load(folder / "vectors.safetensors")
    assert model.n_corpus_words_ == 4 * len(TEXT)
    assert f"{model.losses_[-1]:.4f}" in out


def test_words_are_added_and_taken_off(folder):
    run = ran("words vectors.safetensors tea - drink + read --count 3", folder)
    assert run.returncode == 0, run.stderr
    answers = eigenwood.load(folder / "vectors.safetensors").most_similar(["tea", "read"], ["drink"], n=3)
    rows = re.findall(r"│ (\w+) +│ +(-?\d\.\d{3}) │", run.stdout)
    assert rows == [(word, f"{cosine:.3f}") for word, cosine in answers]
    assert "tea - drink + read" in run.stdout


def test_vectors_for_other_tools(folder):
    for name in ("v.txt", "v.bin"):
        run = ran(f"embed corpus.txt --dim 4 --min-count 1 --method covariance --out {name}", folder)
        assert run.returncode == 0, run.stderr
        assert WordVectors.read(folder / name).vectors_.shape == (10, 4)
        assert ran(f"words {name} tea", folder).returncode == 0


def test_what_was_learnt_is_verified(folder):
    run = ran("verify vectors.safetensors corpus.txt", folder)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Recomputed on all sentences: all claims hold." in run.stdout
    assert ran("show vectors.safetensors", folder).returncode == 0


def test_a_page_shows_the_loss_a_map_of_words_and_how_analogies_are_answered(folder):
    run = ran(
        "embed corpus.txt --dim 4 --min-count 1 --epochs 2 --analogies questions.txt --report p.html --out v.bin",
        folder,
    )
    assert run.returncode == 0, run.stderr
    assert "Written: v.bin, p.html" in run.stdout
    assert re.search(r"│ drinks +│ +[01] │ +1 │ +0 │", run.stdout)
    page = (folder / "p.html").read_text()
    assert page.count("<figure id=") == 3
    assert "<td>others</td>" in page


def test_another_encoding_is_read_where_it_is_named(folder):
    run = ran("embed latin.txt --dim 2 --min-count 1 --epochs 1 --encoding latin-1 --out v.txt", folder)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (
        2,
        "eigenwood: CBOW: subsample must leave two words beside each other in every epoch; got 0.001, which is too "
        "small for a text of few words (None leaves all).",
    )
    run = ran("embed latin.txt --dim 2 --min-count 1 --encoding latin-1 --method covariance --out v.txt", folder)
    assert run.returncode == 0, run.stderr
    assert set(WordVectors.read(folder / "v.txt").vocabulary_) == {"café", "noir"}


def test_a_data_set_of_texts(folder):
    run = ran("embed reviews --dim 3 --min-count 2 --epochs 1 --out reviews.safetensors", folder)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("embed latin.txt --out v.safetensors", "latin.txt: must be UTF-8 text; got the byte 0xe9 at 3."),
        (
            "embed corpus.txt --encoding latin-99 --out v.bin",
            "CBOW: encoding must be one that Python knows, such as 'utf-8' or 'latin-1'; got 'latin-99'.",
        ),
        ("embed empty.txt --out v.safetensors", "CBOW: sentences must hold words; got none."),
        (
            "embed corpus.txt --out v.pickle",
            "v.pickle: --out must end with one of .safetensors, .txt, .vec, .bin; got '.pickle'.",
        ),
        ("embed corpus.txt --out corpus.txt", "corpus.txt: --out must be another file than TABLE; got the same."),
        ("embed heart --out v.bin", "heart: TEXT must be a file or a data set of texts; got a table."),
        ("embed corpus.txt --method glove --out v.bin", "--method must be one of cbow, covariance; got 'glove'."),
        ("words lies.txt a", "lies.txt: must hold the 5 vectors that its first line promises; got 1."),
        ("words vectors.safetensors wine", "CBOW: words must be in the vocabulary of 10 words; got 'wine'."),
        ("words vectors.safetensors tea +", "words: a word must stand behind each sign; got 'tea +'."),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(folder, words, sentence):
    run = ran(words, folder)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (2, f"eigenwood: {sentence}")


def test_signs_stand_between_words():
    assert plus_and_minus(["tea"]) == (["tea"], [])
    assert plus_and_minus(["hot", "tea", "-", "milk"]) == (["hot", "tea"], ["milk"])
    for wrong in (["+"], ["-", "tea"], ["tea", "-", "-", "milk"], []):
        with pytest.raises(InputError):
            plus_and_minus(wrong)


def test_the_time_left_follows_from_the_epochs_that_are_done():
    class Half:
        n_corpus_words_, losses_ = 1000, [2.5]

    assert progress_words(Half(), 2, 8, 4.0) == "loss 2.5000, 500 words/s, 12 s left"
