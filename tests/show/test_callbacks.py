from __future__ import annotations

from helpers.lab.errors import LabError
from helpers.show.callbacks import error_box


def test_a_mistake_that_the_lesson_expects_is_three_sentences_with_code_as_code() -> None:
    html = error_box(LabError("There is no queue `q05-jobs`.", "It was <deleted>.", "Run step 2."))
    assert "<code" in html
    assert "q05-jobs</code>" in html
    assert "`" not in html
    assert "&lt;deleted&gt;" in html
    assert "Traceback" not in html


def test_an_error_that_nobody_expected_shows_its_traceback_on_request() -> None:
    html = error_box(ZeroDivisionError("1 < 0"))
    assert "ZeroDivisionError: 1 &lt; 0" in html
    assert "<details" in html
