"""A lesson run many times by papermill, with each combination of its parameters. See `python -m helpers.grid`."""

import helpers.slow_imports  # noqa: F401
