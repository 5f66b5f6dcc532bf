from __future__ import annotations

import socket
from contextlib import ExitStack

import nbformat
import pytest

from helpers.course import kernel_ports
from helpers.course.execute import execute

# From 14,000 upwards nobody draws: below, a test names its blocks, while others of this run draw theirs from 20,000.


def test_ports_lie_below_what_systems_hand_out_and_are_free() -> None:
    ports = kernel_ports.free_ports()
    assert len(set(ports)) == 5
    for port in ports:
        assert 20_000 <= port < 32_768
        with socket.socket() as mine:
            mine.bind(("127.0.0.1", port))


def test_nobody_draws_the_same_block_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([7, 7, 8])
    monkeypatch.setattr(kernel_ports._draw, "randrange", lambda count: next(drawn))
    monkeypatch.setattr(kernel_ports, "_FIRST", 14_000)
    with ExitStack() as held:
        monkeypatch.setattr(kernel_ports, "_held", held)
        assert kernel_ports.free_ports()[0] == 14_000 + 7 * 6 + 1
        assert kernel_ports.free_ports()[0] == 14_000 + 8 * 6 + 1


def test_a_block_with_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([9, 10])
    monkeypatch.setattr(kernel_ports._draw, "randrange", lambda count: next(drawn))
    monkeypatch.setattr(kernel_ports, "_FIRST", 14_000)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 14_000 + 9 * 6 + 3))
        other.listen()
        assert kernel_ports.free_ports()[0] == 14_000 + 10 * 6 + 1


def test_no_free_block_is_an_error_and_not_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_ports._draw, "randrange", lambda count: 11)
    monkeypatch.setattr(kernel_ports, "_FIRST", 14_000)
    kernel_ports.free_ports()
    with pytest.raises(OSError, match="no free port"):
        kernel_ports.free_ports()


def test_a_kernel_listens_where_it_was_told(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = kernel_ports.kernel_config()
    monkeypatch.setattr("helpers.course.execute.kernel_config", lambda: config)
    source = "from ipykernel.kernelapp import IPKernelApp\nprint(IPKernelApp.instance().shell_port)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="port")])
    execute(notebook, tmp_path, "en")
    assert notebook.cells[0].outputs[0].text.strip() == str(config.KernelManager.shell_port)
