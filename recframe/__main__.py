"""The command line, as ``python -m recframe``."""

from recframe.cli import main

raise SystemExit(main())
