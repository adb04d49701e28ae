"""`python -m cwnd` is the command line."""

from ._command_line import main

main()
