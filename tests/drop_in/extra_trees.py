"""Scikit-learn's extra trees, made of our trees: random cuts, and the square root of all features for classes.

Its tests of trees run on these as well; with them out of the way no test would quietly run scikit-learn's own trees.
"""

from __future__ import annotations

import inspect

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor


def init_of(base: type, **other_defaults):
    """Return the ``__init__`` of a class with other defaults, and the signature that says so."""
    signature = inspect.signature(base.__init__)

    def init(self, **given):
        base.__init__(self, **{**other_defaults, **given})

    parameters = [
        parameter.replace(default=other_defaults.get(name, parameter.default))
        for name, parameter in signature.parameters.items()
    ]
    init.__signature__ = signature.replace(parameters=parameters)
    return init


class ExtraTreeClassifier(DecisionTreeClassifier):
    """A classifier with random cuts."""

    __init__ = init_of(DecisionTreeClassifier, splitter="random", max_features="sqrt")


class ExtraTreeRegressor(DecisionTreeRegressor):
    """A regressor with random cuts."""

    __init__ = init_of(DecisionTreeRegressor, splitter="random", max_features=1.0)


OURS = {
    "sklearn.tree": {
        "DecisionTreeClassifier": DecisionTreeClassifier,
        "DecisionTreeRegressor": DecisionTreeRegressor,
        "ExtraTreeClassifier": ExtraTreeClassifier,
        "ExtraTreeRegressor": ExtraTreeRegressor,
    }
}
