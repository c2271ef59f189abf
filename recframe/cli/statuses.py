"""Exit statuses, and what the help says of them."""

from recframe.console import REFUSED
from recframe.startup import INTERRUPTED

DONE, USAGE, TERMINATED = 0, 2, 143
STATUSES = f"""exit status:
  {DONE}    done
  {REFUSED}    the data is refused, or the system failed
  {USAGE}    wrong usage, or nothing asked
  {INTERRUPTED}  interrupted, as by Ctrl-C
  {TERMINATED}  ended by SIGTERM"""
