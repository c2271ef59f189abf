"""Benchmarks are run by hand, never by the tests, and print ratios measured in one run."""
