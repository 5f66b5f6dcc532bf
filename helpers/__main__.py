"""``python -m helpers``: set-up, JupyterLab, tests and the rest of what the Makefile offers, without make."""

from helpers.launcher.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
