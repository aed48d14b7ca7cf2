"""Data sets that are words: messages, reviews, Wikipedia, and questions about words."""

import lzma
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from eigenwood.data.sets.record import Dataset
from eigenwood.data.text import read_questions, read_word_pairs

ENWIKI = "enwiki/enwiki_text8style_30MB.txt.zst"
OPINIONS = {"neg": "not liked", "pos": "liked"}


def sms_spam(description: str, home: Path) -> Dataset:
    with lzma.open(home / "sms_spam" / "SMSSpamCollection.xz", "rt", encoding="utf-8", newline="\n") as stream:
        labels, messages = zip(*(line.rstrip("\n").split("\t", 1) for line in stream), strict=True)
    return Dataset("sms_spam", description, list(messages), np.array(labels, dtype=object), ("message",), "label")


def polarity(description: str, home: Path) -> Dataset:
    """1,000 reviews that were not liked, then 1,000 that were, each in the order of their file names."""
    texts = {}
    with tarfile.open(home / "polarity" / "review_polarity.tar.gz") as archive:
        for member in archive:
            if member.name.endswith(".txt"):
                texts[member.name] = archive.extractfile(member).read().decode()  # type: ignore[union-attr]
    names = sorted(texts)
    y = np.array([OPINIONS[Path(name).parent.name] for name in names], dtype=object)
    return Dataset("polarity", description, [texts[name] for name in names], y, ("review",), "opinion")


def enwiki(description: str, home: Path) -> Dataset:
    """X holds one document: 5,086,341 words with one space between them."""
    with pa.input_stream(str(home / ENWIKI), compression="zstd") as stream:
        text = stream.read().decode("ascii")
    return Dataset("enwiki", description, [text], None, ("text",), None)


def word_eval(description: str, home: Path) -> Dataset:
    """X holds analogies "a is to b as c is to d", one per row; ``extras`` word pairs with human scores."""
    folder = home / "word_eval"
    questions = read_questions(folder / "questions-words.txt.xz")
    return Dataset(
        name="word_eval",
        description=description,
        X=np.array([question.words for question in questions], dtype=object),
        y=None,
        feature_names=("a", "b", "c", "d"),
        target_name=None,
        row_labels={"section": np.array([question.section for question in questions], dtype=object)},
        extras={
            "wordsim353": read_word_pairs(folder / "wordsim353.tsv"),
            "simlex999": read_word_pairs(folder / "simlex999.txt"),
        },
    )
