"""W2 (the boosting and SVM lecture): optimal subset selection by iterative hard thresholding, beside the lasso, which
is scikit-learn's."""

from __future__ import annotations

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression

from eigenwood import IterativeHardThresholding


def test_the_best_three_columns_leave_less_than_those_of_the_lasso():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    lasso = Lasso(alpha=1.0).fit(X, y)
    chosen = X.columns[lasso.coef_ != 0]
    refitted = LinearRegression().fit(X[chosen], y)
    model = IterativeHardThresholding(len(chosen)).fit(X, y)
    assert len(chosen) == 3
    assert model.residual_ <= ((y - refitted.predict(X[chosen])) ** 2).sum() * (1.0 + 1e-9)
    assert model.certificate_["gap"].value == 0.0
