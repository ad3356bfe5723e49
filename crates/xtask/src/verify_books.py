"""Walks a PolyGlot book from the start position and compares it with the dump of a .sob.

usage: verify_books.py BOOK.bin DUMP.jsonl      exit 0 when all moves are legal and the books agree
"""
import collections, json, sys

import chess
import chess.polyglot


def read_dump(path):
    """{key: [(rank, move as stored)]}"""
    positions = collections.defaultdict(list)
    with open(path) as lines:
        for line in lines:
            entry = json.loads(line)
            positions[int(entry["key"], 16)].append((entry["rank"], entry["move"]))
    return positions


def legal(board, text):
    """The legal move that a .sob means: castling in either form, a promotion with or without its piece."""
    castling = {}
    for move in board.generate_castling_moves():
        rook = 7 if chess.square_file(move.to_square) == 6 else 0
        square = chess.square(rook, chess.square_rank(move.to_square))
        castling[chess.square_name(move.from_square) + chess.square_name(square)] = move
    for move in (castling.get(text), chess.Move.from_uci(text), chess.Move.from_uci(text[:4] + "q")):
        if move is not None and board.is_legal(move):
            return move
    return None


def compare(board, entries, sob, problems):
    """Notes what is wrong with one position."""
    where = board.fen()
    found = [(rank, legal(board, text)) for rank, text in sob]
    if any(move is None for _, move in found):
        problems.append(f"illegal move in the .sob: {where}: {sob}")
        return
    ranks = {move: rank for rank, move in found}
    moves = {entry.move for entry in entries}
    if moves != set(ranks):
        problems.append(f"other moves: {where}: {sorted(map(str, moves))} and {sob}")
        return
    in_order = sorted(entries, key=lambda entry: -entry.weight)
    for better, worse in zip(in_order, in_order[1:]):
        if better.weight > worse.weight and ranks[better.move] < ranks[worse.move]:
            problems.append(f"other order: {where}: {better.move}, {worse.move} and {sob}")
            return


def walk(book, sob, problems):
    """Follows the moves of the book, and any reply to them that leads back into it: a book of the
    winners' moves holds one side of each line. Returns how many entries that reaches."""
    start = chess.Board()
    todo, seen, reached = [start], {chess.polyglot.zobrist_hash(start)}, 0

    def visit(board):
        after = chess.polyglot.zobrist_hash(board)
        if after in sob and after not in seen:
            seen.add(after)
            todo.append(board.copy(stack=False))

    # Lines that Black won begin with any first move.
    for move in start.legal_moves:
        board = start.copy()
        board.push(move)
        visit(board)
    while todo:
        board = todo.pop()
        key = chess.polyglot.zobrist_hash(board)
        # Without a board find_all filters nothing: illegal moves must show.
        entries = [entry for entry in book.find_all(key, minimum_weight=0)]
        reached += len(entries)
        if not entries:
            continue
        legal_entries = list(book.find_all(board, minimum_weight=0))
        if len(legal_entries) != len(entries):
            problems.append(f"illegal move in the .bin: {board.fen()}: {[str(e.move) for e in entries]}")
        compare(board, legal_entries, sob.get(key, []), problems)
        for entry in legal_entries:
            board.push(entry.move)
            visit(board)
            for reply in board.legal_moves:
                board.push(reply)
                visit(board)
                board.pop()
            board.pop()
    return reached


def main():
    problems = []
    sob = read_dump(sys.argv[2])
    with chess.polyglot.open_reader(sys.argv[1]) as book:
        keys = collections.Counter(entry.key for entry in book)
        reached = walk(book, sob, problems)
        if keys != {key: len(moves) for key, moves in sob.items()}:
            problems.append("the books do not have the same positions with as many moves each")
        print(f"{len(book)} entries, {len(keys)} positions; reached from the start position: {reached}")
    print(f".sob: {sum(map(len, sob.values()))} entries, {len(sob)} positions")
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems or not reached else 0


sys.exit(main())
