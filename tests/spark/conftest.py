"""The Spark session of all tests, which are skipped without it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

collect_ignore = []
try:
    from pyspark.sql import SparkSession
except ImportError:
    SparkSession = None
if SparkSession is None or shutil.which("java") is None:
    names = ("", "_lists", "_notes", "_segments", "_trusted", "_truth")
    collect_ignore = [f"test_spark{name}.py" for name in names]


@pytest.fixture(scope="session")
def spark():
    """Return a session whose shuffles keep four partitions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
        root = str(Path(__file__).parents[2])
        # The checkout comes last, after a copy of the package under test.
        path = os.environ.get("PYTHONPATH", "")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [path, root])))
        options = {
            "spark.sql.shuffle.partitions": 4,
            "spark.default.parallelism": 2,
            "spark.python.daemon.module": "tests.spark.daemon",
            # These settings make long jobs slower and short ones faster.
            "spark.sql.codegen.wholeStage": False,
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.adaptive.enabled": False,
            "spark.ui.enabled": False,
            "spark.ui.showConsoleProgress": False,
            "spark.sql.session.timeZone": "Asia/Tokyo",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
