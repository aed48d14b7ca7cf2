"""Decision trees: the same rows, the same depth, the same test set."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality, first_rows
from benchmarks.data import adult_columns, covertype_seven_classes, covertype_two_classes, noisy_steps
from benchmarks.quality import TEST_ACCURACY

DEPTH = {"max_depth": 20, "random_state": 0}
FULL = {"random_state": 0}
# ydf's defaults but for the depth: with 16 both prune to the same accuracy or a little less (means of twenty seeds)
ADULT = {"max_depth": 12, "min_samples_leaf": 5}
ADULT_SEEDS = range(5)  # the rows to prune with are drawn: one draw says little about accuracy


# ---- contenders: fit


def ours(**options):
    def contender(threads):
        from eigenwood import DecisionTreeClassifier

        return lambda arrays: DecisionTreeClassifier(n_jobs=threads, **options).fit(arrays["X"], arrays["y"])

    return contender


def ours_on_one_thread(**options):
    return lambda threads: ours(**options)(1)


def sklearn(**options):
    def contender(threads):
        from sklearn.tree import DecisionTreeClassifier

        return lambda arrays: DecisionTreeClassifier(**options).fit(arrays["X"], arrays["y"])

    return contender


def ours_regression(threads):
    from eigenwood import DecisionTreeRegressor

    return lambda arrays: DecisionTreeRegressor(n_jobs=threads, **FULL).fit(arrays["X"], arrays["y"])


def sklearn_regression(threads):
    from sklearn.tree import DecisionTreeRegressor

    return lambda arrays: DecisionTreeRegressor(**FULL).fit(arrays["X"], arrays["y"])


# ---- contenders: predict


class Predicting:
    """Fits when it warms up, and only predicts when the clock is on."""

    def __init__(self, fit):
        self.fit, self.model = fit, None

    def __call__(self, arrays):
        if self.model is None:
            self.model = self.fit(arrays)
        return self.model.predict(arrays["X_test"])


def predicting(contender):
    return lambda threads: Predicting(contender(threads))


def with_large_nodes(arrays: Arrays) -> Arrays:
    """Return as many rows as make nodes that are split by themselves: what grows those has to be loaded too."""
    return first_rows(arrays, 8192)


def all_rows_to_learn_from(arrays: Arrays) -> Arrays:
    """Return the arrays with a few test rows only."""
    return {**arrays, "X_test": arrays["X_test"][:256], "y_test": arrays["y_test"][:256]}


def four_hundred_thousand() -> Arrays:
    arrays = covertype_two_classes()
    return {**arrays, "X_test": arrays["X_test"][:400_000], "y_test": arrays["y_test"][:400_000]}


SHARE_RIGHT = Quality("test accuracy", lambda arrays, said: float(np.mean(said == arrays["y_test"])), better="higher")


# ---- contenders: adult, a table with categories and missing values


class OnFrames:
    """Fits once for each seed. Makes the frames when it warms up: a user has them before he fits."""

    def __init__(self, frame, fit, predict=lambda model, table: model.predict(table)):
        self.frame, self.fit, self.predict, self.frames = frame, fit, predict, {}

    def __call__(self, arrays):
        for part in ("", "_test"):
            if part not in self.frames:
                self.frames[part] = self.frame(arrays["numbers" + part], arrays["words" + part])
        models = [self.fit(self.frames[""], arrays["y"], seed) for seed in ADULT_SEEDS]
        return lambda: [self.predict(model, self.frames["_test"]) for model in models]


def adult_ours(threads):
    from eigenwood import DecisionTreeClassifier

    options = {"criterion": "entropy", "prune": "validation", "validation_fraction": 0.1, **ADULT}

    def fit(table, y, seed):
        return DecisionTreeClassifier(n_jobs=threads, random_state=seed, **options).fit(table, y)

    return OnFrames(arrow_table, fit)


def adult_sklearn(threads):
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    def fit(table, y, seed):
        encoder = OneHotEncoder(handle_unknown="ignore")
        columns = make_column_transformer(
            (encoder, make_column_selector(dtype_exclude="number")), remainder="passthrough"
        )
        tree = DecisionTreeClassifier(criterion="entropy", random_state=seed, **ADULT)
        return make_pipeline(columns, tree).fit(table, y)

    return OnFrames(pandas_frame, fit)


def adult_ydf(threads):
    import ydf

    ydf.verbose(0)

    def fit(table, y, seed):
        depth = ADULT["max_depth"]
        learner = ydf.CartLearner(label="income", num_threads=threads, random_seed=seed, max_depth=depth)
        return learner.train(table.assign(income=y))

    def predict(model, table):
        classes = np.array(model.label_classes())
        return classes[(model.predict(table) > 0.5).astype(int)]

    return OnFrames(pandas_frame, fit, predict)


def arrow_table(numbers, words):
    import pyarrow as pa

    return pa.table(
        {f"n{j}": column for j, column in enumerate(numbers.T)}
        | {f"w{j}": pa.array([word or None for word in column.tolist()]) for j, column in enumerate(words.T)}
    )


def pandas_frame(numbers, words):
    return arrow_table(numbers, words).to_pandas()


RIGHT_LATER = Quality(
    "test accuracy, mean of five fits",
    lambda arrays, predict: float(np.mean([said == arrays["y_test"] for said in predict()])),
    better="higher",
)
EXPLAINED = Quality(
    "test R²",
    lambda arrays, model: float(
        1.0 - np.mean((model.predict(arrays["X_test"]) - arrays["y_test"]) ** 2) / np.var(arrays["y_test"])
    ),
    better="higher",
)

CASES = [
    Case(
        name="covertype_two_classes_depth_20",
        make=covertype_two_classes,
        contenders={
            "eigenwood": ours(**DEPTH),
            "eigenwood on one thread": ours_on_one_thread(**DEPTH),
            "scikit-learn": sklearn(**DEPTH),
        },
        quality=TEST_ACCURACY,
        target="4 x scikit-learn",
        small=with_large_nodes,
    ),
    Case(
        name="covertype_seven_classes",
        make=covertype_seven_classes,
        contenders={
            "eigenwood": ours(**FULL),
            "eigenwood on one thread": ours_on_one_thread(**FULL),
            "scikit-learn": sklearn(**FULL),
        },
        quality=TEST_ACCURACY,
        target="4 x scikit-learn",
        small=with_large_nodes,
    ),
    Case(
        name="predict_400000_rows",
        make=four_hundred_thousand,
        contenders={
            "eigenwood": predicting(ours(**DEPTH)),
            "eigenwood on one thread": predicting(ours_on_one_thread(**DEPTH)),
            "scikit-learn": predicting(sklearn(**DEPTH)),
        },
        quality=SHARE_RIGHT,
        target="3 x scikit-learn",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="adult",
        make=adult_columns,
        contenders={"eigenwood": adult_ours, "scikit-learn one-hot": adult_sklearn, "ydf CART": adult_ydf},
        quality=RIGHT_LATER,
        target="faster than both at equal or better accuracy (five fits each)",
        small=dict,
    ),
    Case(
        name="rows",
        make=covertype_seven_classes,
        sizes=(50_000, 100_000, 200_000, 400_000),
        contenders={"eigenwood": ours(**FULL), "scikit-learn": sklearn(**FULL)},
        quality=TEST_ACCURACY,
        target="seconds ~ n log n",
        small=with_large_nodes,
    ),
    Case(
        name="features",
        make=noisy_steps,
        sizes=(10, 20, 40, 80),
        contenders={"eigenwood": ours_regression, "scikit-learn": sklearn_regression},
        quality=EXPLAINED,
        target="seconds ~ features",
        small=with_large_nodes,
    ),
]
