"""Decision trees: the public classes, and what they are made of.

faces           the public classes
params          criteria, and the rules for parameters and fitted attributes
input_checks    X, y and weights → TreeData
data            TreeData: checked rows with their targets
fitting         rows → codes → growth → pruning
pruning         a grown tree → a smaller one
view            a fitted tree under scikit-learn's names
shadow_tree     a fitted tree as dtreeviz reads it; imported only when a drawing is asked for
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.tree.faces import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
