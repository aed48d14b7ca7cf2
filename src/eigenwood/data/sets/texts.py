"""Data sets that are words: messages, reviews, Wikipedia, and questions about words."""

import lzma
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from eigenwood.data.sets.record import Dataset

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
    with lzma.open(folder / "questions-words.txt.xz", "rt", encoding="utf-8") as stream:
        sections, questions = read_questions(stream)
    return Dataset(
        name="word_eval",
        description=description,
        X=np.array(questions, dtype=object),
        y=None,
        feature_names=("a", "b", "c", "d"),
        target_name=None,
        row_labels={"section": np.array(sections, dtype=object)},
        extras={
            "wordsim353": read_pairs(folder / "wordsim353.tsv"),
            "simlex999": read_pairs(folder / "simlex999.txt"),
        },
    )


def read_questions(lines) -> tuple[list[str], list[list[str]]]:
    """Return the section and the four words of every question; a line ": name" opens a section."""
    section = ""
    sections, questions = [], []
    for line in lines:
        words = line.split()
        if words[0] == ":":
            section = words[1]
        else:
            sections.append(section)
            questions.append(words)
    return sections, questions


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Return (word, word, human score) for every line that is not a comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [(first, second, float(score)) for first, second, score in rows]
