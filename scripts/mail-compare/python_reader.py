"""Prints what Python's email package reads of messages: one line of JSON for each path on stdin."""

import hashlib
import json
import re
import sys
from email import message_from_bytes, policy
from html.parser import HTMLParser

HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font\s*:\s*0/0|left\s*:\s*-\d{3}"
    r"|(?:max-height|width|font-size|opacity)\s*:\s*0(?:px|pt|em|%)?\s*(?:;|!|$)|font-size\s*:\s*1px",
    re.IGNORECASE,
)
UNSEEN = {"script", "style", "title", "template", "noscript", "textarea", "option", "select", "svg", "math", "iframe"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Words(HTMLParser):
    """The words of HTML that are seen."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.words = []
        self.unseen = []

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return
        values = dict(attrs)
        is_hidden = tag in UNSEEN or "hidden" in values or HIDDEN.search(values.get("style") or "")
        if self.unseen or is_hidden:
            self.unseen.append(tag)

    def handle_endtag(self, tag):
        if tag in self.unseen:
            while self.unseen.pop() != tag:
                pass

    def handle_data(self, data):
        if not self.unseen:
            self.words.append(data)


def html_words(html):
    words = Words()
    words.feed(html)
    words.close()
    return " ".join(words.words)


def clean(text):
    """Bytes that Python keeps in its text, as the text that they are."""
    return None if text is None else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_faulty(part, name):
    """Whether Python itself finds fault with a field."""
    try:
        return any(value.defects for value in part.get_all(name) or [])
    except Exception:
        return True


def field(message, name, read):
    """None when the package has no opinion, because it raises an error."""
    try:
        value = message[name]
        return read(value) if value is not None else read(None)
    except Exception:
        return None


def addresses(message, name):
    found = []
    try:
        for value in message.get_all(name) or []:
            for address in value.addresses:
                found.append([clean(address.display_name or ""), clean(address.addr_spec)])
        return found
    except Exception:
        return None


def text_of(part):
    """The text by its declared charset; None for a charset that Python does not know. And the same bytes as UTF-8, if they are."""
    content = part.get_payload(decode=True) or b""
    try:
        utf8 = content.decode("utf-8")
    except UnicodeDecodeError:
        utf8 = None
    charset = part.get_content_charset() or "us-ascii"
    try:
        return content.decode(charset, "replace"), utf8
    except (LookupError, ValueError):
        return None, utf8


def is_shown(part):
    return part.get_content_type() in ("text/plain", "text/html") and not (
        part.get_content_disposition() == "attachment" or part.get_filename()
    )


def leaves(part):
    if part.get_content_maintype() == "message":
        yield part
    elif part.is_multipart():
        for child in part.get_payload():
            yield from leaves(child)
    else:
        yield part


def shown_leaves(part):
    """Of alternatives the one that is shown of each kind."""
    if part.get_content_maintype() != "message" and part.is_multipart():
        for child in part.get_payload():
            yield from shown_leaves(child)
    elif is_shown(part):
        yield part


def outside(message):
    """The text before and behind the parts of its multiparts."""
    around = [text for part in message.walk() for text in (part.preamble, part.epilogue)]
    return [clean(text) for text in around if text and text.strip()]


def attachment(part):
    is_message = part.get_content_maintype() == "message"
    content = None if is_message else part.get_payload(decode=True) or b""
    return {
        "filename": clean(part.get_filename()),
        "encoding": str(part.get("content-transfer-encoding", "")),
        "isFaulty": is_faulty(part, "content-disposition") or is_faulty(part, "content-type"),
        "contentType": part.get_content_type(),
        "sizeBytes": None if content is None else len(content),
        "sha256": None if content is None else hashlib.sha256(content).hexdigest(),
    }


def read(path):
    with open(path, "rb") as file:
        # Of a file, and not of its bytes, Python changes the line ends.
        message = message_from_bytes(file.read(), policy=policy.default)
    texts, pages = [], []
    for part in shown_leaves(message):
        text, utf8 = text_of(part)
        if part.get_content_type() == "text/plain":
            texts.append([text, utf8])
        else:
            pages.append([None if text is None else html_words(text), None if utf8 is None else html_words(utf8)])
    return {
        "subject": field(message, "subject", lambda value: "" if value is None else clean(str(value))),
        "from": addresses(message, "from"),
        "to": addresses(message, "to"),
        "cc": addresses(message, "cc"),
        "texts": texts,
        "pages": pages,
        "outside": outside(message),
        "faulty": [name for name in ("from", "to", "cc") if is_faulty(message, name)],
        "defects": [type(defect).__name__ for defect in message.defects],
        "attachments": [attachment(part) for part in leaves(message) if not is_shown(part)],
    }


for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        print(json.dumps(read(path)), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
