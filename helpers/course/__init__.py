"""From lessons/ to notebooks/: source, catalogs, gates, build. See `python -m helpers.course --help`."""

import helpers.slow_imports  # noqa: F401
