"""Analysis of rows and per-user tables: ranks, descriptions, intervals, comparisons, reports."""
