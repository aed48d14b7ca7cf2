"""The parts that forests and bagging share.

base          draws, warm starts and the score out of bag, as methods of an estimator
sampling      which rows and features learner number t gets
learning      learners that are fitted side by side
out_of_bag    predictions for the rows that learners did not see, added up
metrics       their score by any metric, with its interval
"""
