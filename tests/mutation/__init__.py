"""Change the package's code in small ways, one at a time, and check that tests notice."""
