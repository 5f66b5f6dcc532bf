"""From lessons/ to notebooks/: source, catalogs, gates, build. See `python -m helpers.course --help`."""
