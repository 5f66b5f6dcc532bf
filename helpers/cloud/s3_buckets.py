"""What S3 refuses in names of buckets, keys and conditions of uploads, and the ids of its answers.

Amazon S3 User Guide, "General purpose bucket naming rules", "Object key naming guidelines" and "Conditional requests";
S3 API Reference, "Error responses". moto answers the other errors of buckets and objects as S3 does.
"""

from __future__ import annotations

import ipaddress
import re

from .boundary import Boundary
from .exchange import Exchange
from .responses import Refused, Response, refusing
from .s3_events import host_id

LONGEST_KEY = 1024
"""Bytes of a key in UTF-8."""

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_RESERVED_STARTS = ("xn--", "sthree-", "amzn-s3-demo-")
_RESERVED_ENDS = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")


def install(boundary: Boundary) -> None:
    """Let the boundary refuse what S3 refuses, and name S3's answers as S3 does."""
    boundary.before("s3", "CreateBucket", refusing(_check_name))
    for action in ("PutObject", "CopyObject", "CreateMultipartUpload"):
        boundary.before("s3", action, refusing(_check_key))
    for action in ("PutObject", "CompleteMultipartUpload"):
        boundary.before("s3", action, refusing(_check_condition))
    boundary.after("s3", "*", _name_answer)


def is_name(bucket: str) -> bool:
    """Whether a general purpose bucket may have this name."""
    if not _NAME.fullmatch(bucket) or ".." in bucket:
        return False
    if bucket.startswith(_RESERVED_STARTS) or bucket.endswith(_RESERVED_ENDS):
        return False
    try:
        ipaddress.IPv4Address(bucket)
    except ValueError:
        return True
    return False


def _check_name(exchange: Exchange) -> None:
    bucket = str(exchange.parameters.get("Bucket", ""))
    if not is_name(bucket):
        raise Refused("InvalidBucketName", "The specified bucket is not valid.", BucketName=bucket)


def _check_key(exchange: Exchange) -> None:
    size = len(str(exchange.parameters.get("Key", "")).encode("utf-8", "surrogatepass"))
    if size > LONGEST_KEY:
        raise Refused("KeyTooLongError", "Your key is too long", Size=str(size), MaxSizeAllowed=str(LONGEST_KEY))


def _check_condition(exchange: Exchange) -> None:
    """An upload may ask that there is no object yet, by ``*``, and for nothing else."""
    if exchange.header("If-None-Match") not in {"", "*"}:
        raise Refused(
            "NotImplemented",
            "A header you provided implies functionality that is not implemented",
            501,
            Header="If-None-Match",
            additionalMessage="We don't accept the provided value of If-None-Match header for this API",
        )


def _name_answer(exchange: Exchange, response: Response) -> None:
    """Name the host beside the request; the boundary names the request, as S3 does and not as moto does."""
    for name in [name for name in response.headers if name.lower() == "x-amzn-requestid"]:
        del response.headers[name]
    response.headers["x-amz-id-2"] = host_id(exchange.request_id)
