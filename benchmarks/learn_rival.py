"""A rival of ``learn`` in a process of its own, by an interpreter of its own: python -P learn_rival.py JOB.json.

It imports nothing of ours. Every rival gets the files, the metric that ranks, the threads, and all the seconds for its
fit alone (reading and predicting come on top); what else is set is written below. It writes

    predictions     "prediction" and, for classes, "probability of <class>" for each, in the order of the blind rows
    answer          its version, and the seconds of the fit
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd


def read(file: str) -> pd.DataFrame:
    return pd.read_csv(file) if file.endswith(".csv") else pd.read_parquet(file)


def answer_columns(labels, classes=(), shares=None) -> pd.DataFrame:
    """Return predictions, and the probability of each class, as the columns of a table."""
    columns = {"prediction": list(labels)}
    if shares is not None:
        columns |= {f"probability of {label}": shares[:, j] for j, label in enumerate(classes)}
    return pd.DataFrame(columns)


def problem(job: dict, train: pd.DataFrame) -> str:
    """Return "regression", "binary" or "multiclass"."""
    if job["task"] == "amounts":
        return "regression"
    return "binary" if train[job["target"]].nunique() == 2 else "multiclass"


def flaml(job: dict, train: pd.DataFrame):
    """FLAML as it comes; it takes sentences as categories, so that they are made numbers for it."""
    import flaml as library
    from flaml import AutoML

    X = train.drop(columns=job["target"])
    numbers = texts_as_numbers(X)
    model = AutoML()
    model.fit(
        numbers(X),
        train[job["target"]].to_numpy(),
        task="classification" if job["task"] == "classes" else "regression",
        metric={"accuracy": "accuracy", "auc": "roc_auc", "r2": "r2"}[job["metric"]],
        time_budget=job["seconds"],
        n_jobs=job["threads"],
        seed=job["seed"],
        verbose=1,
    )

    def predict(blind: pd.DataFrame) -> pd.DataFrame:
        rows = numbers(blind)
        if job["task"] == "amounts":
            return answer_columns(model.predict(rows))
        return answer_columns(model.predict(rows), model.classes_, model.predict_proba(rows))

    return predict, library.__version__


def autogluon(job: dict, train: pd.DataFrame):
    """AutoGluon's light preset without neural networks."""
    from autogluon.tabular import TabularPredictor, __version__

    model = TabularPredictor(
        job["target"],
        problem_type=problem(job, train),
        path=str(Path(job["folder"]) / "models"),
        eval_metric={"accuracy": "accuracy", "auc": "roc_auc", "r2": "r2"}[job["metric"]],
        verbosity=1,
    )
    model.fit(
        train,
        presets="medium_quality",
        time_limit=job["seconds"],
        excluded_model_types=["NN_TORCH", "FASTAI"],
        num_cpus=job["threads"],
        num_gpus=0,
    )

    def predict(blind: pd.DataFrame) -> pd.DataFrame:
        if job["task"] == "amounts":
            return answer_columns(model.predict(blind))
        shares = model.predict_proba(blind, as_multiclass=True)
        return answer_columns(model.predict(blind), shares.columns, shares.to_numpy())

    return predict, __version__


def mljar(job: dict, train: pd.DataFrame):
    """mljar's mode Perform without its explanations."""
    from supervised import AutoML, __version__

    kind = problem(job, train)
    model = AutoML(
        mode="Perform",
        ml_task="regression" if kind == "regression" else f"{kind}_classification",
        eval_metric=job["metric"],
        total_time_limit=job["seconds"],
        explain_level=0,
        results_path=str(Path(job["folder"]) / "models"),
        n_jobs=job["threads"],
        random_state=job["seed"],
        verbose=0,
    )
    model.fit(train.drop(columns=job["target"]), train[job["target"]])

    def predict(blind: pd.DataFrame) -> pd.DataFrame:
        if job["task"] == "amounts":
            return answer_columns(model.predict(blind))
        found = model.predict_all(blind)
        names = [name for name in found if name != "label"]
        classes = [name.removeprefix("prediction_") for name in names]
        return answer_columns(found["label"], classes, found[names].to_numpy())

    return predict, __version__


def hist_gradient_boosting(job: dict, train: pd.DataFrame):
    """scikit-learn's defaults; words are categories, sentences are made numbers, dates are made their parts."""
    import sklearn
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if job["task"] == "classes" else HistGradientBoostingRegressor
    X = train.drop(columns=job["target"])
    numbers = texts_as_numbers(X)
    types = {name: pd.CategoricalDtype(sorted(X[name].dropna().unique())) for name in words(X) if not is_text(X[name])}

    def features(rows: pd.DataFrame) -> pd.DataFrame:
        return with_date_parts(numbers(rows).astype(types))

    model = kind(random_state=job["seed"]).fit(features(X), train[job["target"]])

    def predict(blind: pd.DataFrame) -> pd.DataFrame:
        rows = features(blind)
        if job["task"] == "amounts":
            return answer_columns(model.predict(rows))
        return answer_columns(model.predict(rows), model.classes_, model.predict_proba(rows))

    return predict, sklearn.__version__


MOST_CATEGORIES = 255  # that the booster takes: a column with more distinct strings is text
MOST_WORDS = 500


def words(X: pd.DataFrame) -> list[str]:
    """Return the columns that hold strings."""
    return [name for name in X if X[name].dtype == object or pd.api.types.is_string_dtype(X[name])]


def is_text(column: pd.Series) -> bool:
    return column.nunique() > MOST_CATEGORIES


def texts_as_numbers(X: pd.DataFrame):
    """Return a function that puts a bag of weighted words in the place of each column of text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [name for name in words(X) if is_text(X[name])]
    bags = {name: TfidfVectorizer(max_features=MOST_WORDS).fit(X[name].fillna("")) for name in texts}

    def numbers(rows: pd.DataFrame) -> pd.DataFrame:
        found = [rows.drop(columns=texts)]
        for name, bag in bags.items():
            counts = bag.transform(rows[name].fillna("")).toarray()
            found.append(pd.DataFrame(counts, rows.index, [f"{name}_{j}" for j in range(counts.shape[1])]))
        return pd.concat(found, axis=1)

    return numbers


def with_date_parts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with days since 1970, month, weekday and hour in the place of each date."""
    moments = [name for name in rows if pd.api.types.is_datetime64_any_dtype(rows[name])]
    parts = {}
    for name in moments:
        parts[f"{name}_days"] = (rows[name] - pd.Timestamp(0)) / pd.Timedelta(days=1)
        parts |= {f"{name}_{part}": getattr(rows[name].dt, part) for part in ("month", "day_of_week", "hour")}
    return pd.concat([rows.drop(columns=moments), pd.DataFrame(parts, index=rows.index)], axis=1)


RIVALS = {
    "flaml": flaml,
    "autogluon": autogluon,
    "mljar": mljar,
    "hist-gradient-boosting": hist_gradient_boosting,
}


def main(job_file: str) -> None:
    """Learn from the rows of the job, predict the blind ones, write both files."""
    job = json.loads(Path(job_file).read_text())
    train = read(job["train"])
    began = time.perf_counter()
    predict, version = RIVALS[job["system"]](job, train)
    seconds = time.perf_counter() - began
    predict(read(job["blind"])).to_parquet(job["predictions"])
    Path(job["answer"]).write_text(json.dumps({"version": version, "learn_seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1])
