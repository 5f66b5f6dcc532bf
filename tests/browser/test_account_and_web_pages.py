"""A page of another site, in a real browser, tries to drive the account: it changes nothing and reads nothing."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Playwright

from helpers.cloud import Cloud
from helpers.cloud.journal import Call
from tests.browser.jupyterlab import CHROMIUM_FLAGS

pytestmark = pytest.mark.browser

# Each attempt is a promise that ends, whatever comes of it. ACCOUNT is the account's address, under one of its names.
_ATTEMPTS = """
async (account) => {
  const query = account + '/?Action=DeleteQueue&QueueUrl=' + encodeURIComponent(account + '/123456789012/orders');
  const json = JSON.stringify({QueueUrl: account + '/123456789012/orders'});
  const frame = (name) => { const made = document.createElement('iframe'); made.name = name;
                            document.body.append(made); return made; };
  const ends = (element, start) => new Promise((done) => {
    element.onload = () => done('loaded'); element.onerror = () => done('error'); start(); });
  const form = (target, type) => { const made = document.createElement('form');
    Object.assign(made, {method: 'post', action: account + '/', target, enctype: type});
    for (const [name, value] of [['Action', 'DeleteQueue'], ['QueueUrl', account + '/123456789012/orders']]) {
      const field = document.createElement('input'); Object.assign(field, {name, value}); made.append(field); }
    document.body.append(made); made.submit(); };
  const told = async (what) => { try { const answer = await what; return answer.type + ' ' + answer.status; }
                                 catch (problem) { return problem.name; } };
  const image = new Image(), script = document.createElement('script'), link = frame('link');
  return {
    'simple post': await told(fetch(account + '/', {method: 'POST', mode: 'no-cors', body: json})),
    'form post': await told(fetch(account + '/', {method: 'POST', mode: 'no-cors',
                     body: new URLSearchParams({Action: 'DeleteQueue', QueueUrl: 'orders'})})),
    'sdk call': await told(fetch(account + '/', {method: 'POST', body: json,
                     headers: {'X-Amz-Target': 'AmazonSQS.DeleteQueue'}})),
    'put': await told(fetch(account + '/shop/page', {method: 'PUT', body: 'x'})),
    'get': await told(fetch(account + '/shop/price.txt')),
    'get with an action': await told(fetch(query, {mode: 'no-cors'})),
    'beacon': navigator.sendBeacon(account + '/', json),
    'image': await ends(image, () => { image.src = query; }),
    'script': await ends(script, () => { script.src = account + '/shop/price.txt'; document.body.append(script); }),
    'frame': await ends(link, () => { link.src = query; }),
    'form': await ends(frame('sent'), () => form('sent', 'application/x-www-form-urlencoded')),
    'form as text': await ends(frame('text'), () => form('text', 'text/plain')),
    'events': await new Promise((done) => { const source = new EventSource(account + '/');
                  source.onerror = () => done('error'); source.onopen = () => done('open'); }),
    'socket': await new Promise((done) => { const socket = new WebSocket(account.replace('http', 'ws') + '/');
                  socket.onerror = () => done('error'); socket.onopen = () => done('open'); }),
  };
}
"""


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>elsewhere</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def account() -> Iterator[Cloud]:
    with Cloud() as cloud:
        cloud.client("sqs").create_queue(QueueName="orders")
        s3 = cloud.client("s3")
        s3.create_bucket(Bucket="shop")
        s3.put_object(Bucket="shop", Key="price.txt", Body=b"250", ContentType="text/plain")
        s3.put_object(Bucket="shop", Key="page.html", Body=b"<title>stored</title>", ContentType="text/html")
        rule = {"AllowedMethods": ["GET", "PUT"], "AllowedOrigins": ["*"], "AllowedHeaders": ["*"]}
        s3.put_bucket_cors(Bucket="shop", CORSConfiguration={"CORSRules": [rule]})
        yield cloud


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another site's server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join(5)
    server.server_close()


@pytest.fixture(scope="module")
def tab(playwright: Playwright, chromium: str) -> Iterator[Page]:
    """Every name ends at this machine, as an attacker's name server would have it (DNS rebinding)."""
    flags = [*CHROMIUM_FLAGS, "--host-resolver-rules=MAP *.example 127.0.0.1"]
    browser = playwright.chromium.launch(executable_path=chromium, args=flags)
    yield browser.new_page()
    browser.close()


def _link(account: Cloud, key: str) -> str:
    """A link to an object, as a program may give it to a person."""
    link = account.client("s3").generate_presigned_url("get_object", Params={"Bucket": "shop", "Key": key})
    return str(link)


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("http://127.0.0.1:{elsewhere}/", "127.0.0.1"),
        ("http://shop.example:{elsewhere}/", "127.0.0.1"),
        ("http://shop.example:{elsewhere}/", "localhost"),
        ("http://shop.example:{elsewhere}/", "shop.example"),
        ("", "127.0.0.1"),
    ],
    ids=["another port", "another site", "another name", "rebinding", "a page stored in the account itself"],
)
def test_a_page_changes_nothing_and_reads_nothing(
    account: Cloud, elsewhere: int, tab: Page, site: str, name: str
) -> None:
    tab.goto(site.format(elsewhere=elsewhere) if site else _link(account, "page.html"))
    assert tab.title() == ("elsewhere" if site else "stored")
    since = account.journal.last
    results = tab.evaluate(_ATTEMPTS, f"http://{name}:{account.port}")
    assert account.journal.events(Call, since=since) == [], results
    readable = {what: told for what, told in results.items() if str(told).endswith(" 200") or told == "open"}
    assert readable == {}
    assert results["image"] == results["script"] == "error"
    assert account.client("sqs").get_queue_url(QueueName="orders")


def test_following_a_link_to_an_object_works(account: Cloud, elsewhere: int, tab: Page) -> None:
    tab.goto(f"http://shop.example:{elsewhere}/")
    tab.evaluate("(address) => { location.href = address; }", _link(account, "price.txt"))
    tab.wait_for_url("**/price.txt?*")
    assert tab.locator("body").inner_text() == "250"
