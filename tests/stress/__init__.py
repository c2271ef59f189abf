"""Put files, stores, signals and threads under stress; run by hand, never by the tests."""
