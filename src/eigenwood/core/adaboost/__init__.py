"""AdaBoost over decision stumps: the columns are coded once, the best stump of all is found in each round.

table.py     columns → codes, and the entries of columns in which one code is common
search.py    sums of weights by code → the best cut of each column → the best stump
rounds.py    stump → its weight → new weights of the rows it got wrong → new sums, many times in one call
resuming.py  rounds that were made before, repeated, so that others can follow them
decoding.py  codes → thresholds and categories
votes.py     rounds for any learner: what it says of the rows → its weight → new weights
weights.py   weights of rows as whole numbers
stumps.py    the stumps that were found, and their votes
"""
