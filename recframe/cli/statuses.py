"""Exit statuses, and what the help says of them."""

from recframe.console import REFUSED
from recframe.startup import INTERRUPTED

DONE, USAGE, FAILED, TERMINATED = 0, 2, 3, 143
STATUSES = f"""exit status:
  {DONE}    done
  {REFUSED}    the data is refused, or the system failed
  {USAGE}    wrong usage, or nothing asked
  {FAILED}    recframe compare: a metric fails
  {INTERRUPTED}  interrupted, as by Ctrl-C
  {TERMINATED}  ended by SIGTERM"""
