"""Windows and macOS: text files name their encoding, and what only POSIX has is used behind a question for the system.

Read from the source, so that it holds on the systems where these tests do not run.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("helpers", "benchmarks")

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = {
    "os": {
        *("chown", "chroot", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getpgrp"),
        *("getuid", "killpg", "mkfifo", "nice", "openpty", "set_blocking", "setpgid", "setsid", "sysconf", "uname"),
        *("wait", "waitpid", "WEXITSTATUS", "WIFEXITED", "WIFSIGNALED"),
    },
    "signal": {
        *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGUSR2"),
        *("alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait"),
    },
    "select": {"poll", "epoll", "kqueue"},
    "socket": {"AF_UNIX", "socketpair"},
    "time": {"tzset"},
}
"""Python's documentation, "Availability: Unix" (`os.set_blocking`: Windows from 3.12)."""

_QUESTIONS = {"name", "platform", "WINDOWS", "hasattr", "system", "getattr"}


def questions(test: ast.AST) -> bool:
    """Whether a condition asks for the system, or whether the name is there."""
    for node in ast.walk(test):
        if isinstance(node, ast.Name) and node.id in _QUESTIONS - {"name"}:
            return True
        if (
            isinstance(node, ast.Attribute)
            and node.attr in _QUESTIONS
            and isinstance(node.value, ast.Name)
            and node.value.id in ("os", "sys", "platform")
        ):
            return True
    return False


def leaves(block: list[ast.stmt]) -> bool:
    return isinstance(block[-1], ast.Return | ast.Raise | ast.Continue)


def unguarded(tree: ast.AST) -> list[ast.AST]:
    """The nodes that run on every system."""
    found: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        found.append(node)
        if isinstance(node, ast.If | ast.IfExp) and questions(node.test):
            visit(node.test)
            return  # both branches know the system
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and questions(node.values[0]):
            visit(node.values[0])
            return
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                for index, child in enumerate(value):
                    if isinstance(child, ast.AST):
                        visit(child)
                    if isinstance(child, ast.If) and questions(child.test) and leaves(child.body):
                        assert value[index:], "what follows runs on one kind of system"
                        break
            elif isinstance(value, ast.AST):
                visit(value)

    visit(tree)
    return found


def posix_only(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in unguarded(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in POSIX_MODULES:
                    yield node.lineno, f"import {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.module in POSIX_MODULES or alias.name in POSIX_NAMES.get(node.module or "", ()):
                    yield node.lineno, f"from {node.module} import {alias.name}"
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in POSIX_NAMES.get(owner, ()):
                yield node.lineno, f"{owner}.{node.attr}"


def given(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def mode_of(call: ast.Call, place: int) -> str | None:
    """The mode of an opened file; None when the call is no opening of a file by its mode."""
    mode = given(call, "mode") or (call.args[place] if len(call.args) > place else None)
    if mode is None:
        return "r"
    value = constant(mode)
    return value if isinstance(value, str) and set(value) <= set("rwaxbt+") else None


def text_without_encoding(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or given(node, "encoding") is not None:
            continue
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        wrong = False
        if name in ("read_text", "write_text"):
            wrong = True
        elif name == "open" and isinstance(function, ast.Name):
            mode = mode_of(node, 1)
            wrong = mode is None or "b" not in mode
        elif name in ("open", "fdopen"):
            # Of somebody else's `open`, a mode is no first argument.
            mode = mode_of(node, 0 if name == "open" else 1)
            wrong = mode is not None and "b" not in mode
        elif name in ("NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile"):
            wrong = bool(node.args or given(node, "mode")) and "b" not in (mode_of(node, 0) or "")
        elif name in ("run", "Popen", "check_output", "getoutput", "getstatusoutput", "TextIOWrapper"):
            texts = [constant(given(node, one)) for one in ("text", "universal_newlines")]
            wrong = True in texts or name in ("getoutput", "getstatusoutput", "TextIOWrapper")
        if wrong:
            yield node.lineno, f"{name}() without encoding"


def own_line_ends(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """`write_text` turns line ends into those of Windows, if nothing is said."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "write_text" and not given(node, "newline"):
            yield node.lineno, "write_text() without newline"


@functools.cache
def sources() -> list[tuple[str, ast.AST]]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


@pytest.mark.parametrize("rule", [posix_only, text_without_encoding, own_line_ends], ids=lambda rule: rule.__name__)
def test_the_course_holds_the_rule(rule: object) -> None:
    found = [f"{name}:{line}: {what}" for name, tree in sources() for line, what in rule(tree)]  # type: ignore[operator]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", True),
        ("import os\nos.fork()", True),
        ("from signal import SIGKILL", True),
        ("import os\ndef f():\n    os.killpg(1, 9)", True),
        ("import os\nif os.name != 'nt':\n    import fcntl", False),
        ("import os\nroot = os.geteuid() == 0 if hasattr(os, 'geteuid') else False", False),
        ("import os\ndef f():\n    if WINDOWS:\n        return\n    os.killpg(1, 9)", False),
        ("import os\ndef f():\n    if WINDOWS:\n        pass\n    os.killpg(1, 9)", True),
        ("import os\nmine = hasattr(os, 'getuid') and os.getuid() == 1", False),
        ("import os\nmine = os.getuid() == 1 and hasattr(os, 'getuid')", True),
        ("import os\nif wanted:\n    os.fork()", True),
        ("import os\nif self.name:\n    os.fork()", True),
    ],
)
def test_the_rule_about_posix_finds_what_it_is_for(source: str, found: bool) -> None:
    assert bool(list(posix_only(ast.parse(source)))) is found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("open('a')", True),
        ("open('a', 'rb')", False),
        ("open('a', encoding='utf-8')", False),
        ("open('a', mode)", True),
        ("path.open()", True),
        ("path.open('ab')", False),
        ("browser.open('http://127.0.0.1')", False),
        ("path.read_text()", True),
        ("subprocess.run(['a'], text=True)", True),
        ("subprocess.run(['a'], encoding='utf-8')", False),
        ("subprocess.run(['a'])", False),
        ("tempfile.NamedTemporaryFile('w')", True),
        ("tempfile.NamedTemporaryFile()", False),
    ],
)
def test_the_rule_about_encodings_finds_what_it_is_for(source: str, found: bool) -> None:
    assert bool(list(text_without_encoding(ast.parse(source)))) is found
