"""What a handler may do to its worker, and cannot do to the account: bounds, leftovers, and what it can see."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.cloud import Cloud, leftover_processes
from tests.cloud.deploying import Deployer, eventually

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name == "nt", reason="sessions are a matter of POSIX; Windows ends the tree")


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    cloud.functions.transition_seconds = 0.02
    return Deployer(cloud)


def _alive(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _resident() -> int:
    """Megabytes of this process now."""
    import psutil

    return int(psutil.Process().memory_info().rss // 1_048_576)


# --- nothing is left ---------------------------------------------------------------------------------------

LEAVERS = {
    "in a session of its own": "child = subprocess.Popen(['sleep', '300'], start_new_session=True).pid",
    "a child of a child": (
        "child = int(subprocess.run([sys.executable, '-c', 'import subprocess; "
        'print(subprocess.Popen(["sleep", "300"], start_new_session=True, stdout=-3, stderr=-3).pid)'
        "'], capture_output=True, text=True).stdout)"
    ),
    "a copy without a program of its own": (
        "child = os.fork()\n"
        "    if not child:\n"
        "        os.setsid()\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        os.closerange(0, 50)\n"
        "        time.sleep(300)\n"
        "        os._exit(0)"
    ),
}
ENDS = {"it crashes": "os._exit(1)", "it takes too long": "time.sleep(300)"}


def _leaver(start: str, end: str) -> str:
    return (
        "import os, signal, subprocess, sys, time\n"
        f"def handler(event, context):\n    {start}\n    print('CHILD', child)\n    {end}\n"
    )


def _child(functions: Deployer, name: str) -> int:
    (line,) = (line for line in functions.log(name) if line.startswith("CHILD"))
    return int(line.split()[1])


@posix
@pytest.mark.parametrize(
    ("start", "end"),
    [*((name, "it crashes") for name in LEAVERS), ("in a session of its own", "it takes too long")],
)
def test_what_left_the_workers_group_ends_after_it(functions: Deployer, start: str, end: str) -> None:
    name = functions.create(_leaver(LEAVERS[start], ENDS[end]), Timeout=1)
    functions.invoke(name, {})
    child = _child(functions, name)
    eventually(lambda: not _alive(child), functions.cloud, timeout=15)


@posix
def test_close_leaves_no_process_in_whatever_session() -> None:
    program = (
        "from helpers.cloud import Cloud\nfrom tests.cloud.deploying import Deployer\n"
        "with Cloud() as cloud:\n    functions = Deployer(cloud)\n"
        + "".join(
            f"    name = functions.create({_leaver(start, 'return child')!r})\n"
            "    print(cloud.runtime.invoke(name, b'{}').payload.decode())\n"
            for start in LEAVERS.values()
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    children = [int(line) for line in done.stdout.split()]
    assert len(children) == len(LEAVERS)
    assert not [pid for pid in children if _alive(pid)]


@posix
def test_processes_of_a_killed_account_end_with_its_folder(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], leftover_processes.MARK: f"{tmp_path}/x"}
    left = subprocess.Popen(["sleep", "300"], env=environ, start_new_session=True)
    other = subprocess.Popen(["sleep", "300"], start_new_session=True)
    try:
        # An account that begins elsewhere at this moment may be the one that ends it.
        assert leftover_processes.end(str(tmp_path)) <= 1
        assert left.wait(5) == -9
        assert other.poll() is None
        assert leftover_processes.end("") == 0
    finally:
        left.kill()
        other.kill()
        other.wait(5)


# --- bounds ------------------------------------------------------------------------------------------------

GREEDY: dict[str, tuple[str, object]] = {
    "prints twenty megabytes": (
        "line = 'x' * 999\n    for _ in range(20_000): print(line)\n    return 'done'",
        "done",
    ),
    "prints a line without end": (
        "for _ in range(1000): sys.stdout.write('x' * 65536)\n    return 'done'",
        "done",
    ),
    "logs twenty megabytes": (
        "for _ in range(20): logging.warning('x' * 1_000_000)\n    return 'done'",
        "done",
    ),
    "opens a thousand connections to the account": (
        "host, port = os.environ['AWS_ENDPOINT_URL'][7:].split(':')\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "    many = [socket.create_connection((host, int(port))) for _ in range(1000)]\n    return len(many)",
        1000,
    ),
    "opens a thousand connections to its endpoint": (
        "host, port = os.environ['AWS_LAMBDA_RUNTIME_API'].split(':')\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "    many = []\n"
        "    for _ in range(1000):\n"
        "        one = socket.socket(); one.settimeout(0.2); many.append(one)\n"
        "        try: one.connect((host, int(port)))\n"
        "        except OSError: break\n"
        "    for one in many: one.close()\n"
        "    return 'done'",
        "done",
    ),
    "ignores signals": (
        "for n in {*range(1, 32)} - {9, 17, 19}: signal.signal(n, signal.SIG_IGN)\n    return 1",
        1,
    ),
    "closes its output": ("os.close(1); os.close(2)\n    return 'done'", "done"),
    "replaces its output": ("sys.stdout = sys.stderr = None\n    return 'done'", "done"),
    "changes its folder": ("os.chdir('/')\n    return 'done'", "done"),
    "clears its environment": ("os.environ.clear()\n    return 'done'", "done"),
    "fills its folder": (
        "open(os.path.join(os.environ['TMPDIR'], 'f'), 'wb').write(bytes(50_000_000))\n    return 1",
        1,
    ),
    "starts threads that go on": (
        "for _ in range(50): threading.Thread(target=time.sleep, args=(300,)).start()\n    return 1",
        1,
    ),
    "has an exit handler that hangs": ("import atexit; atexit.register(time.sleep, 300)\n    return 1", 1),
}


@posix
@pytest.mark.parametrize(("body", "result"), GREEDY.values(), ids=GREEDY.keys())
def test_a_greedy_handler_gets_its_answer_and_the_account_stays_small(
    functions: Deployer, body: str, result: object
) -> None:
    source = (
        "import logging, os, resource, signal, socket, sys, threading, time\n"
        f"def handler(event, context):\n    if event: return 'again'\n    {body}\n"
    )
    name = functions.create(source, Timeout=30)
    before = _resident()
    payload, answer = functions.invoke(name)
    assert (payload, answer.get("FunctionError")) == (result, None)
    assert _resident() - before < 60
    assert functions.invoke(name, {"more": 1})[0] == "again"
    functions.client.delete_function(FunctionName=name)


def test_a_log_group_keeps_its_newest_events_and_says_what_went(
    cloud: Cloud, functions: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helpers.cloud.logs.GROUP_LIMIT", 200_000)
    name = functions.create("def handler(event, context):\n    for _ in range(40): print('x' * 1000)\n    return event")
    for number in range(12):
        functions.invoke(name, number)
    (stream,) = cloud.client("logs").describe_log_streams(logGroupName=f"/aws/lambda/{name}")["logStreams"]
    log = functions.log(name)
    held = sum(map(len, log))
    assert 80_000 < held < 250_000
    assert log[0].startswith("[once] ")
    assert "a log group keeps 200000 bytes" in log[0]
    assert log[-1].startswith("REPORT ")
    assert stream["storedBytes"] == held


def test_what_a_run_leaves_in_its_folder_goes_with_its_worker(functions: Deployer) -> None:
    source = "folder = os.environ['TMPDIR']\n    open(folder + '/f', 'w')\n    return folder"
    name = functions.create(f"import os\ndef handler(event, context):\n    {source}")
    folder = Path(functions.invoke(name, {})[0])
    assert [path.name for path in folder.iterdir()] == ["f"]
    functions.client.delete_function(FunctionName=name)
    eventually(lambda: not folder.exists(), functions.cloud)


# --- what a handler can see --------------------------------------------------------------------------------

SECRETS = {
    "AWS_PROFILE": "production",
    "AWS_BEARER_TOKEN_BEDROCK": "secret",
    "JUPYTER_TOKEN": "secret",
    "JPY_API_TOKEN": "secret",
    "JPY_SESSION_NAME": "/home/learner/notebook.ipynb",
    "GITHUB_TOKEN": "secret",
    "SSH_AUTH_SOCK": "/run/agent",
    "PYTHONPATH": str(ROOT),
    "LD_PRELOAD": "",
    "HOME": "/home/learner",
}


@pytest.fixture(scope="module")
def seen() -> dict[str, object]:
    """What a handler finds around it when the kernel has secrets in its environment and files open."""
    import json

    source = (
        "import importlib.util, os, sys\n"
        "def handler(event, context):\n"
        "    fds = {}\n"
        "    for n in range(256):\n"
        "        try: fds[n] = os.readlink(f'/proc/self/fd/{n}')\n"
        "        except OSError: pass\n"
        "    first = open('/proc/self/environ').read() if os.path.exists('/proc/self/environ') else ''\n"
        "    return {'environ': dict(os.environ), 'first': first, 'path': sys.path, 'fds': fds, 'pid': os.getpid(),\n"
        "            'folder': os.getcwd(), 'helpers': importlib.util.find_spec('helpers') is not None,\n"
        "            'modules': [n for n in sys.modules if n.split('.')[0] in ('helpers', 'moto', 'IPython')]}\n"
    )
    program = (
        "import json, os, tempfile\nfrom helpers.cloud import Cloud\nfrom tests.cloud.deploying import Deployer\n"
        "secret = tempfile.NamedTemporaryFile(prefix='kernel-secret-')\n"
        "with Cloud() as cloud:\n"
        f"    result = cloud.runtime.invoke(Deployer(cloud).create({source!r}), b'{{}}')\n"
        "    print(json.dumps([os.getpid(), json.loads(result.payload)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **SECRETS},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kernel, found = json.loads(done.stdout.splitlines()[-1])
    return {**found, "kernel": kernel}


def test_a_handler_runs_in_a_process_and_a_folder_of_its_own(seen: dict[str, object]) -> None:
    assert seen["pid"] != seen["kernel"]
    assert "once-code-" in str(seen["folder"])


def test_no_secret_of_the_learners_shell_reaches_a_handler(seen: dict[str, object]) -> None:
    environ = seen["environ"]
    assert isinstance(environ, dict)
    assert {name: environ[name] for name in SECRETS.keys() & environ.keys() if environ[name] == SECRETS[name]} == {}
    assert not [name for name in environ if name.startswith(("JPY_", "JUPYTER", "GITHUB", "SSH"))]
    assert "secret" not in str(seen["first"])
    assert "secret" not in str(environ)


def test_no_module_of_the_account_can_be_imported_by_a_handler(seen: dict[str, object]) -> None:
    """Not the folder of the project, although the kernel has it on its path."""
    assert str(ROOT) not in seen["path"]  # type: ignore[operator]
    assert seen["helpers"] is False
    assert seen["modules"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads the table of open files of Linux")
def test_a_handler_has_no_open_file_of_the_kernel(seen: dict[str, object]) -> None:
    files = seen["fds"]
    assert isinstance(files, dict)
    names = [name for number, name in files.items() if int(number) > 2]
    assert not [name for name in names if "kernel-secret" in name]
    # The pipe that tells of the kernel's end, and the connection to its own endpoint.
    assert len([name for name in names if name.startswith("socket:")]) <= 1
    assert len([name for name in names if name.startswith("pipe:")]) <= 1
    assert len(names) <= 3, names


# --- one worker's run is no other's ------------------------------------------------------------------------


def test_a_worker_cannot_take_or_answer_the_run_of_another_one(cloud: Cloud, functions: Deployer) -> None:
    victim = functions.create(
        "import time\ndef handler(event, context):\n    time.sleep(20)\n    return 'own'", Timeout=60
    )
    thread = threading.Thread(target=cloud.runtime.invoke, args=(victim, b'"order"', "invoke", "the-other-run"))
    thread.start()
    eventually(lambda: cloud.runtime.running(victim) == 1 and "the-other-run" in cloud.runtime._runs, cloud)
    (address,) = {cloud.runtime._runs["the-other-run"]._endpoint.address}
    thief = functions.create(
        """
        import http.client
        def call(address, method, path, body=None, headers={}):
            connection = http.client.HTTPConnection(address, timeout=5)
            connection.request(method, "/2018-06-01/runtime/" + path, body, headers)
            answer = connection.getresponse()
            return [answer.status, answer.read().decode()]
        def handler(event, context):
            import os
            own = os.environ["AWS_LAMBDA_RUNTIME_API"]
            return {
                "its run, at my endpoint": call(own, "POST", "invocation/the-other-run/response", '"stolen"')[0],
                "its next, at its endpoint": call(event["address"], "GET", "invocation/next")[0],
                "another run, at its endpoint": call(event["address"], "POST", "invocation/x/response", '"stolen"')[0],
            }
        """
    )
    answers = functions.invoke(thief, {"address": address})[0]
    assert answers == {
        "its run, at my endpoint": 400,
        "its next, at its endpoint": 403,
        "another run, at its endpoint": 400,
    }
    assert cloud.runtime.kill_run("the-other-run")
    thread.join(10)
