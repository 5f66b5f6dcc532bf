from __future__ import annotations

import itertools
import socket

import nbformat
import pytest

from helpers.course import kernel_ports
from helpers.course.execute import execute


def test_a_port_lies_below_what_systems_hand_out_and_is_free() -> None:
    port = kernel_ports.free_port()
    assert 20_000 <= port < 32_768
    with socket.socket() as mine:
        mine.bind(("127.0.0.1", port))


def test_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        taken = kernel_ports.free_port()
        other.bind(("127.0.0.1", taken))
        other.listen()
        drawn = itertools.chain([taken, taken], itertools.count(taken + 1))  # a neighbour may be in use, too
        monkeypatch.setattr(kernel_ports._draw, "randint", lambda first, last: next(drawn))
        assert kernel_ports.free_port() > taken


def test_no_free_port_is_an_error_and_not_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        taken = kernel_ports.free_port()
        other.bind(("127.0.0.1", taken))
        other.listen()
        monkeypatch.setattr(kernel_ports._draw, "randint", lambda first, last: taken)
        with pytest.raises(OSError, match="no free port"):
            kernel_ports.free_port()


def test_a_kernel_listens_where_it_was_told(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = kernel_ports.kernel_config()
    monkeypatch.setattr("helpers.course.execute.kernel_config", lambda: config)
    source = "from ipykernel.kernelapp import IPKernelApp\nprint(IPKernelApp.instance().shell_port)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="port")])
    execute(notebook, tmp_path, "en")
    assert notebook.cells[0].outputs[0].text.strip() == str(config.KernelManager.shell_port)
