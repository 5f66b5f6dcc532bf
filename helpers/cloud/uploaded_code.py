"""The ZIP of a request: its own, or an object of a bucket.

Sentences: those that Lambda answers for code that it cannot fetch or read.
"""

from __future__ import annotations

import base64
import binascii
import threading
from typing import Any

from .deployment import NOT_A_ZIP, ZIP_TOO_LARGE, ZIPPED_LIMIT, BadArchive
from .environment import ACCOUNT_ID


def uploaded(code: dict[str, Any], lock: threading.RLock) -> bytes | None:
    """The ZIP that a request brings or names, None when it does neither. Raises BadArchive."""
    if "ZipFile" in code:
        try:
            data = base64.b64decode(code["ZipFile"], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise BadArchive(NOT_A_ZIP) from None
        if len(data) >= ZIPPED_LIMIT:
            raise BadArchive(ZIP_TOO_LARGE)
        return data
    if code.get("S3Bucket") and code.get("S3Key"):
        with lock:
            return _stored(code["S3Bucket"], code["S3Key"], code.get("S3ObjectVersion"))
    return None


def _stored(bucket: str, key: str, version: str | None) -> bytes:
    from moto.s3.exceptions import MissingBucket, MissingKey
    from moto.s3.models import s3_backends

    begin = "Error occurred while GetObject. S3 Error Code:"
    try:
        found = s3_backends[ACCOUNT_ID]["aws"].get_object(bucket, key, version)
    except MissingBucket:
        message = f"{begin} NoSuchBucket. S3 Error Message: The specified bucket does not exist"
        raise BadArchive(message) from None
    except MissingKey:
        found = None
    if found is None:
        raise BadArchive(f"{begin} NoSuchKey. S3 Error Message: The specified key does not exist.")
    return bytes(found.value)
