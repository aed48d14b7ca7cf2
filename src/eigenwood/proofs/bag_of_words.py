"""Check counts of words: every document again, by scikit-learn's analyzer and a dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenwood.proofs.claim import Claim, at_most


def at_any_time() -> None:
    """Go on: there is no limit of time."""


def count_claim(model: Any, documents: Sequence, counts: Any, check_time: Callable[[], None] = at_any_time) -> Claim:
    """Return that each row of counts is what the analyzer of the model finds in its document."""
    analyze, n_others = model.build_analyzer(), 0
    for place, document in enumerate(documents):
        check_time()
        found = Counter(model.vocabulary_[term] for term in analyze(document) if term in model.vocabulary_)
        row = slice(counts.indptr[place], counts.indptr[place + 1])
        stated = dict(zip(counts.indices[row].tolist(), counts.data[row].tolist(), strict=True))
        expected = {column: 1 if model.binary else np.dtype(model.dtype).type(n) for column, n in found.items()}
        n_others += stated != expected
    statement = f"documents with other counts than the analyzer finds; documents looked at: {len(documents)}"
    return at_most("counts", statement, n_others, 0)


def term_claim(model: Any, documents: Sequence, check_time: Callable[[], None] = at_any_time) -> Claim:
    """Return that all terms and their counts are those of the documents."""
    analyze, in_documents, total = model.build_analyzer(), Counter[Any](), Counter[Any]()
    for document in documents:
        check_time()
        found = Counter(analyze(document))
        in_documents.update(found.keys())
        total.update(found.keys() if model.binary else found)
    if model.fixed_vocabulary_:
        in_documents, total = (
            Counter({term: counts[term] for term in model.vocabulary_}) for counts in (in_documents, total)
        )
    stated = zip(model.terms_, model.document_counts_.tolist(), model.term_counts_.tolist(), strict=True)
    n_right = sum(in_documents.get(term, 0) == n and total.get(term, 0) == m for term, n, m in stated)
    n_others = max(len(in_documents), len(model.terms_)) - n_right
    return at_most("terms", "terms with other counts than the documents have", n_others, 0)
