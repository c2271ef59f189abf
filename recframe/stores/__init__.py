"""Stores: what paths with a scheme lead to, and files that are read there in parts."""
