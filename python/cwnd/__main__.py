"""`python -m cwnd` is the command line."""

from ._command_line import main

# Processes that Python starts read this file too.
if __name__ == "__main__":
    main()
