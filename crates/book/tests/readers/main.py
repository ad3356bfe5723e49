"""Answers the questions on standard input with the Python reader."""
import sys

import opening_book as ob

book = None
for line in sys.stdin:
    verb, _, rest = line.rstrip("\n").partition(" ")
    try:
        if verb == "open":
            book = None
            book = ob.Book(rest)
            answer = "ok %d" % book.entries
        elif book is None:
            answer = "closed"
        elif verb == "key":
            answer = " ".join("%04x" % word for word in book.words(int(rest, 16))) or "-"
        elif verb == "fen":
            answer = " ".join(sorted("%s:%d" % move for move in book.moves(rest))) or "-"
        else:
            answer = "%016x" % ob.key(rest)
    except ob.SobError as error:
        answer = "error " + error.kind
    print(answer)
