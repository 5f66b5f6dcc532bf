"""What people see in a lesson: tables, boxes, questions and controls, each with a static form beside it."""

from helpers.show.notebook import Lab
from helpers.show.own_progress import progress

__all__ = ["Lab", "progress"]
