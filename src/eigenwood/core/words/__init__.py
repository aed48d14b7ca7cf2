"""Word vectors: from a text as numbers of words to a vector for each word."""
