//! Whatever is sensed: legal moves only, none without a landing on its square after the last one's (unless
//! the board hides captures), and no panic.
#![no_main]

use std::time::{Duration, Instant};

use boardbridge::chess::{
    game::Game,
    recognise::{Recognised, Recogniser, Sensing, Waits},
    sense::Sensed,
};
use shakmaty::{Bitboard, Position, Square};

/// A game with a promotion, castling and an en-passant capture near.
const GAME: &str =
    "e2e4 g8f6 e4e5 d7d5 g1f3 b8c6 f1c4 d5c4 a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5";

libfuzzer_sys::fuzz_target!(|input: (u8, bool, bool, Vec<(u8, u16, u64)>)| {
    let (plies, events, loses_events, stream) = input;
    let mut game = Game::standard();
    if game
        .play_uci(GAME.split(' ').take(usize::from(plies) % 17))
        .is_err()
    {
        return;
    }
    let mut now = Instant::now();
    let sensing = Sensing {
        events,
        loses_events,
        hides_captures: !events && loses_events,
        goes_dark: events,
        ..Sensing::default()
    };
    let board = game.position().board().clone();
    let mut recogniser = Recogniser::new(Waits::default(), board).sensing(sensing);
    recogniser.follow(now, &game, plies % 2 == 0);
    let mut landings = rig::landings::Landings::default();
    for (what, wait, bits) in stream {
        now += Duration::from_millis(u64::from(wait) % 5_000);
        let square = Square::new(u32::from(what) % 64);
        let sensed = match what / 64 {
            0 => Sensed::Lifted(square),
            1 => Sensed::Placed(square),
            2 => Sensed::Occupied(Bitboard(bits)),
            _ => Sensed::Occupied(game.position().board().occupied() & !Bitboard::from(square)),
        };
        recogniser.timeout(now);
        for step in 0..2 {
            while let Some(said) = recogniser.poll() {
                let landed = landings.explain(said) || sensing.hides_captures;
                assert!(landed, "{said:?} without a landing");
                match said {
                    Recognised::Played(m) => assert!(game.push(m), "{m:?} is illegal"),
                    Recognised::TookBack(m) => assert_eq!(game.pop(), Some(m)),
                    _ => continue,
                }
                if recogniser.standing() == game.position().board() {
                    recogniser.follow(now, &game, false);
                }
            }
            if step == 0 {
                landings.note(sensed);
                recogniser.sense(now, sensed);
            }
        }
    }
});
