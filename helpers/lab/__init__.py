"""The world of one lesson: what is provided, checks, faults, experiments. Plain data, without widgets or
IPython."""

from helpers.lab.errors import LabError
from helpers.lab.lab import Lab, Outcome

__all__ = ["Lab", "LabError", "Outcome"]
