"""What the help of each command ends with: its examples."""

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
COMPARE_EXAMPLES = """a gate:
  --max-drop asks whether something was surely lost. Of few users it fails only
  where the loss is large; passing does not show that nothing was lost.
  --non-inferior asks whether a loss of D can be ruled out. Of few users it
  fails, also where nothing has changed.
  D is a difference of means, as 0.01 of 0.30. Each metric and score is judged
  by its own interval, and less than two users fail. Of fall_out a rise is what
  a drop is of others.

examples:
  recframe compare monday.parquet tuesday.parquet
  recframe compare old.parquet new.parquet --max-drop 0.01
  recframe compare old.csv new.csv --metric recall@10 --non-inferior 0.005"""
TREC_EXAMPLES = """as in trec_eval:
  -c          --complete
  -l LEVEL    --min-relevance LEVEL (nDCG, which there knows no level, then
              counts grades from it on)
  -q          -q, --per-query (silence is --quiet)
  -J          --unjudged drop
  -m NAME     --metric NAME, as P.10 precision@10, recall.10 recall@10, map
              average_precision, map_cut.10 average_precision@10,
              recip_rank reciprocal_rank, Rprec r_precision, ndcg_cut.10
              ndcg@10, success.10 hit_rate@10

examples:
  recframe trec qrels.txt bm25.run
  recframe trec qrels.txt runs/*.gz --metric ndcg@10 recall@1000 --complete
  recframe trec qrels.txt bm25.run -q --metric average_precision
  recframe trec qrels.txt bm25.run dense.run --baseline bm25.run"""
