"""Verify gradient boosting: go through its rounds again, with the rows that were given to ``fit``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.core.boosting.losses import EXPONENTIAL
from eigenwood.core.forest.packing import tree_at
from eigenwood.core.forest.predict import forest_sums, make_predictor
from eigenwood.core.rows import rows_of
from eigenwood.estimators.boosting.faces import GradientBoosting
from eigenwood.estimators.boosting.input_checks import BoostData, check_query
from eigenwood.estimators.boosting.params import DEVIANCES, round_count, stops_early
from eigenwood.estimators.boosting.setup import Setup, make_setup
from eigenwood.estimators.boosting.stopping import best_round, patience_of, row_marks, stop_round, validation_split
from eigenwood.estimators.tree.verifying import has_all_categories, has_seed, missing_in, stated_claim
from eigenwood.estimators.watching import FINISHED, NO_GAIN, Deadline
from eigenwood.proofs.boosting import BoostedRows, found_claims, gone_through, round_claims, total_loss, training_error
from eigenwood.proofs.claim import Claim
from eigenwood.validation.boosting import check_gradients
from eigenwood.validation.seeds import integer_seeds
