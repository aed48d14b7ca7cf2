"""Instructions that Python has no word for: each replaces a plain function of ``core`` in compiled code.

These files are imported when a kernel is first made ready (``instructions_in``), never before: they need Numba.
"""
