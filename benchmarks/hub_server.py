"""A JupyterHub on loopback for a load test: real hub, real proxy, one server process per learner.

JupyterHub and its proxy (a Node.js program) are no dependencies of the course and in no lock file. They go into
``.cache/`` together with what requirements.lock names; the first time this needs the network, and npm.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.course.kernel_ports import free_port

from .engines import ROOT

HUB, PROXY, PULLER = "jupyterhub==6.1.1", "configurable-http-proxy@5.3.0", "nbgitpuller==1.3.0"
ONE_MACHINE = ROOT / "deploy" / "one-machine"
LOG = ROOT / ".cache" / "hub.log"
START_SECONDS = 60.0
SPAWN_SECONDS = 300.0

# SimpleLocalProcessSpawner: learners without accounts on this machine, each with a home folder of their own.
_CONFIG = """
import json, os, sys
own = json.loads(os.environ["ONCE_HUB"])
c.JupyterHub.bind_url = own["address"]
c.JupyterHub.hub_bind_url = own["hub"]
c.ConfigurableHTTPProxy.api_url = own["proxy_api"]
c.ConfigurableHTTPProxy.command = own["proxy"]
c.JupyterHub.db_url = "sqlite:///" + own["folder"] + "/hub.sqlite"
c.JupyterHub.cookie_secret_file = own["folder"] + "/cookie_secret"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = own["folder"] + "/home/{username}"
c.Spawner.args = ["--allow-root"] if own["root"] else []
c.Spawner.notebook_dir = own["course"]
c.Spawner.start_timeout = c.Spawner.http_timeout = int(own["spawn_seconds"])
c.Spawner.environment = own["environment"]
# A server starts seconds after its port was chosen, while others start: JupyterHub's own choice may be taken by then.
sys.path.insert(0, own["course"])
from helpers.course.kernel_ports import free_port
c.Spawner.pre_spawn_hook = lambda spawner: setattr(spawner, "port", free_port())
c.JupyterHub.services = [{"name": "load", "api_token": own["token"]}]
c.JupyterHub.load_roles = [{
    "name": "load", "services": ["load"], "scopes": ["admin:users", "admin:servers", "access:servers"],
}]
"""


class NoHub(RuntimeError):
    """JupyterHub could not be installed or did not start. The text says what to do."""


@dataclass(frozen=True)
class Hub:
    """A running JupyterHub. `folder` has the learners' homes; `pid` is the hub's process, which started the proxy."""

    address: str
    token: str
    folder: Path
    pid: int

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request through the proxy, as the load test's service. Raises NoHub, which names the request."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode("utf-8"),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=SPAWN_SECONDS) as answer:
                text = answer.read()
        except (OSError, http.client.HTTPException) as error:  # an answer of 400 and above, too
            raise NoHub(f"{method} {path}: {error}") from error
        return json.loads(text) if text else None

    def start_server(self, learner: str) -> None:
        """Start the learner's server and wait until it answers. Raises NoHub."""
        with contextlib.suppress(NoHub):  # the learner is known
            self.call("POST", f"/hub/api/users/{learner}")
        self.call("POST", f"/hub/api/users/{learner}/server")

        def ready(user: Any) -> bool:
            if not user["servers"]:  # it was there since it was asked for
                raise NoHub(f"The server of {learner} ended while it started.")
            return bool(user["servers"][""]["ready"])

        self._wait(learner, "start", ready)

    def stop_server(self, learner: str) -> None:
        """What the idle culler does: the server and its kernels end."""
        self.call("DELETE", f"/hub/api/users/{learner}/server")
        self._wait(learner, "end", lambda user: not user["servers"])

    def _wait(self, learner: str, what: str, done: Callable[[Any], bool]) -> None:
        deadline = time.monotonic() + SPAWN_SECONDS
        while time.monotonic() < deadline:
            if done(self.call("GET", f"/hub/api/users/{learner}")):
                return
            time.sleep(0.1)
        raise NoHub(f"The server of {learner} did not {what} within {SPAWN_SECONDS:.0f} s.")


def installed(environment: Path | None = None, proxy: Path | None = None) -> tuple[Path, Path]:
    """The scripts folder of an environment with JupyterHub and the course's packages, and the proxy's program.

    Installs what is not given. Raises NoHub.
    """
    if proxy is None:
        folder = ROOT / ".cache" / PROXY.replace("@", "-")
        proxy = folder / "node_modules" / ".bin" / "configurable-http-proxy"
        if not proxy.exists():
            if (npm := shutil.which("npm")) is None:
                raise NoHub("JupyterHub's proxy needs Node.js. Install it (with npm), then type the command again.")
            _run([npm, "install", "--silent", "--prefix", str(folder), PROXY])
    if environment is None:
        environment = ROOT / ".cache" / HUB.replace("==", "-")
        if not (environment / "bin" / "jupyterhub-singleuser").exists():
            uv = Path(sys.executable).with_name("uv")
            _run([str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(environment)])
            _run([
                *(str(uv), "pip", "install", "--quiet", "--compile-bytecode", "--python", str(environment)),
                *(HUB, PULLER, "--requirement", str(ROOT / "requirements.lock")),
            ])  # fmt: skip
    return environment / "bin", proxy


def _run(arguments: list[str]) -> None:
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise NoHub(f"{Path(arguments[0]).name} failed: {reason[0]}. The first time this needs the network.")


@contextlib.contextmanager
def running(environment: Path | None = None, proxy: Path | None = None) -> Iterator[Hub]:
    """A JupyterHub with no learners yet; everything it started and stored is gone after. Raises NoHub.

    After a failure, the log of hub and servers lies in `LOG`.
    """
    if os.name == "nt":
        raise NoHub("JupyterHub does not run on Windows.")
    scripts, program = installed(environment, proxy)
    folder = Path(tempfile.mkdtemp(prefix="once-hub-"))
    front, api, hub = (free_port() for _ in range(3))
    token = secrets.token_hex(16)
    own = {
        "address": f"http://127.0.0.1:{front}",
        "hub": f"http://127.0.0.1:{hub}",
        "proxy_api": f"http://127.0.0.1:{api}",
        "proxy": [str(program)],
        "folder": str(folder),
        "course": str(ROOT),
        "token": token,
        "root": os.geteuid() == 0,
        "spawn_seconds": SPAWN_SECONDS,
        "environment": {
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "JUPYTER_PLATFORM_DIRS": "1",
            "JUPYTER_CONFIG_PATH": str(ONE_MACHINE),
        },
    }
    (folder / "jupyterhub_config.py").write_text(_CONFIG, encoding="utf-8", newline="\n")
    (folder / "home").mkdir()
    log = folder / "hub.log"
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "ONCE_"))}
    variables |= {"ONCE_HUB": json.dumps(own), "PATH": os.pathsep.join([str(scripts), os.environ.get("PATH", "")])}
    variables["CONFIGPROXY_AUTH_TOKEN"] = secrets.token_hex(16)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [scripts / "jupyterhub", "--config", folder / "jupyterhub_config.py"],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    result = Hub(own["address"], token, folder, process.pid)  # type: ignore[arg-type]
    try:
        _wait_until_up(process, result, log)
        yield result
    except BaseException:
        LOG.parent.mkdir(exist_ok=True)
        shutil.copyfile(log, LOG)
        print(f"The log of hub and servers: {LOG.relative_to(ROOT)}", file=sys.stderr)
        raise
    finally:
        process.terminate()  # it stops the learners' servers and the proxy
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_up(process: subprocess.Popen[bytes], hub: Hub, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(NoHub, ValueError):
            hub.call("GET", "/hub/api/users")
            return
        time.sleep(0.2)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it wrote nothing"]
    raise NoHub(f"JupyterHub did not start: {lines[-1]}")
