"""Once: order processing that is safe to repeat, on an AWS account that lives inside the notebook's kernel.

This module imports nothing, so that ``python -m helpers setup`` works before any package is installed.
"""

__version__ = "0.1.0"
