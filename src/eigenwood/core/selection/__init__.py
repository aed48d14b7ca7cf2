"""Which columns to keep."""
