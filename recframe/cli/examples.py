"""Examples that the help of each command ends with."""

EXAMPLES = """examples:
  recframe evaluate runs/ --metric precision@4 recall@4
  recframe evaluate runs/*.parquet --truth test.parquet --output means.json
  recframe describe runs/ --k 4
  recframe catalogue runs/ --items 5000
  recframe compare monday.parquet tuesday.parquet --max-drop 0.01
  recframe evaluate @options.txt runs/

@FILE stands for the arguments in FILE: one or more on a line, in quotes where
they have blanks; what follows a # is a comment. A path that begins with @ is
written ./@path."""
EVALUATE_EXAMPLES = """examples:
  recframe evaluate run.parquet
  recframe evaluate --metric precision@4 recall@4 r_precision runs/
  recframe evaluate runs/ --score knn --score als --ties worst --format csv
  recframe evaluate runs/ --truth test.parquet --short pad --absent drop
  recframe evaluate runs/ --output means.json --per-user users.parquet -q"""
CATALOGUE_EXAMPLES = """examples:
  recframe catalogue run.parquet --items 5000
  recframe catalogue runs/ --k 4 --items items.parquet --short pad"""
DESCRIBE_EXAMPLES = """examples:
  recframe describe run.parquet
  recframe describe runs/ --k 4 --truth test.parquet
  recframe describe @options.txt runs/ --format json"""
