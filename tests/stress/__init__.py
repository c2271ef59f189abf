"""What files, stores, signals and threads are put through: run by hand, never by the tests."""
