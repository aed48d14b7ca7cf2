"""Networks of one hidden layer."""
