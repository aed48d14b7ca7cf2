"""Scikit-learn's tests of CountVectorizer, on ours."""

from __future__ import annotations

from eigenwood import BagOfWords
from tests.drop_in.borrowed import Loan, borrow

DESELECTED = {
    "test_pickling_vectorizer": "pickles functions of its module, a copy here; test_bag_of_words.py pickles ours",
}
FOREIGN = (
    "test_strip_accents",
    "test_to_ascii",
    "test_tf_transformer_feature_names_out",
    "test_tf_idf_smoothing",
    "test_tfidf_no_smoothing",
    "test_sublinear_tf",
    "test_tfidf_vectorizer_setters",
    "test_hashing_vectorizer",
    "test_hashed_binary_occurrences",
    "test_vectorizer_pipeline_grid_selection",
    "test_vectorizer_pipeline_cross_validation",
    "test_tfidf_vectorizer_with_fixed_vocabulary",
    "test_pickling_transformer",
    "test_transformer_idf_setter",
    "test_tfidf_vectorizer_setter",
    "test_tfidfvectorizer_invalid_idf_attr",
    "test_hashingvectorizer_nan_in_docs",
    "test_tfidfvectorizer_binary",
    "test_tfidfvectorizer_export_idf",
    "test_tfidf_transformer_type",
    "test_tfidf_transformer_sparse",
    "test_tfidf_vectorizer_type",
    "test_countvectorizer_sort_features_64bit_sparse_indices",
    "test_nonnegative_hashing_vectorizer_result_indices",
    "test_tfidf_transformer_copy",
    "test_tfidf_vectorizer_preserve_dtype_idf",
    "test_hashing_vectorizer_requires_fit_tag",
    "test_hashing_vectorizer_transform_without_fit",
)

globals().update(
    borrow(
        Loan(
            "sklearn.feature_extraction.tests.test_text",
            {"sklearn.feature_extraction.text": {"CountVectorizer": BagOfWords}},
            DESELECTED,
            foreign=FOREIGN,
            foreign_cases=("TfidfVectorizer", "HashingVectorizer", "TfidfTransformer", "[vec0]", "[vec2]"),
            least_share=0.85,
        )
    )
)
