"""The leak watch: what in a table looks as if it would not be known where the model is used.

watch               all detectors, under the clock
findings            a finding, and the kinds of findings
sample              training rows and their columns as numbers, a block of columns at a time
neighbours          how much the target tells rows apart that are neighbours in the order of a column
screening           which columns are suspects
suspect             a suspect, and how sure it is
ordering            ids, and the order of the file
groups              many levels with several rows each, on both sides of the split
label_copies        copies and near-copies of the labels, or of one of them
amount_copies       copies and near-copies of amounts, or of their ranges
others              how well all other columns together predict the target
filled              columns that are filled for some labels or amounts only
duplicates          rows on both sides of the split
"""

from eigenwood.runs.leaks.findings import Finding, LeakReport
from eigenwood.runs.leaks.watch import leaks

__all__ = ["Finding", "LeakReport", "leaks"]
