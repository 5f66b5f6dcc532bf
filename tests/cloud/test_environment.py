from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from helpers.cloud import Cloud, environment


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
