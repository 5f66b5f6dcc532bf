from __future__ import annotations

import pytest

from helpers.course.same_code import CodeError, prose_in, shape


@pytest.mark.parametrize(
    ("english", "same", "other"),
    [
        ("x = 1  # one", "# un\nx = 1", "x = 2  # one"),
        ("%%writefile {f}/a.py\nx = 1  # one", "%%writefile {f}/a.py\n# un\nx = 1", "%%writefile {f}/b.py\nx = 1"),
        ("%%writefile a.py\nx = 1", "%%writefile a.py\nx  =  1", "%%writefile a.py\nx = 2"),
        ("%cd /x\n!ls\nx = 1", "%cd /x\n!ls\n# un\nx = 1", "%cd /y\n!ls\nx = 1"),
        ("%%bash\n# one\nls", "%%bash\n# un\nls", "%%bash\n# one\nls -l"),
        ("await f()", "await f()  # un", "f()"),
        ("%%html\n<b>", "%%html\n<b>", "%%html\n<i>"),
    ],
)
def test_code_is_compared_without_comments(english: str, same: str, other: str) -> None:
    assert shape(english) == shape(same)
    assert shape(english) != shape(other)


def test_code_that_is_not_python_is_an_error() -> None:
    with pytest.raises(CodeError, match="line 2"):
        shape("x = 1\ny = = 2")


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        ('print("RESULT", "keep unchanged")', []),
        ('f("SET #n = :n IF attribute_not_exists(id)")', []),
        ('print("This is a sentence")', ["This is a sentence"]),
        ('%%writefile a.py\ndef f():\n    """Do one thing."""', ["Do one thing."]),
        ('f"The answer is {x}"', ["The answer is"]),
        ("# a comment is not in the code\nx = 1", []),
        ("%%bash\necho this is not python", []),
    ],
)
def test_sentences_in_code_are_found(code: str, sentences: list[str]) -> None:
    assert list(prose_in(code)) == sentences
