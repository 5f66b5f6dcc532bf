"""ZIPs from outside: nothing is written outside, nothing grows without end, and AWS's sentence comes back."""

from __future__ import annotations

import base64
import io
import os
import stat
import struct
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud, uploaded_code
from helpers.cloud.deployment import (
    NOT_A_ZIP,
    TOO_LARGE,
    UNZIPPED_LIMIT,
    ZIP_TOO_LARGE,
    ZIPPED_LIMIT,
    BadArchive,
    check_archive,
    remove,
    unpack,
)
from tests.cloud.deploying import Deployer, archive

ECHO = "def handler(event, context):\n    return event\n"


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    cloud.functions.transition_seconds = 0.02
    return Deployer(cloud)


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(data, "w", method) as target:
        warnings.simplefilter("ignore")  # duplicate names
        for name, content in entries:
            target.writestr(name, content)
    return data.getvalue()


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def declared(size: int, real: bytes = bytes(1000)) -> bytes:
    """A deflated entry that says another size than it has."""
    data = bytearray(packed(("app.py", real), method=zipfile.ZIP_DEFLATED))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(mark) + at, size)
    return bytes(data)


def overlapping(count: int) -> bytes:
    """Many entries of the table of contents that share one deflated body: a bomb that is not nested."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    stored = body.compress(bytes(2_000_000)) + body.flush()
    crc = zlib.crc32(bytes(2_000_000))
    sizes = (crc, len(stored), 2_000_000, 1, 0)
    data = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 33, *sizes) + b"a" + stored
    table = b""
    for _ in range(count):
        table += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, *sizes, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(table), len(data), 0)
    return data + table + end


def _flagged(flag: int) -> bytes:
    data = bytearray(packed(("app.py", b"x")))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= flag
    return bytes(data)


REFUSED: dict[str, bytes] = {
    **{
        f"name {name!r}": packed((name, b"x"))
        for name in (
            *("..", "../a", "a/../../b", "a/..", "..\\a", "a\\..\\..\\b", "/a", "//server/a", "\\a", "\\\\server\\a"),
            *("C:a", "C:\\a", "c:/a", "a/" + "n" * 300, "."),
        )
    },
    "a link": packed((entry("a", stat.S_IFLNK | 0o777), b"/etc/passwd")),
    "a device": packed((entry("a", stat.S_IFCHR | 0o666), b"")),
    "a pipe": packed((entry("a", stat.S_IFIFO | 0o666), b"")),
    "a socket": packed((entry("a", stat.S_IFSOCK | 0o666), b"")),
    "a file where a folder is": packed(("a/b", b"x"), ("a", b"y")),
    "a folder where a file is": packed(("a", b"x"), ("a/b", b"y")),
    "more than it says": declared(10),
    "less than it says": declared(100_000),
    "encrypted": _flagged(1),
    "entries that overlap": overlapping(20),
    "no entry": packed(),
    "the end missing": packed(("app.py", b"x" * 100))[:-10],
    "the beginning missing": packed(("app.py", b"x" * 100))[10:],
    "another kind of archive": b"\x1f\x8b\x08\x00" + bytes(50),
    "nothing": b"",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_and_nothing_is_left(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    with pytest.raises(BadArchive, match=f"^{NOT_A_ZIP}$"):
        unpack(data, tmp_path / "inside" / "code")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inside"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        pytest.param(overlapping(200), TOO_LARGE, id="overlapping"),
        pytest.param(declared(UNZIPPED_LIMIT), TOO_LARGE, id="declared"),
        pytest.param(declared(0xFFFF_FFFE), TOO_LARGE, id="declared 4 GB"),
    ],
)
def test_a_bomb_is_refused_before_it_is_unpacked(data: bytes, sentence: str, tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(BadArchive, match=f"^{sentence}$"):
        unpack(data, tmp_path / "code")
    assert time.monotonic() - start < 2
    assert [*tmp_path.iterdir()] == []


def test_an_archive_in_an_archive_stays_packed(tmp_path: Path) -> None:
    inner = packed(("zeros", bytes(10_000_000)), method=zipfile.ZIP_DEFLATED)
    unpack(packed(("app.py", b""), ("inner.zip", inner)), tmp_path / "code")
    assert (tmp_path / "code" / "inner.zip").read_bytes() == inner
    remove(tmp_path / "code")


def test_the_last_of_two_entries_with_one_name_counts(tmp_path: Path) -> None:
    """As unzip has it, and so Python's own zipfile."""
    unpack(packed(("app.py", b"first"), ("app.py", b"second")), tmp_path / "code")
    assert (tmp_path / "code" / "app.py").read_bytes() == b"second"
    remove(tmp_path / "code")


def test_names_that_differ_by_case_are_two_files_where_the_system_has_two(tmp_path: Path) -> None:
    unpack(packed(("App.py", b"first"), ("app.py", b"second")), tmp_path / "code")
    names = sorted(path.name for path in (tmp_path / "code").iterdir())
    assert names in (["App.py", "app.py"], ["App.py"])
    assert (tmp_path / "code" / "app.py").read_bytes() == b"second"
    remove(tmp_path / "code")


def test_names_in_old_code_pages_and_large_format_are_read(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as target:
        with target.open("app.py", "w", force_zip64=True) as file:
            file.write(b"x")
        target.writestr("prix.txt", b"y")
    old = data.getvalue().replace(b"prix.txt", b"pri\x82.txt")  # é in code page 437, without the flag for UTF-8
    unpack(old, tmp_path / "code")
    assert sorted(path.name for path in (tmp_path / "code").iterdir()) == ["app.py", "prié.txt"]
    remove(tmp_path / "code")


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX permissions")
def test_no_file_keeps_the_right_to_change_who_runs_it(tmp_path: Path) -> None:
    unpack(packed((entry("run", stat.S_IFREG | 0o6777), b"x")), tmp_path / "code")
    assert stat.S_IMODE((tmp_path / "code" / "run").stat().st_mode) == 0o555
    remove(tmp_path / "code")


# --- through the API ---------------------------------------------------------------------------------------


def _refusal(call: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(ClientError) as problem:
        call()
    answer = problem.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"], answer["Error"]["Message"]


def _create(functions: Deployer, code: dict[str, object]) -> None:
    functions.client.create_function(
        FunctionName=functions.name(), Runtime="python3.12", Handler="app.handler", Role=functions.role, Code=code
    )


INVALID = (400, "InvalidParameterValueException")


def test_a_zip_of_fifty_megabytes_must_come_from_a_bucket(functions: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded: "Zipped size must be smaller than 52428800 bytes". Two megabytes stand for fifty here."""
    assert str(ZIPPED_LIMIT) in ZIP_TOO_LARGE
    monkeypatch.setattr(uploaded_code, "ZIPPED_LIMIT", 2 << 20)
    data = packed(("app.py", ECHO.encode()), ("noise", os.urandom(2 << 20)))
    assert _refusal(lambda: _create(functions, {"ZipFile": data})) == (*INVALID, ZIP_TOO_LARGE)
    s3 = functions.cloud.client("s3")
    s3.create_bucket(Bucket="code")
    s3.put_object(Bucket="code", Key="large.zip", Body=data)
    _create(functions, {"S3Bucket": "code", "S3Key": "large.zip"})
    s3.delete_object(Bucket="code", Key="large.zip")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ({"S3Bucket": "nowhere", "S3Key": "k"}, "NoSuchBucket. S3 Error Message: The specified bucket does not exist"),
        ({"S3Bucket": "stored", "S3Key": "k"}, "NoSuchKey. S3 Error Message: The specified key does not exist."),
    ],
)
def test_code_that_is_not_in_the_bucket_is_named(functions: Deployer, code: dict[str, str], sentence: str) -> None:
    functions.cloud.client("s3").create_bucket(Bucket="stored")
    expected = f"Error occurred while GetObject. S3 Error Code: {sentence}"
    assert _refusal(lambda: _create(functions, dict(code))) == (*INVALID, expected)


@pytest.mark.parametrize("name", ["name '../a'", "a link", "more than it says", "another kind of archive"])
def test_code_in_a_bucket_and_layers_are_checked_too(functions: Deployer, name: str) -> None:
    s3 = functions.cloud.client("s3")
    s3.create_bucket(Bucket="bad")
    s3.put_object(Bucket="bad", Key="bad.zip", Body=REFUSED[name])
    stored = {"S3Bucket": "bad", "S3Key": "bad.zip"}
    assert _refusal(lambda: _create(functions, dict(stored))) == (*INVALID, NOT_A_ZIP)
    if name != "more than it says":  # a layer is unpacked with its first function
        for content in (stored, {"ZipFile": REFUSED[name]}):
            call = functions.client.publish_layer_version
            assert _refusal(lambda: call(LayerName="bad", Content=content)) == (*INVALID, NOT_A_ZIP)  # noqa: B023


def test_what_is_no_base64_is_no_zip(cloud: Cloud, functions: Deployer) -> None:
    from tests.cloud.test_mistakes import ask

    good = base64.b64encode(archive(ECHO)).decode()
    for text in ("***", good[:-3], good + "é", 5, None, [good], {"a": 1}, ""):
        body = {"FunctionName": "never", "Runtime": "python3.12", "Handler": "app.handler", "Role": functions.role}
        status, answer = ask(cloud, "lambda", "", {**body, "Code": {"ZipFile": text}}, "/2015-03-31/functions")
        assert status == 400, (text, answer)


def test_a_table_of_contents_is_read_in_bounded_time() -> None:
    data = packed(*((f"{number}", b"") for number in range(20_000)))
    start = time.process_time()  # what other tests do beside it does not count
    check_archive(data)
    assert time.process_time() - start < 3
