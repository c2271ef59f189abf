"""Spark forks Python workers from this module in tests, so that each need not import everything."""

import pyspark.daemon

import recframe.spark  # noqa: F401 - workers run it

if __name__ == "__main__":
    pyspark.daemon.manager()
