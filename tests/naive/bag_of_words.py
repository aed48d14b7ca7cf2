"""Counting words in plain loops: read this first, then core/text."""

from __future__ import annotations

import re

WORD = re.compile(r"(?u)\b\w\w+\b")


def terms_of(document, lowercase=True, min_n=1, max_n=1):
    """Return the words of a document, then the pairs of words that follow each other, and so on."""
    words = WORD.findall(document.lower() if lowercase else document)
    return [" ".join(words[i : i + n]) for n in range(min_n, max_n + 1) for i in range(len(words) - n + 1)]


def count(documents, **how):
    """Return the terms as they are met, and for each document {number of a term: how often}, as they are met."""
    numbers, rows = {}, []
    for document in documents:
        row = {}
        for term in terms_of(document, **how):
            number = numbers.setdefault(term, len(numbers))
            row[number] = row.get(number, 0) + 1
        rows.append(row)
    return list(numbers), rows
