"""Eigenwood against its rivals: seconds, quality and peak memory side by side.

bench_<method>.py ──► discovery ──► rounds ──► results ──► tables
(cases as data)       (by name)    (fresh      (JSON)      (Markdown)
                                    processes)
                                      │
                                    worker: import → load → warm up → clock → score
"""
