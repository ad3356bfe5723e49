"""Twenty games of `tabiya uci` against itself, Stockfish behind it, watched by python-chess.

Arguments: the program, a book with 6 plies of 1. e4 e5, its lines as JSON, the depth.
"""

import json
import sys

import chess
import chess.engine

program, book, moves, depth = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
command = [program, "uci", "--book", book, "--engine", "stockfish", "--depth", str(depth)]
command += ["--pick", "weight", "--seed"]


def start(seed):
    engine = chess.engine.SimpleEngine.popen_uci(command + [str(seed)], timeout=60)
    assert engine.id["name"].startswith("Stockfish"), engine.id
    assert "Tabiya Depth" in engine.options and "Hash" in engine.options, engine.options
    engine.configure({"Hash": 4, "Threads": 1})
    return engine


lines = set()
with start(1) as white, start(2) as black:
    for game in range(20):
        board, in_book = chess.Board(), 0
        for ply in range(16):
            engine = white if board.turn else black
            known = moves.get(" ".join(move.uci() for move in board.move_stack), [])
            result = engine.play(board, chess.engine.Limit(nodes=300), game=game, info=chess.engine.INFO_ALL)
            from_book = result.info.get("string", "").startswith("book move")
            assert from_book == (ply < depth and bool(known)), (game, ply, known, result)
            if from_book:
                assert result.move.uci() in known, (known, result)
                in_book += 1
            board.push(result.move)
        assert 1 <= in_book <= depth, in_book
        lines.add(" ".join(move.uci() for move in board.move_stack[:in_book]))
    # Analysis is the engine's, in the book too.
    with white.analysis(chess.Board()) as analysis:
        assert any("score" in info for info in analysis)
    white.quit()
    black.quit()
assert len(lines) > 1, lines
print(len(lines))
