"""Benchmarks: run by hand, never by the tests; they print ratios measured in one run."""
