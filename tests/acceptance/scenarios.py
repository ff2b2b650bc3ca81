"""What happens beside the moves: take-backs, mistakes, power cycles, pulled cables."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError

import chess

from match import Match, Planned
from rig import Failed

# Board, game (from 1), ply from which on it happens, what.
TABLE: list[tuple[str, int, int, str]] = [
    ("citrine", 1, 12, "take-back-by-gui"),
    ("citrine", 2, 20, "take-back-by-hand"),
    ("citrine", 3, 14, "wrong-then-corrected"),
    ("citrine", 4, 16, "power-cycle"),
    ("citrine", 5, 20, "power-cycle-forgetful"),
    ("citrine", 6, 30, "cable-pull"),
    ("citrine", 6, 120, "move-while-unplugged"),
    ("citrine", 7, 18, "move-while-unplugged"),
    ("citrine", 8, 24, "cable-pull-before-the-move"),
    ("citrine", 9, 30, "off-before-the-move"),
    ("citrine", 10, 10, "take-back-own-by-hand"),
    ("citrine", 11, 22, "take-back-while-waiting"),
    ("citrine", 12, 8, "take-back-two-by-hand"),
    ("citrine", 13, 16, "take-back-and-put-back"),
    ("citrine", 14, 20, "jump-ahead"),
    ("citrine", 15, 16, "cable-pull-while-shown"),
    ("citrine", 16, 6, "power-cycle-forgetful"),
    ("citrine", 17, 2, "take-back-by-gui"),
    ("citrine", 16, 20, "power-cycle-forgetful"),
    ("citrine", 16, 26, "cable-pull"),
    ("citrine", 16, 30, "move-while-unplugged"),
    ("citrine", 18, 40, "forgetful-before-the-move"),
    ("citrine", 18, 42, "take-back-by-gui"),
    ("citrine", 19, 20, "cable-pull-and-a-quick-move"),
    ("citrine", 20, 30, "cable-flicker"),
    ("ucb1", 1, 12, "take-back-by-gui"),
    ("ucb1", 2, 20, "take-back-by-hand"),
    ("ucb1", 3, 14, "wrong-then-corrected"),
    ("ucb1", 4, 16, "power-cycle"),
    ("ucb1", 5, 12, "cable-pull"),
    ("ucb1", 6, 9, "wrong-and-led-back"),
    ("ucb1", 7, 18, "move-while-unplugged"),
    ("ucb1", 8, 24, "off-before-the-move"),
    ("ucb1", 9, 20, "cable-pull-while-shown"),
    ("ucb1", 10, 30, "jump-ahead"),
    ("ucb2", 1, 12, "take-back-while-waiting"),
    ("ucb2", 2, 21, "take-back-by-gui"),
    ("ucb2", 3, 10, "take-back-by-hand"),
    ("ucb2", 4, 16, "wrong-then-corrected"),
    ("ucb2", 5, 12, "wrong-and-led-back"),
    ("ucb2", 6, 9, "power-cycle"),
    ("ucb2", 7, 18, "cable-pull"),
    ("ucb2", 7, 40, "take-back-two-by-hand"),
    ("ucb2", 8, 14, "take-back-and-put-back"),
    ("ucb2", 9, 2, "take-back-by-gui"),
    ("ucb2", 9, 30, "cable-pull-before-the-move"),
    ("ucb2", 10, 30, "take-back-own-by-hand"),
    ("ucb2", 10, 50, "cable-flicker"),
    ("swpp", 1, 12, "swpp-cable-pull"),
    ("swpp", 2, 20, "swpp-wrong"),
    ("swpp", 3, 14, "swpp-take-back-by-gui"),
    ("swpp", 4, 30, "jump-ahead"),
    ("swpp", 5, 10, "swpp-cable-pull"),
    ("swpp", 5, 20, "swpp-take-back-by-gui"),
    ("swpp", 6, 20, "swpp-wrong"),
]

# Seconds a cable is out or a board is off.
AWAY = 0.6


def planned_for(board: str, game: int) -> list[Planned]:
    """What happens in this game."""
    planned = []
    for its_board, its_game, ply, name in TABLE:
        if (its_board, its_game) == (board, game):
            moment, scenario = SCENARIOS[name]
            planned.append(Planned(name, moment, ply, scenario))
    return planned


def pull(match: Match) -> None:
    """The cable is pulled."""
    match.simulator.order("unplug")
    match.expect("unplugged")


def plug(match: Match) -> None:
    """The cable is put back after a while."""
    time.sleep(AWAY)
    match.simulator.order("plug")
    match.expect_head("plugged ")


def kinds(reports: list[str]) -> list[str]:
    """The first words."""
    return [report.split(" ")[0] for report in reports]


# The GUI is to move, nothing is awaited.


def take_back_by_gui(match: Match) -> None:
    """The GUI takes two plies back and looks at the position; then the game goes on from there."""
    back = match.ply - 2
    match.analyse(back)
    if match.is_citrine and not match.was_set_up:
        match.expect(f"take-back {match.move(back + 1)}", f"take-back {match.move(back)}")
    else:
        match.led_to(back)
    match.stop_analysis()
    match.ply = back
    if back == 0:
        match.think(1)


def take_back_by_hand(match: Match) -> None:
    """The hand takes back what was reported, and is asked to make it again."""
    match.simulator.order("take-back")
    match.expect(f"shown {match.move(match.ply - 1)}")
    match.simulator.order("execute")
    match.expect(f"executed {match.move(match.ply - 1)}")


def take_back_two_by_hand(match: Match) -> None:
    """Two moves back, both are shown again."""
    match.simulator.order("take-back", "take-back")
    for ply in (match.ply - 2, match.ply - 1):
        match.expect(f"shown {match.move(ply)}")
        match.simulator.order("execute")
        match.expect(f"executed {match.move(ply)}")


def take_back_and_put_back(match: Match) -> None:
    """The hand takes back what was reported and makes it again by itself: nothing more happens."""
    move = match.move(match.ply - 1)
    match.simulator.order("take-back", move)
    match.expect(f"made {move}")


def jump_ahead(match: Match) -> None:
    """The GUI plays three plies by itself (an opening book): all are shown."""
    ply = match.ply + 3
    match.think(ply)
    seen = match.led_to(ply)
    wanted = [f"{word} {match.move(i)}" for i in range(ply - 3, ply) for word in ("shown", "executed")]
    if seen != wanted:
        raise Failed(f"{wanted} was expected of the board, {seen} came")
    match.ply = ply


def cable_pull_before_the_move(match: Match) -> None:
    """The GUI moves while the cable is out."""
    pull(match)
    match.think(match.ply + 1)
    plug(match)
    match.led_to(match.ply + 1)
    match.ply += 1


def off_before_the_move(match: Match) -> None:
    """The GUI moves while the board is off. A Citrine keeps its memory, a UCB has none."""
    match.simulator.order("off")
    match.think(match.ply + 1)
    time.sleep(AWAY)
    match.simulator.order("on")
    if not match.is_citrine:
        match.simulator.board.reset()
    match.led_to(match.ply + 1)
    match.ply += 1


def forgetful_before_the_move(match: Match) -> None:
    """The board loses its memory while no program awaits a move; the GUI's next move brings the game back."""
    match.simulator.order("off", "on forgetful")
    match.expect("new-game")
    since = match.mark()
    match.think(match.ply + 1)
    if match.led_to(match.ply + 1)[-1].startswith("set-up "):
        match.ply += 1
        match.told_to_move(since)
    else:
        match.ply += 1


# A move is shown and not executed yet.


def other_move(match: Match) -> chess.Move:
    """A quiet move of another piece than the one shown."""
    position = match.position(match.ply)
    shown = match.moves[match.ply]
    touched = {shown.from_square, shown.to_square}
    for move in sorted(position.legal_moves, key=chess.Move.uci):
        quiet = not position.is_capture(move) and not position.is_castling(move) and not move.promotion
        if quiet and not touched & {move.from_square, move.to_square}:
            return move
    raise Failed("no other move is to be had here")


def wrong_then_corrected(match: Match) -> None:
    """The hand makes another move than the shown one, puts the piece back, and executes the shown one."""
    since = match.mark()
    other = other_move(match)
    back = chess.Move(other.to_square, other.from_square)
    match.simulator.order(f"wrong {other.uci()}", f"wrong {back.uci()}")
    if not match.is_citrine:  # that one beeps by itself
        shown = match.move(match.ply)
        match.told(f"{other.uci()} was made instead of {shown}: please correct it", since)
        match.told("the pieces are in place again", since)


def wrong_and_led_back(match: Match) -> None:
    """The hand makes another move and leaves it so: the board is given the position."""
    match.simulator.order(f"wrong {other_move(match).uci()}")
    seen = kinds(match.led_to(match.ply + 1))
    if seen[0] != "set-up":
        raise Failed(f"a position was expected, {seen} came")


def cable_pull_while_shown(match: Match) -> None:
    """The cable is out while the hand is to execute a move. A UCB is given the position afterwards."""
    pull(match)
    since = match.mark()
    plug(match)
    if match.is_citrine:
        match.told(f"shown: {match.move(match.ply)}.", since)
    else:
        match.led_to(match.ply + 1)


# The hand is to move, the GUI waits.


def cable_pull(match: Match) -> None:
    """The cable is out for a while. A Citrine is asked for its game and tells that nothing happened."""
    pull(match)
    since = match.mark()
    plug(match)
    if match.is_citrine:
        match.told("the board answers: ", since)
        time.sleep(2 * AWAY)
    else:
        match.led_to(match.ply)


def cable_pull_and_a_quick_move(match: Match) -> None:
    """As before, and the hand moves while the Citrine is telling its game."""
    pull(match)
    since = match.mark()
    plug(match)
    match.told("the board answers: ", since)


def cable_flicker(match: Match) -> None:
    """The cable is out for a moment, and the hand of a Citrine moves before the daemon has opened the port."""
    match.simulator.order("unplug", "plug")
    match.expect("unplugged")
    match.expect_head("plugged ")
    if not match.is_citrine:
        match.led_to(match.ply)


def move_while_unplugged(match: Match) -> None:
    """The hand moves while the cable is out. A Citrine tells it afterwards; a UCB cannot, and is given the
    position again."""
    move = match.move(match.ply)
    pull(match)
    match.simulator.order(move)
    match.expect(f"made {move}")
    plug(match)
    if match.is_citrine:
        match.answered(match.moves[match.ply])
        match.ply += 1
    else:
        match.led_to(match.ply)


def power_cycle(match: Match) -> None:
    """Off and on. A Citrine keeps its memory and nothing happens; a UCB asks for its position."""
    match.simulator.order("off")
    time.sleep(AWAY)
    match.simulator.order("on")
    if not match.is_citrine:
        match.led_to(match.ply)


def power_cycle_forgetful(match: Match) -> None:
    """Off and on, and the Citrine begins a new game: it is led back."""
    since = match.mark()
    match.simulator.order("off", "on forgetful")
    match.expect("new-game")
    if match.led_to(match.ply)[-1].startswith("set-up "):
        match.told_to_move(since)


def take_back_own_by_hand(match: Match) -> None:
    """The hand takes back the GUI's move, which it had executed. A Citrine names it, and is shown it again; what a
    UCB counts as an unknown last move, and it is given the position."""
    if match.is_citrine:
        take_back_by_hand(match)
    else:
        match.simulator.order("take-back")
        match.led_to(match.ply)


def take_back_while_waiting(match: Match) -> None:
    """The GUI takes its own move back while the hand is thinking."""
    waiting = match.answer
    assert waiting is not None
    match.analyse(match.ply - 1)
    try:
        result = waiting.result(match.patience)
        raise Failed(f"bestmove {result.move} of a search that was given up")
    except CancelledError:
        match.answer = None
    if match.is_citrine and not match.was_set_up:
        match.expect(f"take-back {match.move(match.ply - 1)}")
    else:
        match.led_to(match.ply - 1)
    match.stop_analysis()
    match.ply -= 1


# A board that speaks SWPP: it tells of moves only, and cannot be told to take back.


def swpp_cable_pull(match: Match) -> None:
    """The cable is pulled and put back while the hand thinks: the game goes on where it was."""
    since, seen = match.mark(), len(match.simulator.log)
    pull(match)
    plug(match)
    match.told("the board answers", since)
    # The last move is told once more, but for castling. A hand that moves before it has come makes it wrong.
    if not match.position(match.ply - 1).is_castling(match.moves[match.ply - 1]):
        match.simulator.told_again(seen, match.patience)


def swpp_wrong(match: Match) -> None:
    """The hand makes a move that cannot be played: it is told so, and nothing else changes."""
    since = match.mark()
    match.simulator.order("wrong a1h7")
    match.told("a1h7 cannot be played here", since)


def swpp_take_back_by_gui(match: Match) -> None:
    """The GUI takes two plies back: the player is told what to set up, does so, and says so."""
    since = match.mark()
    match.analyse(match.ply - 2)
    match.told("set up the position by hand", since)
    match.simulator.order("take-back", "take-back")
    match.stop_analysis()
    match.ply -= 2
    match.ready()


SCENARIOS: dict[str, tuple[str, Callable[[Match], None]]] = {
    "take-back-by-gui": ("gui", take_back_by_gui),
    "take-back-by-hand": ("gui", take_back_by_hand),
    "take-back-two-by-hand": ("gui", take_back_two_by_hand),
    "take-back-and-put-back": ("gui", take_back_and_put_back),
    "jump-ahead": ("gui", jump_ahead),
    "swpp-cable-pull": ("hand", swpp_cable_pull),
    "swpp-wrong": ("hand", swpp_wrong),
    "swpp-take-back-by-gui": ("gui", swpp_take_back_by_gui),
    "cable-pull-before-the-move": ("gui", cable_pull_before_the_move),
    "off-before-the-move": ("gui", off_before_the_move),
    "forgetful-before-the-move": ("gui", forgetful_before_the_move),
    "wrong-then-corrected": ("shown", wrong_then_corrected),
    "wrong-and-led-back": ("shown", wrong_and_led_back),
    "cable-pull-while-shown": ("shown", cable_pull_while_shown),
    "cable-pull": ("hand", cable_pull),
    "cable-pull-and-a-quick-move": ("hand", cable_pull_and_a_quick_move),
    "cable-flicker": ("hand", cable_flicker),
    "move-while-unplugged": ("hand", move_while_unplugged),
    "power-cycle": ("hand", power_cycle),
    "power-cycle-forgetful": ("hand", power_cycle_forgetful),
    "take-back-own-by-hand": ("hand", take_back_own_by_hand),
    "take-back-while-waiting": ("hand", take_back_while_waiting),
}
