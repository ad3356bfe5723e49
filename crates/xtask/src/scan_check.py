"""Counts the games of a PGN file with python-chess, under the profile D24 of tests/cases/README.md.

A move that cannot be played counts only within the first 24 plies.
"""
import collections, json, sys

import chess
import chess.pgn

PLIES = 24
START = chess.STARTING_FEN
ORDINARY = {"", "chess", "standard", "normal", "from position"}


class Record(chess.pgn.BaseVisitor):
    def begin_game(self):
        self.tags, self.plies, self.marker, self.bad = {}, 0, None, None

    def visit_header(self, name, value):
        self.tags[name] = value

    def begin_variation(self):
        return chess.pgn.SKIP

    def visit_move(self, board, move):
        self.plies += 1

    def visit_result(self, result):
        self.marker = result

    def handle_error(self, error):
        if self.bad is None:
            self.bad = self.plies

    def result(self):
        return self


def reason(record):
    """Why the record is left out, or None."""
    tag = record.tags.get("Result", "")
    tag = "" if tag == "?" else tag
    fen = record.tags.get("FEN", START)
    if record.tags.get("Variant", "").lower() not in ORDINARY:
        return "VARIANT"
    if fen != START:
        return "SETUP_POSITION"
    if tag and record.marker and tag != record.marker:
        return "RESULT_CONFLICT"
    if (tag or record.marker) not in ("1-0", "0-1"):
        return "NOT_DECISIVE"
    if record.bad is not None and record.bad < PLIES:
        return "ILLEGAL_MOVE"
    if record.plies == 0:
        return "NO_MOVES"
    return "TOO_SHORT" if record.plies < PLIES else None


def main():
    counts = collections.Counter()
    read = 0
    with open(sys.argv[1], encoding="utf-8-sig", errors="replace") as text:
        while (record := chess.pgn.read_game(text, Visitor=Record)) is not None:
            read += 1
            counts[reason(record)] += 1
    accepted = counts.pop(None, 0)
    print(json.dumps({"read": read, "accepted": accepted, "rejected": counts}))


main()
