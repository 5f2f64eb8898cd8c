"""A printed document given bookmarks and metadata, without what differs between two prints."""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    ByteStringObject,
    DecodedStreamObject,
    DictionaryObject,
    Fit,
    NameObject,
    NumberObject,
    StreamObject,
    TextStringObject,
)

from paper.assemble import INSIDE, Entry, Imprint

LEVELS = {"part": 0, "chapter": 1, "section": 2}
# Digits that no eye sees: of a number, those after two behind the point or after four that count.
UNSEEN = re.compile(rb"(\d\.\d\d|(?<!\d)\.0*[1-9]\d{3})\d+")


def places(reader: PdfReader) -> dict[str, int]:
    """Page, counted from 1, on which each place of the document that a link names begins."""
    order = {page.indirect_reference.idnum: k for k, page in enumerate(reader.pages, 1)}
    return {
        name.removeprefix("/"): order[place.raw_get("/Page").idnum]
        for name, place in reader.named_destinations.items()
    }


def printed(path: Path) -> tuple[int, dict[str, int]]:
    """Number of pages, and :func:`places`, of a file."""
    with PdfReader(path) as reader:
        return len(reader.pages), places(reader)


def join(parts: list[Path]) -> PdfWriter:
    """One document of several: pages, tags, places, and links from one into another."""
    writer = PdfWriter()
    whole = writer.root_object
    pages = whole["/Pages"]
    trunk = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
    stem = DictionaryObject({NameObject("/S"): NameObject("/Document"), **_type("/StructElem")})
    whole[NameObject("/StructTreeRoot")] = writer._add_object(trunk)
    whole[NameObject("/MarkInfo")] = DictionaryObject({NameObject("/Marked"): BooleanObject(True)})
    trunk[NameObject("/K")] = writer._add_object(stem)
    stem[NameObject("/P")] = trunk.indirect_reference
    branches, parents, named = ArrayObject(), ArrayObject(), {}
    dests = DictionaryObject()
    for number, path in enumerate(parts):
        begin, offset = len(writer._objects), len(parents) // 2
        with PdfReader(path) as reader:
            root = reader.root_object.clone(writer)
        ours = _renaming(f"{number}-")
        for thing in writer._objects[begin:]:
            if isinstance(thing, DictionaryObject):
                _adapt(thing, ours, offset, named)
        below, tree = root["/Pages"], root["/StructTreeRoot"]
        below[NameObject("/Parent")] = pages.indirect_reference
        pages["/Kids"].append(below.indirect_reference)
        pages[NameObject("/Count")] = NumberObject(pages["/Count"] + below["/Count"])
        branch = tree["/K"]
        branch[NameObject("/S")], branch[NameObject("/P")] = NameObject("/Part"), trunk["/K"]
        branch[NameObject("/P")] = stem.indirect_reference
        branches.append(branch.indirect_reference)
        nums = tree["/ParentTree"]["/Nums"]
        for key, value in zip(nums[::2], list.__iter__(nums[1::2]), strict=True):
            _lift(writer, value.get_object())
            parents.extend([NumberObject(key + offset), value])
        dests.update(root.get("/Dests", {}))
    stem[NameObject("/K")] = branches
    trunk[NameObject("/ParentTree")] = DictionaryObject({NameObject("/Nums"): parents})
    trunk[NameObject("/ParentTreeNextKey")] = NumberObject(len(parents) // 2)
    ids = [x for key in sorted(named) for x in (TextStringObject(key), named[key])]
    trunk[NameObject("/IDTree")] = DictionaryObject({NameObject("/Names"): ArrayObject(ids)})
    whole[NameObject("/Dests")] = writer._add_object(dests)
    return writer


def _lift(writer: PdfWriter, leaves: Any) -> None:
    """Give the pieces of a page's text to the tags around them: each has a leaf of its own."""
    for mark, leaf in enumerate(leaves if isinstance(leaves, ArrayObject) else []):
        if leaf is None or leaf["/S"] != "/NonStruct" or not isinstance(leaf["/K"], int):
            continue
        above, page, own = leaf["/P"], leaf.raw_get("/Pg"), leaf.indirect_reference
        number: Any = NumberObject(mark)
        if above.setdefault(NameObject("/Pg"), page) != page:
            number = DictionaryObject({**_type("/MCR"), NameObject("/MCID"): number})
            number[NameObject("/Pg")] = page
        kids = above.raw_get("/K")
        if not isinstance(kids, ArrayObject):
            kids = above[NameObject("/K")] = ArrayObject([kids])
        kids[kids.index(own)] = number
        leaves[mark] = above.indirect_reference
        writer._objects[own.idnum - 1] = None


def _type(name: str) -> dict[NameObject, NameObject]:
    return {NameObject("/Type"): NameObject(name)}


def _renaming(prefix: str) -> Callable[[object], TextStringObject]:
    """Our names for the browser's, which count what the scripts of a page did before."""
    names: dict[str, str] = {}
    return lambda name: TextStringObject(names.setdefault(str(name), f"{prefix}{len(names):06d}"))


def _adapt(
    thing: DictionaryObject,
    ours: Callable[[object], TextStringObject],
    offset: int,
    named: dict[str, Any],
) -> None:
    """Fit an object of one print into the whole: its numbers, names and links."""
    if "/Limits" in thing:  # the browser's tree of its names, to which nothing leads any more
        thing.clear()
    for key in ("/StructParents", "/StructParent"):
        if key in thing:
            thing[NameObject(key)] = NumberObject(thing[key] + offset)
    if thing.get("/Subtype") == "/Link" and "/A" in thing:
        address = str(thing["/A"].get("/URI", ""))
        if address.startswith(INSIDE):
            del thing["/A"]
            thing[NameObject("/Dest")] = NameObject("/" + address.removeprefix(INSIDE))
    if "/S" in thing and "/P" in thing:
        if "/ID" in thing:
            name = ours(thing["/ID"])
            thing[NameObject("/ID")] = name
            named[name] = thing.indirect_reference
        attributes = thing.get("/A", [])
        for attribute in attributes if isinstance(attributes, list) else []:
            if "/Headers" in attribute:
                heads = ArrayObject(map(ours, attribute["/Headers"]))
                attribute[NameObject("/Headers")] = heads
        words = str(thing.get("/Alt", ""))
        if words.startswith("Formula: "):
            thing[NameObject("/S")] = NameObject("/Formula")
            thing[NameObject("/Alt")] = TextStringObject(words.removeprefix("Formula: "))


def finish(
    parts: list[Path], target: Path, entries: list[Entry], imprint: Imprint, seconds: int
) -> None:
    """Join prints; add the contents as bookmarks, and metadata.

    The document is given the time ``seconds`` since 1970: a browser writes the time of printing.
    """
    writer = join(parts)
    _bookmarks(writer, entries)
    date = datetime.fromtimestamp(seconds, UTC).strftime("D:%Y%m%d%H%M%SZ")
    writer.metadata = {
        "/Title": imprint.title,
        "/Author": imprint.author,
        "/Subject": imprint.subtitle,
        "/Keywords": f"version {imprint.version}, commit {imprint.commit}",
        "/Creator": "make pdf",
        "/CreationDate": date,
        "/ModDate": date,
    }
    root = writer.root_object
    root[NameObject("/Lang")] = TextStringObject("en")
    root[NameObject("/PageMode")] = NameObject("/UseOutlines")
    root[NameObject("/ViewerPreferences")] = DictionaryObject(
        {NameObject("/DisplayDocTitle"): BooleanObject(True)}
    )
    name = ByteStringObject(hashlib.md5(repr((imprint, seconds)).encode()).digest())
    writer._ID = ArrayObject([name, name])
    for thing in writer._objects:
        if isinstance(thing, StreamObject) and thing.get("/Subtype") != "/Image":
            data = thing.get_data()
            if data.isascii():
                thing._data = zlib.compress(rounded(data), 9)
    writer.compress_identical_objects()
    unfinished = target.with_suffix(".part")
    writer.write(unfinished)
    compress(writer, unfinished)
    unfinished.replace(target)


def rounded(drawing: bytes) -> bytes:
    """A page's drawing without :data:`UNSEEN` digits, but for those of its matrices."""
    parts = [part.rpartition(b"\n") for part in drawing.split(b" cm\n")]
    ends = [*(matrix for _, _, matrix in parts[:-1]), UNSEEN.sub(rb"\1", parts[-1][2])]
    heads = (UNSEEN.sub(rb"\1", head) + line for head, line, _ in parts)
    return b" cm\n".join(head + end for head, end in zip(heads, ends, strict=True))


def compress(writer: PdfWriter, target: Path, together: int = 200) -> None:
    """Write a document that was written once already, its small objects packed (PDF 1.5).

    A tagged book has some hundred thousand of them, three quarters of its size.
    """
    places: dict[int, tuple[int, int, int]] = {0: (0, 0, 65535)}
    size = len(writer._objects) + 1
    streams = [k for k, o in enumerate(writer._objects, 1) if isinstance(o, StreamObject)]
    small = [
        k
        for k, o in enumerate(writer._objects, 1)
        if o is not None and not isinstance(o, StreamObject)
    ]
    with target.open("wb") as file:
        file.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")

        def put(number: int, thing: Any) -> None:
            places[number] = (1, file.tell(), 0)
            file.write(b"%d 0 obj\n" % number)
            thing.write_to_stream(file)
            file.write(b"\nendobj\n")

        for number in streams:
            put(number, writer._objects[number - 1])
        for begin in range(0, len(small), together):
            pack, offsets = io.BytesIO(), []
            for at, number in enumerate(small[begin : begin + together]):
                places[number] = (2, size, at)
                offsets.append((number, pack.tell()))
                writer._objects[number - 1].write_to_stream(pack)
                pack.write(b"\n")
            head = " ".join(f"{number} {offset}" for number, offset in offsets).encode() + b"\n"
            about = {"/Type": "/ObjStm", "/N": len(offsets), "/First": len(head)}
            put(size, _stream(head + pack.getvalue(), about))
            size += 1
        start = file.tell()
        places[size] = (1, start, 0)
        rows = b"".join(
            bytes([kind]) + a.to_bytes(4, "big") + b.to_bytes(2, "big")
            for kind, a, b in (places.get(k, (0, 0, 65535)) for k in range(size + 1))
        )
        table = _stream(rows, {"/Type": "/XRef", "/Size": size + 1})
        table[NameObject("/W")] = ArrayObject([NumberObject(n) for n in (1, 4, 2)])
        table[NameObject("/Root")] = writer.root_object.indirect_reference
        table[NameObject("/Info")] = writer._info_obj
        table[NameObject("/ID")] = writer._ID
        put(size, table)
        file.write(b"startxref\n%d\n%%%%EOF\n" % start)


def _stream(data: bytes, about: dict[str, str | int]) -> StreamObject:
    """A deflated stream with a dictionary of names and numbers."""
    stream = DecodedStreamObject()
    stream.set_data(zlib.compress(data, 9))
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    for key, value in about.items():
        named = NameObject(value) if isinstance(value, str) else NumberObject(value)
        stream[NameObject(key)] = named
    return stream


def _bookmarks(writer: PdfWriter, entries: list[Entry]) -> None:
    """Write the outline: parts, in them chapters, in them sections."""
    places = writer.root_object["/Dests"]
    above: list[tuple[int, Any]] = []
    for entry in entries:
        place = places.get(f"/{entry.target}")
        if place is None:
            raise ValueError(f"{entry.title}: no place in the print")
        level = LEVELS[entry.kind]
        while above and above[-1][0] >= level:
            above.pop()
        item = writer.add_outline_item(
            title=entry.title,
            page_number=list.__getitem__(place, 0),
            parent=above[-1][1] if above else None,
            fit=Fit.xyz(left=0, top=float(place[3]), zoom=0),
            is_open=False,
        )
        above.append((level, item))
