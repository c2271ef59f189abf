"""Uncertainty: which interval and which test is used when, and what not to conclude.

A metric is a mean over the users who happened to be evaluated. Others would have given another
mean. `df.rec.summary` says how far off it may be, `df.rec.compare` whether a difference between
two models is more than chance. Both return which interval and which test it was. `recframe.summary`
and `recframe.compare` do the same with values of users that are there, or that were saved
(`recframe.read_per_user`).

## Intervals

A 95 % interval is made by a rule that holds the mean of all users in 95 of 100 samples. The rule
has to fit the values (in brackets what tables call it):

* `wilson` (Wilson score): every value is 0 or 1, as of `hit_rate`. With no hit among 20 users the
  share is not certain to be 0; the interval ends at 0.16. (E. B. Wilson, 1927.)
* `tango` (Tango score), of differences: every difference is -1, 0 or 1, as where both models'
  values are 0 or 1. Wilson's of two models with the same users. (T. Tango, 1998.)
* `skewed` (skewness-adjusted t): all else. Most users have low values and a few high ones, or many
  have 0. Of few such users the mean is more often too low than too high, so that Student's interval
  ends too low. This one is moved, and widened, as far as the values are skewed: with their skewness
  g, standard deviation s and Student's quantile t, the middle is the mean + (1 + 2 t²) g s / 6 n,
  and half the length t √(s² / n + (1.15 t g s / n)²). (P. Hall, "Inverting an Edgeworth expansion",
  Annals of Statistics 11, 1983, for the middle; the widening was fitted to coverage.) Of values
  that are not skewed, or of thousands of users, it is Student's.
* Wilson score for equal values: all users have one value. Other users may have another: as large a
  share of them as would be seen by none of these, with values from 0 to 1 (differences: -1 to 1).
* none: there are fewer than two users, or all have one value of a metric that has no highest one
  (`dcg`, means of a column).

Intervals end where single values can: at 0 and 1, or -1 and 1 for differences. `interval="t"` is
Student's (Student t), `interval="bootstrap"` the percentile bootstrap of many papers and tools.
Both hold the mean too seldom where users with a value other than 0 are few: where 5 of 20 have a
hit, the mean reciprocal rank 80 of 100 times rather than 95. That is why they are not chosen by
themselves. Of more than 5,120 users, the bootstrap draws those of like values together; what they
differ in adds up as a normal sum.

Hits are whole numbers, so that no interval holds every share in just 95 of 100 samples: where one
hit is expected, those that are possible hold it in 92 or in 98, `wilson` in 92. Of other values,
where fewer than about five users have one, intervals of any kind say little; those chosen here are
wide, and hold the mean more often than they say (99 of 100 times). With 20 users and a few very
large values they hold it somewhat less often (93 of 100). `python -m tests.benchmarks.enumerated`
and `python -m tests.benchmarks.coverage intervals differences` show it, in a checkout.

## Tests

The p-value is the probability of a difference as large as this one, or larger, if the models were
equally good.

* `permutation`, the default: where models do not differ, a user's difference could as well have the
  other sign. Signs are flipped at random, and the p-value is the share of flips that give as large
  a difference. For few users all flips are tried (exact sign-flip permutation test), else 9,999 are
  drawn (Monte Carlo sign-flip permutation test); beyond 2,048 users, small differences are added up
  as a normal sum. (M. D. Smucker, J. Allan and B. Carterette, CIKM 2007.) Where only a handful of
  users differ, few p-values are possible and the test finds less than 5 % of what is not there:
  nothing where at most five do, and 2 % where ten differ by 1, all alike. It never finds more.
  Intervals are less cautious: `tango` leaves out 0 where four users won and none lost, whose
  p-value is 0.125; of models that are equally good, it does so in 5 of 100 samples.
* `ttest` (paired t-test) gives nearly the same. Use it where p-values below 0.0001 matter.
* `wilcoxon` (Wilcoxon signed-rank test) asks another question, whether more users gain than lose,
  by ranks of the differences (rounded to 12 digits, so that equal ones tie). With thousands of
  users it calls models different whose means are not. (N. Ihemelandu and M. D. Ekstrand, 2023,
  arXiv 2305.02461.) Do not use it to decide on a mean.

Many metrics and models are many chances of a p-value below 0.05. `p_corrected` allows for that,
over all rows of a table. `holm` does for any rows, and finds no less than `bonferroni`. `max_t`
does for rows that say much the same, as recall@5 and recall@10, and finds more there: each row's
sum of differences is divided by the root of their sum of squares, and its p-value is the share of
flips of which this row or one with a smaller value is as large, never below that of a larger row
(step-down, P. H. Westfall and S. S. Young, 1993). `fdr_bh` allows 5 % of what is found to be false,
for long lists of candidates.

## Segments and weights

With `by` each segment is a table of its own: its intervals are of its users, and `p_corrected`
allows for the rows of that segment only. With many segments some differ by chance.

With `weights` the mean is that of users drawn with their weights, and its error that of its linear
form (W. G. Cochran, "Sampling Techniques", 1977); permutations flip the signs of weighted
differences. Users of very different weights tell as much as (Σ w)² / Σ w² users of equal ones:
where that is below 20, intervals hold the mean too seldom (20 users with log-normal weights: 85 to
91 of 100 times, 200 users: 93 of 100; `python -m tests.benchmarks.coverage weights`).

## Gates

`recframe compare OLD NEW --max-drop D` asks whether something was surely lost: it fails where a
mean fell by more than D and the interval excludes 0. With few users nothing is sure, and it passes.
`--non-inferior D` asks whether all is surely well: it fails unless the interval excludes a drop of
D, as with few users it cannot. `detectable` tells which D is in reach. Both are about users of both
files, so that a gate also fails where too few of the old users are left: those who are may be the
easy ones. Each metric is judged by its own interval; of many that do not change, one in 40 ends
below 0 all the same.

## What not to conclude

* **A small p-value is no large difference.** With thousands of users nearly everything is
  significant. Read `difference`, `relative` and the interval: is all of it worth having? `effect`
  is the difference in standard deviations of users' differences, which does not grow with the
  number of users.
* **A large p-value is no sameness.** Read `detectable`: with these users a difference smaller than
  that is often missed (found 8 of 10 times at just that size). `recframe.users_needed` says how
  many users a difference needs.
* **Overlapping intervals of two means are no test.** Models share their users; `compare` uses
  that, and finds differences that intervals of `summary` hide.
* **The interval is about users.** It says nothing of another week, another catalogue, other
  training runs, or whether the metric is what users want.
* **Users must be the unit.** Several rows of one user, or users of one household, are fewer users
  than they seem.
* **Do not choose the metric, the cut-off or the segment after looking.** What was looked at
  belongs into the correction.

## Examples

    >>> import pandas as pd, recframe
    >>> per_user = pd.DataFrame({"old": [0] * 20, "new": [0] * 17 + [1] * 3})
    >>> recframe.summary(per_user)[["mean", "low", "high", "interval"]].round(2)
                  mean   low  high      interval
    score metric
    old   value   0.00  0.00  0.16  Wilson score
    new   value   0.15  0.05  0.36  Wilson score
    >>> found = recframe.compare(per_user)
    >>> found[["difference", "low", "high", "p_value", "detectable"]].round(2)
    baseline: old  difference   low  high  p_value  detectable
    score metric
    new   value          0.15 -0.04  0.36     0.25        0.24

Three users of 20 gained, none lost: that may well be chance. A true difference of 0.24 would mostly
have been found.
"""
