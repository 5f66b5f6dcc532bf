from __future__ import annotations

import threading

import pytest

from helpers.lab.errors import LabError
from helpers.show.callbacks import error_box, left_out_at_the_end


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


def test_a_redraw_that_the_end_of_the_kernel_overtakes_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    @left_out_at_the_end
    def redraw() -> None:
        raise RuntimeError("socket requested during shutdown")

    with pytest.raises(RuntimeError):
        redraw()
    monkeypatch.setattr(threading.main_thread(), "is_alive", lambda: False)
    redraw()
