"""The command line, which is the same program as the one that cargo builds."""

import signal
import sys

from . import _cwnd


def main() -> None:
    """Runs the command line with the arguments of this process, and exits with its code."""
    # Python turns Ctrl-C into an exception that only Python code sees; the command line has its own way to stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_cwnd.command_line(["cwnd", *sys.argv[1:]]))
