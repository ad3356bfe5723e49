"""Reads the opening book in hashes.sob and moves.sob (format version 1).

Made by tabiya @VERSION@ with the random numbers whose SHA-256 is TABLE_SHA256.
Needs nothing but Python 3.8 or later. For each thread its own Book.

    book = Book("folder")
    for uci, rank in book.moves("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"):
        print(uci, rank)
"""

import bisect
import lzma
import os
import struct
import sys

TABLE_SHA256 = bytes.fromhex("@SHA256@")

LARGEST_TABLE = 2 + 3 * 4096 + 16


class SobError(Exception):
    """A book that cannot be read. `kind` is NotABook, TextModeDamage, Corrupt, Unsupported,
    Truncated, TrailingData, PairMismatch, NeedsTable or BadBlock."""

    def __init__(self, kind, text):
        super().__init__(kind + ": " + text)
        self.kind = kind


class _Damage(Exception):
    pass


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 if value & 1 else value >> 1
        table.append(value)
    return table


_CRC = _crc_table()


def _crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class _Bits:
    def __init__(self, data):
        self.value = int.from_bytes(data, "big")
        self.left = 8 * len(data)

    def get(self, count):
        if count > self.left:
            raise _Damage("its bits end early")
        self.left -= count
        return self.value >> self.left & (1 << count) - 1

    def unary(self):
        ones = 0
        while self.get(1):
            ones += 1
        return ones

    def finish(self):
        if self.left >= 8 or self.value & (1 << self.left) - 1:
            raise _Damage("something follows its bits")


class _Huffman:
    def __init__(self, lengths):
        """`lengths`: symbols with the lengths of their codes, none of them 0."""
        if any(length > 32 for _, length in lengths):
            raise _Damage("a code is too long")
        space = sum(1 << 32 - length for _, length in lengths)
        lone = len(lengths) == 1 and lengths[0][1] == 1
        if lengths and not lone and space != 1 << 32:
            raise _Damage("the lengths of the codes do not add up")
        order = sorted((length, symbol) for symbol, length in lengths)
        self.symbols = [symbol for _, symbol in order]
        self.counts = [0] * 33
        for length, _ in order:
            self.counts[length] += 1

    def next(self, bits):
        code = before = 0
        for count in self.counts[1:]:
            code = code << 1 | bits.get(1)
            if code < count:
                return self.symbols[before + code]
            code -= count
            before += count
        raise _Damage("its bits are no code")


class _Half:
    """One file of the pair."""

    def __init__(self, path):
        self.path = path
        try:
            self.file = open(path, "rb")
        except OSError as error:
            raise SobError("NotABook", str(error))
        self.size = os.fstat(self.file.fileno()).st_size
        if self.size < 256:
            self.fail("NotABook", "it is shorter than a header")
        self.header(self.read(0, 256))
        self.layout()
        self.index()

    def fail(self, kind, text):
        self.file.close()
        raise SobError(kind, self.path + ": " + text)

    def read(self, offset, length):
        self.file.seek(offset)
        data = self.file.read(length)
        if len(data) != length:
            raise SobError("Truncated", self.path + " is cut short")
        return data

    def header(self, h):
        if h[:4] not in (b"SOBH", b"SOBM"):
            self.fail("NotABook", "it does not begin like a .sob file")
        self.keyed = h[:4] == b"SOBH"
        if h[4:8] != b"\r\n\x1a\n":
            self.fail("TextModeDamage", "it was copied as if it were text")
        if _crc32c(h[:252]) != struct.unpack_from("<I", h, 252)[0]:
            self.fail("Corrupt", "header")
        major, _, length, required = struct.unpack_from("<HHIQ", h, 8)
        self.entries, self.keys, self.blocks, target = struct.unpack_from("<QQII", h, 32)
        self.codec, codec_filter, self.properties = h[56], h[57], h[58]
        self.dictionary = struct.unpack_from("<I", h, 60)[0]
        self.id, self.sha256 = h[64:80], h[80:112]
        self.source, self.ep_rule, variant, bits = h[112:116]
        self.underpromotions = required & 1
        if major != 1 or required > 1:
            self.fail("Unsupported", "a newer version")
        if (self.codec, codec_filter) not in ((0, 0), (1, 0), (3, 0)):
            self.fail("Unsupported", "codec %d" % self.codec)
        if self.source > 2 or self.ep_rule > 2 or variant > 1 or bits != 64:
            self.fail("Unsupported", "rules of its keys")
        if length != 256 or not 256 <= target <= 32768 or self.blocks > 1 << 31:
            self.fail("Corrupt", "header")
        if self.codec == 1 and self.properties >= 225:
            self.fail("Corrupt", "LZMA properties")
        numbers = struct.unpack_from("<9Q", h, 120)
        self.sections = dict(zip(("meta", "table", "data", "index"), zip(numbers[0:8:2], numbers[1:8:2])))
        self.stated = numbers[8]
        self.table_crc, self.index_crc = struct.unpack_from("<II", h, 196)

    def layout(self):
        if self.size < self.stated:
            self.fail("Truncated", "%d of %d bytes are there" % (self.size, self.stated))
        if self.size > self.stated:
            self.fail("TrailingData", "%d bytes follow" % (self.size - self.stated))
        end = 256
        for offset, length in sorted(section for section in self.sections.values() if section[1]):
            if offset % 64 or offset < end or offset + length > self.stated:
                self.fail("Corrupt", "layout")
            end = offset + length

    def index(self):
        offset, length = self.sections["index"]
        width = 24 if self.keyed else 16
        if length != (self.blocks + 1) * width:
            self.fail("Corrupt", "index")
        data = self.read(offset, length)
        if _crc32c(data) != self.index_crc:
            self.fail("Corrupt", "index")
        form = "<QQIHH" if self.keyed else "<QIHH"
        records = [record if self.keyed else (0,) + record for record in struct.iter_unpack(form, data)]
        self.first = [record[0] for record in records[:-1]]
        self.last = records[-1][0]
        self.offsets = [record[1] for record in records]
        self.crcs = [record[2] for record in records]
        self.counts = [record[3] for record in records[:-1]]
        ascend = all(a < b for a, b in zip(self.offsets, self.offsets[1:]))
        if not ascend or self.offsets[0] != 0 or self.offsets[-1] != self.sections["data"][1]:
            self.fail("Corrupt", "index")
        if self.keyed and self.first:
            if any(a >= b for a, b in zip(self.first, self.first[1:])) or self.last < self.first[-1]:
                self.fail("Corrupt", "index")
        if 0 in self.counts or sum(self.counts) != self.entries:
            self.fail("Corrupt", "index")
        if not self.blocks <= self.keys <= self.entries:
            self.fail("Corrupt", "index")

    def table(self):
        offset, length = self.sections["table"]
        data = self.read(offset, length) if length <= LARGEST_TABLE else b""
        if length > LARGEST_TABLE or _crc32c(data) != self.table_crc:
            self.fail("Corrupt", "table")
        return data

    def codes(self):
        """The codes of moves and of ranks."""
        try:
            data = self.table()
            count = struct.unpack_from("<H", data)[0]
            if len(data) != 2 + 3 * count + 16:
                raise _Damage("its length is wrong")
            moves = list(struct.iter_unpack("<HB", data[2 : 2 + 3 * count]))
            symbols = [symbol for symbol, _ in moves]
            if any(a >= b for a, b in zip(symbols, symbols[1:])) or max(symbols, default=0) > 4095:
                raise _Damage("its moves are not in order")
            if any(length == 0 for _, length in moves):
                raise _Damage("its moves are not in order")
            ranks = [(rank, length) for rank, length in enumerate(data[-16:]) if length]
            return _Huffman(moves), _Huffman(ranks)
        except (_Damage, struct.error):
            self.fail("Corrupt", "table")

    def payload(self, block):
        offset, end = self.offsets[block], self.offsets[block + 1]
        if end - offset > 16 * self.counts[block] + 64:
            raise _Damage("it is too long")
        data = self.read(self.sections["data"][0] + offset, end - offset)
        if _crc32c(data) != self.crcs[block]:
            raise _Damage("checksum")
        return data

    def unpack(self, data, length):
        """The bytes of a block that is stored or packed with LZMA."""
        if self.codec == 1:
            p = self.properties
            options = {
                "id": lzma.FILTER_LZMA1,
                "dict_size": max(self.dictionary, 4096),
                "lc": p % 9,
                "lp": p // 9 % 5,
                "pb": p // 45,
            }
            try:
                stream = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[options])
                data = stream.decompress(data, length)
            except (lzma.LZMAError, ValueError):
                raise _Damage("its LZMA stream is broken")
        if len(data) != length:
            raise _Damage("its length is not that of its entries")
        return data


class Book:
    """The pair of files in a folder."""

    def __init__(self, folder):
        self._hashes = h = _Half(os.path.join(folder, "hashes.sob"))
        try:
            self._moves = m = _Half(os.path.join(folder, "moves.sob"))
        except SobError:
            h.file.close()
            raise
        try:
            same = (h.entries, h.keys, h.blocks, h.id, h.counts) == (m.entries, m.keys, m.blocks, m.id, m.counts)
            if not h.keyed or m.keyed or not same:
                raise SobError("PairMismatch", folder + ": the files do not belong together")
            self._codes = m.codes() if m.codec == 3 else m.table()
            numbers = h.table()
            if h.source == 1 and len(numbers) != 8 * 781:
                raise SobError("Corrupt", folder + ": table")
        except SobError:
            self.close()
            raise
        self.entries = h.entries
        self.book_id = h.id.hex()
        self._cached = None

    def close(self):
        self._hashes.file.close()
        self._moves.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def words(self, key):
        """The words of a key, best first; [] if the position is not in the book."""
        h = self._hashes
        block = bisect.bisect_right(h.first, key) - 1
        if block < 0 or key > h.last:
            return []
        if not self._cached or self._cached[0] != block:
            self._cached = None
            try:
                self._cached = (block, self._keys(block), None)
            except _Damage as damage:
                raise SobError("BadBlock", "block %d of %s: %s" % (block, h.path, damage))
        keys = self._cached[1]
        start, end = bisect.bisect_left(keys, key), bisect.bisect_right(keys, key)
        if start == end:
            return []
        if self._cached[2] is None:
            try:
                self._cached = (block, keys, self._words(block))
            except _Damage as damage:
                raise SobError("BadBlock", "block %d of %s: %s" % (block, self._moves.path, damage))
        return self._cached[2][start:end]

    def _keys(self, block):
        h = self._hashes
        data, count = h.payload(block), h.counts[block]
        if h.codec == 3:
            keys = _rice(data, h.first[block], count)
        else:
            keys = [key for key, in struct.iter_unpack(">Q", h.unpack(data, 8 * count))]
        inside = keys[-1] < h.first[block + 1] if block + 1 < h.blocks else keys[-1] == h.last
        if keys[0] != h.first[block] or not inside or any(a > b for a, b in zip(keys, keys[1:])):
            raise _Damage("its keys are not those of the index")
        return keys

    def _words(self, block):
        m = self._moves
        data, count = m.payload(block), m.counts[block]
        if m.codec != 3:
            return [word for word, in struct.iter_unpack(">H", m.unpack(data, 2 * count))]
        moves, ranks = self._codes
        bits = _Bits(data)
        words = [moves.next(bits) | ranks.next(bits) << 12 for _ in range(count)]
        bits.finish()
        return words

    def moves(self, fen):
        """Pairs of a move in UCI and its rank (15 best, 0 never to be played), best first."""
        h = self._hashes
        if h.sha256 != TABLE_SHA256:
            raise SobError("NeedsTable", "the book is made with other random numbers")
        if h.ep_rule == 2:
            raise SobError("Unsupported", "its rule for en passant needs a board that knows the moves")
        board, white = _board(fen), fen.split()[1] == "w"
        moves = []
        for word in self.words(key(fen, h.ep_rule == 1)):
            move = _move(word, board, white, self._moves.underpromotions)
            if move:
                moves.append((move, word >> 12))
        return moves


def _rice(data, key, count):
    bits = _Bits(data)
    k = bits.get(8)
    if k > 63:
        raise _Damage("its Rice parameter is beyond 63")
    keys = []
    while True:
        group = bits.unary() + 1
        if group > count - len(keys):
            raise _Damage("it holds more entries than stated")
        keys += [key] * group
        if len(keys) == count:
            break
        key += 1 + (bits.unary() << k) + bits.get(k)
        if key >> 64:
            raise _Damage("a key is beyond 64 bits")
    bits.finish()
    return keys


def _board(fen):
    """64 squares, a1 first."""
    board = ["."] * 64
    for row, text in enumerate(fen.split()[0].split("/")):
        file = 0
        for letter in text:
            if letter.isdigit():
                file += int(letter)
            else:
                board[8 * (7 - row) + file] = letter
                file += 1
    return board


def key(fen, always=False):
    """The key of a position: the en passant file counts if a pawn stands ready, or always."""
    fields = fen.split()
    board, white = _board(fen), fields[1] == "w"
    key = TABLE[780] if white else 0
    for square, piece in enumerate(board):
        if piece != ".":
            key ^= TABLE[64 * "pPnNbBrRqQkK".index(piece) + square]
    for index, right in enumerate("KQkq"):
        if right in fields[2]:
            key ^= TABLE[768 + index]
    if fields[3] != "-":
        file, row, pawn = ord(fields[3][0]) - ord("a"), 4 if white else 3, "P" if white else "p"
        beside = [board[8 * row + f] for f in (file - 1, file + 1) if 0 <= f < 8]
        if always or pawn in beside:
            key ^= TABLE[772 + file]
    return key


def _move(word, board, white, underpromotions):
    """The move of a word; None if there is no piece of the side to move."""
    start, end = word & 63 ^ 56, word >> 6 & 63 ^ 56
    piece, promotion = board[start], ""
    if piece == "." or piece.isupper() != white:
        return None
    if piece in "Pp" and start >> 3 == (6 if white else 1):
        row, last = word >> 9 & 7, 0 if white else 7
        promotion = {last: "q"}.get(row, {2: "n", 3: "b", 4: "r"}.get(row, "") if underpromotions else "")
        if not promotion:
            return None
        end = end & 7 | (56 if white else 0)
    square = lambda s: "abcdefgh"[s & 7] + str((s >> 3) + 1)
    return square(start) + square(end) + promotion


TABLE = (
@TABLE@
)

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: opening_book.py FOLDER FEN")
    with Book(sys.argv[1]) as opened:
        for uci, rank in opened.moves(sys.argv[2]):
            print(uci, rank)
