"""The kernel: rows grouped, ranked and counted. NumPy only: integers in, integers out."""
