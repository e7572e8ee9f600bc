"""`python -m bot`: the command line. `exec` wraps other people's jobs: it starts without the service's own modules."""

import sys

if sys.argv[1:2] == ["exec"]:
    from bot.exec import main

    sys.exit(main())

from bot.cli.main import main as command_line

command_line()
