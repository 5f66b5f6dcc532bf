"""In front of a class: the projected notebook, the slides, the teacher's notes. See `python -m helpers.classroom`."""

import helpers.slow_imports  # noqa: F401
