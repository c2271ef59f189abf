"""Formats without footers, and rows that come once: read block by block, in types of all rows."""
