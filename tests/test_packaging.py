"""What is installed is what is declared, in every list that declares it; the repository names no machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DEPENDENCIES = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["project"]["optional-dependencies"]["course"]]
LOCKS = ("requirements.lock", "requirements-test.lock")
SYSTEMS = [
    {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "aarch64"},
    {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
    {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin", "platform_machine": "x86_64"},
    {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

# Host names of package indexes, put together here so that this file does not name them itself.
_HOSTS = "|".join(
    (
        r"pypi\.(?:org|io|python)",
        r"python" + r"hosted\.",
        r"npm" + r"js\.",
        r"anaconda" + r"\.org",
        r"deb\.debian\.",
    )
)
_REGISTRY = re.compile(_HOSTS)
_MACHINE = re.compile(
    r"(?<![\w.])/(?:r" + r"oot|work/(?:main|shared|\.library)|Users/[A-Za-z]\w*)\b"
    r"|(?<![\w.])/home/(?!(?:user|you|jovyan)\b)[a-z]\w*"
    r"|[A-Z]:\\\\?Users\\\\?[A-Za-z]|/opt/(?:pypi|wheels)"
)
_BINARY = (".png", ".webp", ".woff2", ".zip")
_HOME = re.compile(r"/home/|[A-Z]:")
_SECRET = re.compile(
    r"\b(?:AKIA|ASIA)(?!ONCE|IOSFODNN7EXAMPLE)[0-9A-Z]{16}\b"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\bgh[pousr]_\w{36}\b"
    r"|(?i:secret_?access_?key)\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}\b"
)


def locked(name: str) -> list[tuple[str, Version, Marker | None, int]]:
    """The packages of a lock file: normalised name, version, marker, number of hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    result = []
    for block in re.split(r"\n(?=\S)", text):
        lines = [line.rstrip("\\ ") for line in block.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        requirement = Requirement(lines[0])
        (pin,) = requirement.specifier
        assert pin.operator == "==", f"{lines[0]} is not pinned"
        hashes = sum(line.strip().startswith("--hash=sha256:") for line in lines[1:])
        assert len(lines) == 1 + hashes, f"{lines[0]} has lines that are not hashes"
        result.append((canonicalize_name(requirement.name), Version(pin.version), requirement.marker, hashes))
    return result


def versions(name: str, system: dict[str, str], python: str) -> dict[str, Version]:
    """What a lock file installs on one system with one Python."""
    where = {**system, "python_version": python, "python_full_version": f"{python}.1"}
    where |= {"implementation_name": "cpython", "platform_python_implementation": "CPython", "extra": ""}
    result: dict[str, Version] = {}
    for package, version, marker, _ in locked(name):
        if marker is None or marker.evaluate(where):
            assert package not in result, f"{package} twice on {system} with Python {python}"
            result[package] = version
    return result


def group(name: str) -> list[Requirement]:
    """A dependency group of pyproject.toml."""
    return [Requirement(text) for text in PYPROJECT["dependency-groups"][name]]


def dependencies() -> list[Requirement]:
    """What the whole package needs."""
    return [Requirement(text) for text in DEPENDENCIES]


def tracked() -> list[Path]:
    """The files that git keeps; without git, there is nothing to check."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git clone")
    return [ROOT / name for name in done.stdout.decode("utf-8").split("\0") if name]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system['sys_platform']}-{system['platform_machine']}")
def test_locks_satisfy_what_is_declared(system: dict[str, str], python: str) -> None:
    build = [Requirement(text) for text in PYPROJECT["build-system"]["requires"]]
    declared = {
        "requirements.lock": [*dependencies(), *group("setup"), *group("wheels"), *build],
        "requirements-test.lock": [
            *dependencies(),
            *group("setup"),
            *group("wheels"),
            *group("test"),
            *build,
        ],
    }
    for lock, requirements in declared.items():
        there = versions(lock, system, python)
        for requirement in requirements:
            marker = requirement.marker
            if marker is not None and not marker.evaluate({**system, "python_version": python}):
                continue
            version = there.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement} is not in {lock}; run `make lock`"
            assert requirement.specifier.contains(version), f"{lock} has {version} for {requirement}"
    course, test = (versions(lock, system, python) for lock in LOCKS)
    assert course.items() <= test.items(), "the test lock does not contain the course's"


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_have_hashes_and_nothing_else(lock: str) -> None:
    packages = locked(lock)
    assert len(packages) > 100
    assert [package for package, _, _, hashes in packages if not hashes] == []


def test_moto_is_new_enough() -> None:
    (version,) = [version for package, version, _, _ in locked("requirements.lock") if package == "moto"]
    assert version >= Version("5.2.5")


def test_moto_comes_without_its_heavy_extras() -> None:
    assert not {"cfn-lint", "sympy", "openapi-spec-validator"} & {package for package, *_ in locked(LOCKS[1])}


@pytest.mark.parametrize(
    ("folder", "texts"), [("helpers", DEPENDENCIES), ("helpers/cloud", PYPROJECT["project"]["dependencies"])]
)
def test_every_import_is_declared(folder: str, texts: list[str]) -> None:
    """helpers.cloud alone needs less than the course; its pytest plugin is for those who have pytest, and a grid runs
    on a cluster only for those who have Dask."""
    declared = {canonicalize_name(Requirement(text).name) for text in texts} | {"pytest", "distributed"}
    distributions = packages_distributions()
    missing = set()
    for path in sorted((ROOT / folder).rglob("*.py")):
        for name in imported(path):
            if name in sys.stdlib_module_names or name == "helpers":
                continue
            owners = {canonicalize_name(owner) for owner in distributions.get(name, [name])}
            if not owners & declared:
                missing.add(f"{path.relative_to(ROOT).as_posix()} imports {name}")
    assert sorted(missing) == []


def imported(path: Path) -> set[str]:
    """The first names of all modules that a file imports, at the top or inside functions."""
    result: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            result.add(node.module.split(".")[0])
    return result


def test_set_up_imports_only_the_standard_library() -> None:
    folders = ("helpers", "helpers/copies", "helpers/launcher")
    files = [path for folder in folders for path in (ROOT / folder).glob("*.py")]
    inside_environment = {"jupyter_process.py", "colab.py", "probe.py"}
    for path in files:
        names = imported(path) - {"helpers"}
        if path.name not in inside_environment:
            assert names <= sys.stdlib_module_names, path.name


def test_no_file_names_a_registry_a_machine_or_a_secret() -> None:
    found = []
    for path in tracked():
        if not path.is_file() or path.suffix in _BINARY:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for what, pattern in (("registry", _REGISTRY), ("machine path", _MACHINE), ("secret", _SECRET)):
                match = pattern.search(line)
                # Tests of the course's own check for such paths make some up.
                if match and not (path.is_relative_to(ROOT / "tests") and _HOME.match(match.group(0))):
                    found.append(f"{path.relative_to(ROOT).as_posix()}:{number}: {what}: {match.group(0)}")
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (_REGISTRY, "see https://pypi" + ".org/simple"),
        (_REGISTRY, "https://files.python" + "hosted.org/x"),
        (_MACHINE, '"cwd": "/work' + '/main/notebooks"'),
        (_MACHINE, "File /ro" + "ot/.cache"),
        (_MACHINE, "/home/" + "anna/once"),
        (_MACHINE, "C:\\Us" + "ers\\Anna"),
        (_SECRET, "AKIA" + "2E0A8F3B244C9986"),
        (_SECRET, "aws_secret_access_key = " + "x" * 40),
    ],
    ids=["index", "files", "clone", "root", "linux", "windows", "key id", "key"],
)
def test_the_patterns_find_what_they_are_for(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_the_text_files_have_unix_line_ends() -> None:
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.is_file() and path.suffix not in _BINARY and b"\r\n" in path.read_bytes()
    ]
    assert wrong == []
