"""The text of S3's event messages.

Amazon S3 User Guide, "Event message structure"; the fields of each kind of event are recorded against AWS.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus

OWNER = "A2O1WG4ZNK7SHQ"
"""The principal id of the buckets' owner, a customer of Amazon."""

ROOT_PRINCIPAL = "AWS:AIDAIT2UOQQY3AUEKVGXU"
"""The learner in `userIdentity`."""

_WITHOUT_CONTENT = ("ObjectRemoved:", "LifecycleExpiration:")
_LATER_VERSION = ("ObjectTagging:", "ObjectAcl:", "LifecycleTransition", "IntelligentTiering")


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to an object, as far as its event tells it. `size` is in bytes; `at` in seconds."""

    event: str
    bucket: str
    bucket_arn: str
    region: str
    key: str
    size: int
    etag: str
    version: str
    at: float


@dataclass(frozen=True, slots=True)
class Request:
    """Who made the request that changed an object, and from where."""

    request_id: str
    address: str
    principal: str


def event(change: Change, request: Request, configuration: str, sequencer: str) -> dict[str, Any]:
    """The event of a change for one notification configuration."""
    name = change.event.removeprefix("s3:")
    subject: dict[str, Any] = {"key": encode_key(change.key)}
    if not name.startswith((*_WITHOUT_CONTENT, "ObjectTagging:", "ObjectAcl:")):
        subject["size"] = change.size
    if not name.startswith(_WITHOUT_CONTENT):
        subject["eTag"] = change.etag
    if change.version:
        subject["versionId"] = change.version
    if not name.startswith(_LATER_VERSION):
        subject["sequencer"] = sequencer
    record = {
        "eventVersion": "2.3" if name.startswith(_LATER_VERSION) else "2.1",
        "eventSource": "aws:s3",
        "awsRegion": change.region,
        "eventTime": iso(change.at),
        "eventName": name,
        "userIdentity": {"principalId": request.principal},
        "requestParameters": {"sourceIPAddress": request.address},
        "responseElements": {"x-amz-request-id": request.request_id, "x-amz-id-2": host_id(request.request_id)},
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": configuration,
            "bucket": {
                "name": change.bucket,
                "ownerIdentity": {"principalId": OWNER},
                "arn": change.bucket_arn,
            },
            "object": subject,
        },
    }
    return {"Records": [record]}


def test_event(bucket: str, at: float, request_id: str) -> dict[str, Any]:
    """The message that S3 sends first, when a notification is configured. It has no `Records`."""
    return {
        "Service": "Amazon S3",
        "Event": "s3:TestEvent",
        "Time": iso(at),
        "Bucket": bucket,
        "RequestId": request_id,
        "HostId": host_id(request_id),
    }


def encode_key(key: str) -> str:
    """A key as events carry it: as in a form, a space is ``+`` and the bytes of UTF-8 are ``%XX``; ``/`` stays."""
    return quote_plus(key, safe="/")


def iso(seconds: float) -> str:
    """A time as S3 writes it, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def host_id(request_id: str) -> str:
    """The second id of a request, which names the host that answered it."""
    return base64.b64encode(hashlib.sha384(request_id.encode()).digest()).decode()
