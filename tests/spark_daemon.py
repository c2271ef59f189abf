"""What Spark forks Python workers from, in tests: with all imported, which each would do anew."""

import pyspark.daemon

import recframe.spark  # noqa: F401 - what workers run

if __name__ == "__main__":
    pyspark.daemon.manager()
