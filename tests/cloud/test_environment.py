from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import boto3
import pytest

from helpers.cloud import Cloud, environment, environment_file

needs_the_cli = pytest.mark.skipif(environment.cli_folder() is None, reason="the AWS CLI is not installed")


def test_variables_of_a_real_account_are_hidden_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://elsewhere.invalid")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")
    environ = {"AWS_PROFILE": "production", "AWS_ENDPOINT_URL_SQS": "x", "AWS_ACCESS_KEY_ID": "real", "HOME": "h"}
    before = dict(environ)
    installed = environment.Installed(environment.of_account("http://127.0.0.1:1"), environ)
    assert "AWS_PROFILE" not in environ
    assert "AWS_ENDPOINT_URL_SQS" not in environ
    assert environ["AWS_ACCESS_KEY_ID"] == environment.LEARNER_ACCESS_KEY
    installed.restore()
    assert environ == before


def test_a_profile_on_the_machine_is_neither_read_nor_usable(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "[default]\nregion = eu-west-3\nendpoint_url = http://127.0.0.1:9\n[profile real]\nregion = eu-west-3\n",
        encoding="utf-8",
    )
    keys = tmp_path / "credentials"
    keys.write_text("[default]\naws_access_key_id = REAL\naws_secret_access_key = REAL\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys))
    monkeypatch.setenv("AWS_PROFILE", "real")
    cloud.install()
    try:
        session = boto3.Session()
        assert session.available_profiles == []
        assert session.region_name == "us-east-1"
        assert session.get_credentials().access_key == environment.LEARNER_ACCESS_KEY
        assert session.client("sqs").meta.endpoint_url == cloud.endpoint
        assert cloud.client("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
    finally:
        cloud.uninstall()


def test_the_session_that_boto3_made_before_is_forgotten(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile real]\nregion = eu-west-3\nignore_configured_endpoint_urls = true\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "REAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "REAL")
    monkeypatch.setenv("AWS_PROFILE", "real")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    assert boto3.client("sqs").meta.region_name == "eu-west-3"
    cloud.install()
    try:
        client = boto3.client("sqs")
        assert (client.meta.endpoint_url, client.meta.region_name) == (cloud.endpoint, cloud.region)
        assert client.list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
    finally:
        cloud.uninstall()
    assert boto3.client("sqs").meta.region_name == "eu-west-3"


def test_a_proxy_of_the_machine_is_not_asked(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "intranet.invalid")
    assert cloud.client("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
    cloud.install()
    try:
        assert boto3.client("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert os.environ["NO_PROXY"].split(",") == ["127.0.0.1", "localhost", "intranet.invalid"]
    finally:
        cloud.uninstall()
    assert os.environ["NO_PROXY"] == "intranet.invalid"


def test_a_program_that_sources_the_file_uses_the_account(cloud: Cloud, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("the file is for POSIX shells")
    file = tmp_path / "once environment.sh"
    cloud.write_environment_file(file)
    program = "import boto3; print(boto3.client('sqs').create_queue(QueueName='from-a-terminal')['QueueUrl'])"
    answer = subprocess.run(
        ["sh", "-c", '. "$1"; "$2" -c "$3"', "sh", str(file), sys.executable, program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={
            "PATH": "/usr/bin:/bin",
            "AWS_PROFILE": "production",
            "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:9",
            "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
        },
    )
    assert answer.stdout.strip() == f"{cloud.endpoint}/{cloud.account_id}/from-a-terminal"


@needs_the_cli
def test_a_command_of_the_notebook_uses_the_account_without_a_flag(cloud: Cloud) -> None:
    """SQS in us-east-1 is where the AWS CLI 1 passes over AWS_ENDPOINT_URL."""
    path = os.environ["PATH"]
    cloud.install()
    try:
        made = aws("sqs create-queue --queue-name from-a-cell --query QueueUrl --output text")
        assert made == f"{cloud.endpoint}/{cloud.account_id}/from-a-cell"
        assert made in cloud.client("sqs").list_queues()["QueueUrls"]
        assert boto3.Session().available_profiles == []
    finally:
        cloud.uninstall()
    assert os.environ["PATH"] == path


def aws(command: str) -> str:
    """What ``!aws …`` does in a cell: a shell with this process's variables."""
    done = subprocess.run(f"aws {command}", shell=True, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


@needs_the_cli
@pytest.mark.skipif(sys.platform == "win32", reason="the file is for POSIX shells")
def test_a_terminal_that_sources_the_file_needs_no_flag_in_a_script_either(cloud: Cloud, tmp_path: Path) -> None:
    file = tmp_path / "Курс été" / "aws.sh"
    file.parent.mkdir()
    cloud.write_environment_file(file)
    url = cloud.client("sqs").create_queue(QueueName="from-a-script")["QueueUrl"]
    script = tmp_path / "script"
    script.write_text("aws sqs get-queue-url --queue-name from-a-script --output text\n", encoding="utf-8")
    answer = subprocess.run(
        ["sh", "-c", '. "$1"; sh "$2"', "sh", str(file), str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PATH": "/usr/bin:/bin", "AWS_PROFILE": "production", "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:9"},
    )
    assert answer.stdout.strip() == url


# What the file for each shell holds: a quotation mark, a letter with an accent and a percent sign are kept.
VARIABLES = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "ONCE_FOLDER": "C:\\l'été 100%"}


@pytest.mark.parametrize(
    ("name", "cli", "lines"),
    [
        (
            "a.sh",
            "C:\\a b\\Scripts",
            ["export ONCE_FOLDER='C:\\l'\"'\"'été 100%'", "export PATH='/c/a b/Scripts':\"$PATH\""],
        ),
        ("a.sh", None, ['aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }']),
        ("a.ps1", "C:\\x", ["$env:ONCE_FOLDER = 'C:\\l''été 100%'", f"$env:PATH = 'C:\\x{os.pathsep}' + $env:PATH"]),
        ("a.cmd", "C:\\x", ['set "ONCE_FOLDER=C:\\l\'été 100%%"', f'set "PATH=C:\\x{os.pathsep}%PATH%"']),
    ],
)
def test_the_suffix_says_for_which_shell_the_file_is(
    tmp_path: Path, name: str, cli: str | None, lines: list[str]
) -> None:
    file = tmp_path / name
    environment_file.write(file, {**VARIABLES, "PATH": "x"}, cli)
    written = file.read_text(encoding="utf-8-sig" if name.endswith("ps1") else "utf-8").splitlines()
    assert [line for line in lines if line not in written] == []
    assert not [line for line in written if "PATH=x" in line]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (PurePosixPath("aws own.sh"), ". './aws own.sh'"),
        (PurePosixPath("/a/aws.sh"), ". /a/aws.sh"),
        (PureWindowsPath("account.cmd"), '".\\account.cmd"'),
        (PureWindowsPath("C:/my files/account.CMD"), '"C:\\my files\\account.CMD"'),
        (
            PureWindowsPath("l'été/aws.ps1"),
            "Get-Content -Raw -Encoding utf8 -LiteralPath 'l''été\\aws.ps1' | Invoke-Expression",
        ),
    ],
)
def test_the_line_is_one_of_the_shell_that_the_file_is_for(path: PurePath, line: str) -> None:
    """The command prompt and PowerShell take no `. aws.cmd`."""
    assert environment_file.line(path) == line


def test_what_is_typed_without_a_file_is_for_the_usual_shell_of_the_system() -> None:
    given = {"A": "http://127.0.0.1:1", "B": "it's"}
    assert environment_file.settings(given, windows=True) == "$env:A = 'http://127.0.0.1:1'; $env:B = 'it''s'"
    assert environment_file.settings(given, windows=False) == """export A=http://127.0.0.1:1 B='it'"'"'s'"""
