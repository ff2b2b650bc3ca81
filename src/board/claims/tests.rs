//! The rules, one by one.

use std::time::Duration;

use proptest::prelude::*;
use shakmaty::{ByColor, Color};

use super::*;

const WHITE: ClientId = ClientId(1);
const BLACK: ClientId = ClientId(2);

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

fn state(claims: &mut Claims, client: ClientId, moves: &str) -> bool {
    claims.state(
        client,
        "somebody".into(),
        1,
        game(moves),
        Occasion::default(),
    )
}

#[test]
fn two_clients_of_one_game_share_the_board() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    claims.set_awaiting(WHITE, true, &Held::default());
    let e4 = game("e2e4").last().unwrap();
    assert!(claims.answered(WHITE, 1, e4));
    assert!(!state(&mut claims, BLACK, "e2e4"));
    assert!(claims.has(BLACK));
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(state(&mut claims, WHITE, "d2d4"), "it came first");
    assert!(!claims.has(BLACK), "its game is left");
}

#[test]
fn who_is_away_when_the_pieces_are_put_up_gets_the_board_again_when_it_is_back_and_nobody_has_it() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    assert!(!claims.drop_absent(), "it is there");
    claims.set_away(WHITE, true);
    assert!(claims.drop_absent() && !claims.has_game());
    claims.set_away(WHITE, false);
    assert!(claims.admit_waiting() && claims.has(WHITE));
    // One whose connection was lost comes back as another client.
    claims.lose(WHITE);
    assert!(claims.has_game());
    claims.drop_absent();
    assert!(!claims.has_game());
}

#[test]
fn the_clocks_on_the_board_are_those_of_the_client_that_has_it() {
    let seconds = |white, black, runs| Clocks {
        left: ByColor { white, black }.map(Duration::from_secs),
        runs: Some(runs),
    };
    let now = Instant::now();
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.set_clocks(now, WHITE, Some(seconds(60, 50, Color::White)));
    state(&mut claims, BLACK, "d2d4");
    claims.set_clocks(now, BLACK, Some(seconds(9, 9, Color::Black)));
    // The hand's move is taken after ten seconds: the other side's clock runs.
    let taken = now + Duration::from_secs(10);
    assert!(claims.press_clock(taken, WHITE));
    let shown = claims.clocks().unwrap();
    let later = taken + Duration::from_secs(5);
    assert_eq!(shown.at(later), seconds(50, 45, Color::Black));
    claims.release(WHITE);
    claims.set_awaiting(BLACK, true, &Held::default());
    let shown = claims.clocks().unwrap();
    assert_eq!(shown.clocks, seconds(9, 9, Color::Black));
    claims.release(BLACK);
    assert_eq!(claims.clocks(), None);
}

#[test]
fn a_page_that_comes_back_after_a_restart_takes_its_claim_over() {
    let page = |port| ClientName::LiveChess(([192, 168, 1, 20], port).into());
    let mut claims = Claims::default();
    claims.state(WHITE, page(1), 1, game("e2e4"), Occasion::default());
    let kept = serde_json::to_string(&claims).unwrap();
    let kept: Claims = serde_json::from_str(&kept).unwrap();
    let mut claims = kept.recalled();
    let other = ClientName::LiveChess(([192, 168, 1, 21], 2).into());
    claims.adopt(BLACK, &other, &game(""));
    assert!(claims.awaits_return());
    claims.adopt(BLACK, &page(2), &game(""));
    assert!(claims.has(BLACK) && !claims.awaits_return());
}

#[test]
fn a_game_on_lichess_has_the_board_for_itself() {
    let lichess = |claims: &mut Claims, moves| {
        let (label, occasion) = (ClientName::Lichess, Occasion::default());
        claims.state(WHITE, label, 1, game(moves), occasion)
    };
    let mut claims = Claims::default();
    state(&mut claims, BLACK, "e2e4");
    lichess(&mut claims, "e2e4");
    assert!(
        claims.has(WHITE) && !claims.has(BLACK),
        "an engine looked on"
    );
    for moves in ["e2e4", "d2d4"] {
        state(&mut claims, BLACK, moves);
        claims.set_awaiting(BLACK, true, &Held::default());
        assert!(!claims.has(BLACK), "{moves}");
    }
    let now = Instant::now();
    claims.pass(now);
    claims.pass(now + 2 * IDLE);
    claims.admit_waiting();
    assert!(!claims.has(BLACK), "the opponent thinks for long");
    claims.finish(WHITE);
    claims.leave_finished();
    assert!(claims.has(BLACK), "the game is over");
}

#[test]
fn who_came_first_keeps_the_board_and_who_joined_goes_on_while_nobody_minds() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    state(&mut claims, BLACK, "e2e4");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(
        !state(&mut claims, BLACK, "d2d4"),
        "the first awaits the hand"
    );
    assert!(!claims.has(BLACK));
    state(&mut claims, BLACK, "e2e4");
    assert!(claims.has(BLACK));
    let e5 = game("e2e4 e7e5").last().unwrap();
    assert!(claims.answered(WHITE, 1, e5));
    // It guesses the reply before the other client has stated it, and is wrong.
    assert!(state(&mut claims, BLACK, "e2e4 e7e5 h2h3"));
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(state(&mut claims, WHITE, "e2e4 e7e5 g1f3"));
    assert!(claims.has(WHITE) && !claims.has(BLACK));
}

#[test]
fn who_only_looks_on_does_not_take_the_board_from_who_plays() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    state(&mut claims, BLACK, "");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(!state(&mut claims, WHITE, "e2e4"));
    assert!(claims.has(BLACK) && !claims.has(WHITE));
    // Nor a client that played before, and has stopped.
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.set_awaiting(WHITE, false, &Held::default());
    state(&mut claims, BLACK, "");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(!state(&mut claims, WHITE, "e2e4"));
}

#[test]
fn who_came_first_begins_the_next_game_though_its_last_one_has_ended() {
    let mut claims = Claims::default();
    for client in [WHITE, BLACK] {
        state(&mut claims, client, "e2e4");
        claims.set_awaiting(client, true, &Held::default());
    }
    claims.finish(WHITE);
    // Lichess tells the end of a game on two streams.
    claims.finish(WHITE);
    assert!(state(&mut claims, WHITE, "d2d4"));
    assert!(claims.has(WHITE) && !claims.has(BLACK));
}

#[test]
fn who_awaits_a_move_again_after_its_game_has_ended_plays_on() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.finish(WHITE);
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.leave_finished();
    assert!(claims.has(WHITE) && claims.awaiting());
}

#[test]
fn a_new_game_announced_by_a_client_that_waits_begins_when_it_gets_the_board() {
    for before in [false, true] {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4 e7e5");
        claims.take_came();
        if before {
            state(&mut claims, BLACK, "e2e4");
        }
        claims.announce(BLACK);
        state(&mut claims, BLACK, "e2e4");
        claims.set_awaiting(BLACK, true, &Held::default());
        assert_eq!(claims.take_came(), None);
        assert!(claims.release(WHITE));
        assert_eq!(claims.take_came(), Some(true), "known before: {before}");
        assert_eq!(claims.take_came(), None);
    }
}

#[test]
fn a_new_game_announced_while_the_other_holder_awaited_the_hand_is_no_take_back() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    state(&mut claims, BLACK, "e2e4");
    claims.take_came();
    assert!(!claims.may_lead(BLACK));
    claims.announce(BLACK);
    claims.set_awaiting(WHITE, false, &Held::default());
    assert!(state(&mut claims, BLACK, ""));
    assert_eq!(claims.take_came(), Some(true));
}

#[test]
fn every_client_that_announced_a_new_game_begins_one_unless_it_has_left() {
    const GONE: ClientId = ClientId(3);
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4 e7e5");
    claims.take_came();
    claims.announce(GONE);
    claims.announce(BLACK);
    claims.release(GONE);
    state(&mut claims, BLACK, "e2e4");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.release(WHITE));
    assert_eq!(claims.take_came(), Some(true));
    claims.release(BLACK);
    assert!(state(&mut claims, GONE, "e2e4"));
    assert_eq!(claims.take_came(), Some(false), "that was forgotten");
}

#[test]
fn nobody_joins_by_playing_somebody_elses_game_on() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    assert!(!state(&mut claims, BLACK, "e2e4 c7c5"));
    assert!(!claims.has(BLACK));
    assert!(state(&mut claims, WHITE, "e2e4 e7e5"));
}

#[test]
fn a_client_whose_game_is_left_waits_and_gets_the_board_back() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    state(&mut claims, BLACK, "e2e4");
    assert!(state(&mut claims, BLACK, "d2d4"));
    assert!(!claims.has(WHITE));
    claims.release(BLACK);
    assert_eq!(
        claims.target(),
        None,
        "nobody awaits a move: the board is left alone"
    );
    assert!(claims.set_awaiting(WHITE, true, &Held::default()));
    assert!(claims.has(WHITE));
    assert_eq!(claims.target(), Some(&game("e2e4")));
}

#[test]
fn awaiting_is_stating_the_game_again() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    state(&mut claims, BLACK, "e2e4");
    assert!(state(&mut claims, BLACK, "e2e4 e7e5 g1f3"));
    assert!(claims.has(WHITE), "the game went on");
    assert!(claims.refuse(BLACK, 1, 3));
    assert!(
        claims.set_awaiting(WHITE, true, &Held::default()),
        "the board goes back to it"
    );
    assert_eq!(claims.target(), Some(&game("e2e4")));
    assert!(!claims.has(BLACK));
}

#[test]
fn another_game_waits_until_the_board_is_free() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    assert!(!state(&mut claims, BLACK, ""));
    assert!(!claims.has(BLACK));
    assert_eq!(claims.target(), Some(&game("e2e4")));
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.release(WHITE));
    assert!(claims.has(BLACK));
    assert_eq!(claims.target(), Some(&game("")));
}

#[test]
fn a_client_that_is_away_keeps_the_board_until_somebody_wants_it() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.set_away(WHITE, true);
    assert!(claims.has(WHITE));
    assert!(state(&mut claims, BLACK, "d2d4"));
    assert!(claims.has(BLACK) && !claims.has(WHITE));
    claims.set_away(WHITE, false);
    assert!(
        !claims.set_awaiting(WHITE, true, &Held::default()),
        "it waits now"
    );
    claims.set_away(BLACK, true);
    assert!(claims.admit_waiting());
    assert!(claims.has(WHITE));
}

#[test]
fn of_two_clients_that_are_away_none_takes_the_board_from_the_other() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.set_away(WHITE, true);
    state(&mut claims, BLACK, "d2d4");
    claims.set_awaiting(BLACK, true, &Held::default());
    claims.set_away(BLACK, true);
    assert!(!claims.admit_waiting());
    assert!(claims.has(BLACK));
}

const OWNER: &str = "192.168.1.5:50000";
const STRANGER: &str = "192.168.1.6:50000";

fn state_from(claims: &mut Claims, client: ClientId, from: &str, moves: &str) -> bool {
    claims.state(client, from.into(), 1, game(moves), Occasion::default())
}

/// The owner plays.
fn played_by_the_owner(now: Instant) -> Claims {
    let mut claims = Claims::default();
    state_from(&mut claims, WHITE, OWNER, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.pass(now);
    claims
}

fn stranger_awaits(claims: &mut Claims, moves: &str) {
    state_from(claims, BLACK, STRANGER, moves);
    claims.set_awaiting(BLACK, true, &Held::default());
}

#[test]
fn another_address_neither_takes_a_game_nor_joins_it() {
    let mut claims = played_by_the_owner(Instant::now());
    for awaits in [true, false] {
        claims.set_awaiting(WHITE, awaits, &Held::default());
        for moves in ["e2e4", "e2e4 e7e5", "d2d4", ""] {
            stranger_awaits(&mut claims, moves);
            assert!(claims.has(WHITE) && !claims.has(BLACK), "{moves}, {awaits}");
            claims.announce(BLACK);
        }
    }
    assert_eq!(claims.target(), Some(&game("e2e4")));
    claims.release(WHITE);
    assert!(claims.has(BLACK), "it waited");
}

#[test]
fn the_app_and_the_links_are_of_this_machine() {
    for name in [
        ClientName::App("ble".into()),
        ClientName::Link("neo".into()),
    ] {
        assert_eq!(name.address(), ClientName::from("[::1]:1").address());
        assert_eq!(
            name.address(),
            ClientName::from("[::ffff:127.0.0.1]:1").address()
        );
        assert_ne!(name.address(), ClientName::from(STRANGER).address());
    }
}

#[test]
fn a_client_that_looks_on_or_idles_makes_way_for_one_that_waits() {
    for (awaits, patience) in [(false, LOOKS_ON), (true, IDLE)] {
        for from in [OWNER, STRANGER] {
            let now = Instant::now();
            let mut claims = played_by_the_owner(now);
            claims.set_awaiting(WHITE, awaits, &Held::default());
            claims.pass(now);
            assert_eq!(claims.deadline(), None, "no other client waits");
            state_from(&mut claims, BLACK, from, "d2d4");
            claims.set_awaiting(BLACK, true, &Held::default());
            assert_eq!(claims.deadline(), Some(now + patience));
            assert!(!claims.pass(now + patience / 2));
            assert!(claims.pass(now + patience));
            assert!(claims.admit_waiting());
            assert!(claims.has(BLACK) && !claims.has(WHITE), "{awaits} {from}");
        }
    }
}

/// The owner's program has been told the hand's move, and awaits no other.
fn answered_by_the_owner(now: Instant) -> Claims {
    let mut claims = played_by_the_owner(now);
    assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
    claims.pass(now);
    claims
}

/// Another program announces a new game, states it and awaits a move.
fn begins_from(claims: &mut Claims, client: ClientId, from: &str, moves: &str) {
    claims.announce(client);
    state_from(claims, client, from, moves);
    claims.set_awaiting(client, true, &Held::default());
}

#[test]
fn a_new_game_of_the_same_machine_does_not_wait_for_a_program_that_was_left_open() {
    let mut claims = answered_by_the_owner(Instant::now());
    claims.announce(BLACK);
    state_from(&mut claims, BLACK, OWNER, "");
    assert!(claims.has(WHITE), "it awaits no move yet");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.has(BLACK) && !claims.has(WHITE));
    assert_eq!(claims.take_came(), Some(true));
    // The old one waits with its old game, even between two moves of the new one.
    state_from(&mut claims, WHITE, OWNER, "e2e4 e7e5 g1f3");
    claims.set_awaiting(WHITE, true, &Held::default());
    assert!(claims.answered(BLACK, 1, game("d2d4").last().unwrap()));
    claims.admit_waiting();
    assert!(claims.has(BLACK) && !claims.has(WHITE));
}

#[test]
fn a_new_game_that_begins_like_the_old_one_leaves_it_all_the_same() {
    let mut claims = Claims::default();
    state_from(&mut claims, WHITE, OWNER, "");
    claims.set_awaiting(WHITE, true, &Held::default());
    assert!(claims.answered(WHITE, 1, game("e2e4").last().unwrap()));
    begins_from(&mut claims, BLACK, OWNER, "");
    assert!(claims.has(BLACK) && !claims.has(WHITE));
}

#[test]
fn a_new_game_waits_for_other_machines_open_searches_and_for_what_is_no_chess_program() {
    let now = Instant::now();
    let mut claims = answered_by_the_owner(now);
    begins_from(&mut claims, BLACK, STRANGER, "");
    assert!(claims.has(WHITE), "another machine");
    let mut claims = played_by_the_owner(now);
    begins_from(&mut claims, BLACK, OWNER, "");
    assert!(claims.has(WHITE), "an open search");
    let mut claims = answered_by_the_owner(now);
    state_from(&mut claims, BLACK, OWNER, "");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.has(WHITE), "no new game");
    // Not before it can have come back, after a restart.
    let mut claims = answered_by_the_owner(now).recalled();
    begins_from(&mut claims, BLACK, OWNER, "");
    assert!(claims.has(WHITE), "a restart");
    let here = "127.0.0.1:50000";
    for name in [
        ClientName::App("ble".into()),
        ClientName::Link("neo".into()),
        ClientName::Engine("Stockfish".into()),
        ClientName::LiveChess(here.parse().unwrap()),
    ] {
        let mut claims = Claims::default();
        claims.state(WHITE, name, 1, game("e2e4"), Occasion::default());
        claims.set_awaiting(WHITE, true, &Held::default());
        assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
        begins_from(&mut claims, BLACK, here, "");
        assert!(claims.has(WHITE), "its opponent thinks");
    }
}

#[test]
fn a_program_whose_game_is_over_makes_way_for_any_other_unless_it_goes_on() {
    for from in [OWNER, STRANGER] {
        for goes_on in [false, true] {
            let begun = Instant::now();
            let mut claims = answered_by_the_owner(begun);
            let now = begun + IDLE / 2;
            claims.set_over(true, now);
            claims.pass(now);
            state_from(&mut claims, BLACK, from, "d2d4");
            claims.set_awaiting(BLACK, true, &Held::default());
            assert!(claims.has(WHITE));
            assert_eq!(claims.deadline(), Some(now + OVER));
            if goes_on {
                claims.set_over(false, now);
            }
            let makes_way = claims.pass(now + OVER) && claims.admit_waiting();
            assert_eq!(makes_way, !goes_on);
            assert_eq!((claims.has(BLACK), claims.has(WHITE)), (!goes_on, goes_on));
        }
    }
}

proptest! {
    /// Three programs of one machine do anything.
    #[test]
    fn no_program_is_put_out_while_it_awaits_a_move_or_comes_back_without_a_new_game(
        history in prop::collection::vec((1..4_u64, 0..8, 0..4_usize), 1..60)
    ) {
        let mut claims = Claims::default();
        // Those that lost the board, and have announced no new game.
        let mut left = std::collections::BTreeSet::new();
        for (number, what, which) in history {
            let client = ClientId(number);
            let before: Vec<Claim> = claims.holders().cloned().collect();
            match what {
                0..3 => {
                    let moves = ["", "e2e4", "e2e4 e7e5", "d2d4"][which];
                    state_from(&mut claims, client, OWNER, moves);
                }
                3..5 => {
                    claims.set_awaiting(client, true, &Held::default());
                }
                5 => {
                    let at = claims.get(client).map(|claim| claim.game.clone());
                    if let Some(at) = at && let Some(&m) = at.position().legal_moves().first() {
                        claims.answered(client, 1, m);
                        claims.admit_waiting();
                    }
                }
                6 => {
                    claims.set_awaiting(client, false, &Held::default());
                    claims.admit_waiting();
                }
                _ => {
                    left.remove(&client);
                    if !claims.may_begin(client) {
                        claims.announce(client);
                    }
                }
            }
            for claim in before.iter().filter(|claim| claim.client != client) {
                if claims.has(claim.client) {
                    continue;
                }
                // The first of several that share a game leads it, as before.
                let shares = before.iter().any(|other| other.client == client);
                prop_assert!(!claim.awaits() || shares, "{number} {what}");
                if claims.iter().any(|one| one.client == claim.client && !one.begins) {
                    left.insert(claim.client);
                }
            }
            for claim in claims.holders() {
                let had = before.iter().any(|had| had.client == claim.client);
                let back = !had && left.contains(&claim.client);
                let free = before.is_empty();
                // It states another client's game.
                let joins = claims.holders().any(|other| {
                    other.client != claim.client && other.game == claim.game
                });
                let stays = before.iter().any(|had| claims.has(had.client));
                prop_assert!(!back || free || joins || stays, "{number} {what}");
            }
            let holders: Vec<ClientId> = claims.holders().map(|claim| claim.client).collect();
            left.retain(|client| !holders.contains(client));
        }
    }
}

#[test]
fn a_sign_of_a_client_begins_its_time_again() {
    let now = Instant::now();
    let mut claims = played_by_the_owner(now);
    stranger_awaits(&mut claims, "d2d4");
    let later = now + IDLE / 2;
    assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
    assert!(!claims.pass(later));
    assert!(!claims.pass(now + IDLE));
    assert_eq!(claims.deadline(), Some(later + IDLE));
}

#[test]
fn a_game_whose_connection_is_lost_is_kept_for_its_address() {
    const BACK: ClientId = ClientId(3);
    let now = Instant::now();
    let lost = || {
        let mut claims = played_by_the_owner(now);
        claims.lose(WHITE);
        stranger_awaits(&mut claims, "d2d4");
        claims.pass(now);
        assert!(!claims.has(BLACK));
        claims
    };
    let mut claims = lost();
    assert_eq!(claims.kept(), Some(&OWNER.into()));
    assert_eq!(claims.deadline(), Some(now + AWAY));
    assert!(state_from(&mut claims, BACK, "192.168.1.5:50001", "e2e4"));
    assert!(claims.has(BACK));
    assert_eq!(claims.kept(), None);
    let mut claims = lost();
    assert!(claims.pass(now + AWAY) && claims.admit_waiting());
    assert!(claims.has(BLACK), "it has waited long enough");
    let mut claims = lost();
    claims.put_out();
    assert!(claims.has(BLACK), "the owner said so");
    // Also if the daemon is killed meanwhile.
    let kept = serde_json::to_string(&lost()).unwrap();
    let kept: Claims = serde_json::from_str(&kept).unwrap();
    let mut claims = kept.recalled();
    stranger_awaits(&mut claims, "d2d4");
    claims.pass(now);
    assert!(!claims.has(BLACK));
    assert!(state_from(&mut claims, BACK, "192.168.1.5:50001", "e2e4"));
    assert!(claims.has(BACK));
}

#[test]
fn a_client_of_another_daemon_takes_its_claim_over_after_a_restart_whatever_kind_it_is_there() {
    for name in [
        ClientName::Link("neo".into()),
        ClientName::Engine("Stockfish at home".into()),
        ClientName::App("ble".into()),
        ClientName::Lichess,
    ] {
        let name = name.elsewhere("hall-4");
        let mut claims = Claims::default();
        claims.state(WHITE, name.clone(), 1, game("e2e4"), Occasion::default());
        let kept = serde_json::to_string(&claims).unwrap();
        let kept: Claims = serde_json::from_str(&kept).unwrap();
        let mut claims = kept.recalled();
        claims.adopt(BLACK, &name, &game("e2e4"));
        assert!(claims.has(BLACK) && !claims.awaits_return(), "{name}");
    }
}

#[test]
fn of_two_programs_of_one_address_each_takes_its_own_claim_over_after_a_restart() {
    const BACK: ClientId = ClientId(3);
    let mut claims = Claims::default();
    state_from(&mut claims, WHITE, "192.168.1.5:50000", "");
    claims.set_awaiting(WHITE, true, &Held::default());
    assert!(claims.answered(WHITE, 1, game("e2e4").last().unwrap()));
    state_from(&mut claims, BLACK, "192.168.1.5:50001", "e2e4");
    claims.set_awaiting(BLACK, true, &Held::default());
    let answer = game("e2e4 e7e5").last().unwrap();
    assert!(claims.answered(BLACK, 1, answer));
    claims.know(2);
    let kept = serde_json::to_string(&claims).unwrap();
    let kept: Claims = serde_json::from_str(&kept).unwrap();
    let mut claims = kept.recalled();
    // It never received that answer, whatever the other one was in.
    let label = "192.168.1.5:50002".into();
    assert_eq!(claims.adopt(BACK, &label, &game("e2e4")), Some(1));
    assert_eq!(claims.target(), Some(&game("e2e4")));
    assert!(claims.awaits_return(), "the other one is not back yet");
    let label = "192.168.1.5:50003".into();
    claims.adopt(ClientId(4), &label, &game(""));
    assert!(!claims.awaits_return());
}

#[test]
fn a_game_whose_program_is_not_back_after_a_restart_is_kept_for_its_address() {
    let now = Instant::now();
    let mut claims = played_by_the_owner(now).recalled();
    claims.release_absent();
    stranger_awaits(&mut claims, "d2d4");
    claims.pass(now);
    assert!(!claims.has(BLACK));
    assert_eq!(claims.kept(), Some(&OWNER.into()));
    assert!(claims.pass(now + AWAY) && claims.admit_waiting());
    assert!(claims.has(BLACK), "it has waited long enough");
}

#[test]
fn an_answer_that_was_on_its_way_when_both_daemons_ended_is_given_to_the_program_that_comes_back() {
    const BACK: ClientId = ClientId(3);
    let e4 = game("e2e4");
    let killed = || {
        let mut claims = Claims::default();
        state_from(&mut claims, WHITE, "127.0.0.1:49130 at hall-4", "");
        claims.set_awaiting(WHITE, true, &Held::default());
        assert!(claims.answered(WHITE, 1, e4.last().unwrap()));
        claims.know(1);
        let kept = serde_json::to_string(&claims).unwrap();
        serde_json::from_str::<Claims>(&kept).unwrap().recalled()
    };
    // It is another client of another start of its daemon, at another port.
    let mut claims = killed();
    let label = "127.0.0.1:49748 at hall-4".into();
    assert_eq!(claims.adopt(BACK, &label, &game("")), Some(0));
    assert_eq!((claims.known(), claims.target()), (0, Some(&game(""))));
    assert!(claims.has(BACK) && !claims.has(WHITE));
    let stranger = "127.0.0.1:49748 at hall-3".into();
    assert_eq!(killed().adopt(BACK, &stranger, &game("")), None);
    // It comes later than anybody waits.
    let mut claims = killed();
    assert_eq!(claims.untold_absent(), Some(0));
    claims.release_absent();
    assert_eq!(claims.known(), 0);
}

#[test]
fn a_kept_claim_that_has_the_board_is_not_put_out() {
    let mut kept = serde_json::to_value(played_by_the_owner(Instant::now())).unwrap();
    kept["all"][0]["put_out"] = true.into();
    let kept: Claims = serde_json::from_value(kept).unwrap();
    let mut claims = kept.recalled();
    claims.is_back(WHITE);
    assert!(!claims.iter().any(Claim::is_put_out));
    state_from(&mut claims, WHITE, OWNER, "e2e4");
    assert!(claims.has(WHITE));
}

#[test]
fn a_client_that_leaves_in_order_keeps_nothing() {
    for away in [false, true] {
        let mut claims = played_by_the_owner(Instant::now());
        claims.set_away(WHITE, away);
        claims.release(WHITE);
        stranger_awaits(&mut claims, "d2d4");
        assert!(claims.has(BLACK), "away: {away}");
    }
}

#[test]
fn a_client_that_is_away_makes_way_for_another_address_after_a_time() {
    let now = Instant::now();
    let mut claims = played_by_the_owner(now);
    claims.set_away(WHITE, true);
    claims.pass(now);
    stranger_awaits(&mut claims, "d2d4");
    assert!(!claims.has(BLACK));
    assert!(claims.pass(now + AWAY) && claims.admit_waiting());
    assert!(claims.has(BLACK) && !claims.has(WHITE));
}

#[test]
fn who_was_put_out_gets_the_board_again_only_for_a_new_game() {
    for other in [false, true] {
        let mut claims = played_by_the_owner(Instant::now());
        if other {
            stranger_awaits(&mut claims, "d2d4");
        }
        claims.put_out();
        assert!(!claims.has(WHITE));
        assert_eq!(claims.has(BLACK), other, "whoever waits gets it");
        claims.release(BLACK);
        for moves in ["e2e4", "e2e4 e7e5 g1f3"] {
            state_from(&mut claims, WHITE, OWNER, moves);
            claims.set_awaiting(WHITE, true, &Held::default());
            assert!(!claims.has(WHITE), "{moves}");
            assert!(claims.iter().any(Claim::is_put_out));
        }
        state_from(&mut claims, WHITE, OWNER, "");
        assert!(claims.has(WHITE));
    }
    // Even the same game, if the program says that it is new.
    let mut claims = played_by_the_owner(Instant::now());
    claims.put_out();
    claims.forgive(WHITE);
    state_from(&mut claims, WHITE, OWNER, "e2e4");
    assert!(claims.has(WHITE));
}

#[test]
fn a_link_that_was_put_out_goes_on_when_the_board_is_free() {
    let mut claims = Claims::default();
    let link = ClientName::Link("neo".into());
    claims.state(WHITE, link, 1, game("e2e4"), Occasion::default());
    claims.set_awaiting(WHITE, true, &Held::default());
    state(&mut claims, BLACK, "d2d4");
    claims.set_awaiting(BLACK, true, &Held::default());
    claims.put_out();
    assert!(claims.has(BLACK));
    claims.release(BLACK);
    assert!(claims.has(WHITE));
}

proptest! {
    /// Two clients at each of two addresses do anything.
    #[test]
    fn no_command_of_another_address_takes_the_board(
        history in prop::collection::vec((1..5_u64, 0..10, 0..4_usize, 0..4000_u64), 1..60)
    ) {
        let mut claims = Claims::default();
        let mut now = Instant::now();
        let address = |client: u64| if client < 3 { OWNER } else { STRANGER };
        for (number, what, game, seconds) in history {
            let client = ClientId(number);
            let mine = ClientName::from(address(number)).address();
            let stays = |claim: &&Claim| {
                !claim.lets_others() && claim.label.address() != mine
            };
            let other = claims.holders().find(stays).map(|claim| claim.label.address());
            match what {
                0..3 => {
                    let moves = ["", "e2e4", "e2e4 e7e5", "d2d4"][game];
                    state_from(&mut claims, client, address(number), moves);
                }
                3..5 => {
                    claims.set_awaiting(client, game > 0, &Held::default());
                }
                5 => claims.set_away(client, game > 1),
                6 => claims.announce(client),
                7 if game > 1 => {
                    claims.lose(client);
                }
                7 => {
                    claims.release(client);
                }
                8 => claims.finish(client),
                _ => {
                    now += Duration::from_secs(seconds);
                    if claims.pass(now) {
                        claims.admit_waiting();
                    }
                }
            }
            claims.pass(now);
            if what < 9 {
                // Those of one address may take turns.
                let mut holders = claims.holders().map(|claim| claim.label.address());
                prop_assert!(other.is_none_or(|other| holders.any(|holder| holder == other)));
            }
            let addresses = claims.holders().map(|claim| claim.label.address());
            let addresses: std::collections::BTreeSet<_> = addresses.collect();
            prop_assert!(addresses.len() < 2);
            prop_assert!(claims.deadline().is_none_or(|deadline| deadline > now));
        }
    }
}

#[test]
fn an_engine_that_makes_way_does_so_whether_or_not_a_game_was_over() {
    let mut claims = Claims::default();
    let engine = ClientName::Engine("Stockfish".into());
    claims.state(WHITE, engine, 1, game("e2e4"), Occasion::default());
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.make_way(WHITE);
    let now = Instant::now();
    claims.set_over(true, now);
    claims.set_over(false, now);
    state(&mut claims, BLACK, "d2d4");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.has(BLACK) && !claims.has(WHITE));
}

#[test]
fn a_client_that_makes_way_keeps_the_board_until_any_other_awaits_a_move() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    claims.set_awaiting(WHITE, true, &Held::default());
    claims.make_way(WHITE);
    assert!(claims.has(WHITE) && claims.awaiting());
    state_from(&mut claims, BLACK, STRANGER, "d2d4");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.has(BLACK) && !claims.has(WHITE));
    // It is active again, so it no longer gives way.
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "");
    claims.make_way(WHITE);
    state(&mut claims, WHITE, "e2e4");
    claims.set_awaiting(WHITE, true, &Held::default());
    state_from(&mut claims, BLACK, STRANGER, "d2d4");
    claims.set_awaiting(BLACK, true, &Held::default());
    assert!(claims.has(WHITE) && !claims.has(BLACK));
}

#[test]
fn the_holder_may_take_back_and_begin_anew() {
    let mut claims = Claims::default();
    state(&mut claims, WHITE, "e2e4 e7e5");
    assert!(state(&mut claims, WHITE, ""));
    assert!(state(&mut claims, WHITE, "d2d4"));
    assert!(claims.release(WHITE));
    assert_eq!(claims.target(), None);
}
