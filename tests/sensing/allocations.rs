//! Taking an input allocates nothing: whole games with every noise, counted by the allocator.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use allocation_counter::measure;
use boardbridge::chess::{
    game::Game,
    recognise::{Recognised, Recogniser, Waits},
};
use rig::noise::{Model, Sensors, gesture, sensed};
use shakmaty::Position;

#[test]
fn the_counter_counts() {
    let counted = measure(|| drop(std::hint::black_box(vec![1u8; 100])));
    assert_eq!(counted.count_total, 1);
}

#[test]
fn whatever_is_sensed_is_taken_in_without_allocating() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/games/lichess.uci");
    let text = std::fs::read_to_string(file).unwrap();
    let (mut taken, mut reported, mut allocated) = (0, 0, 0);
    for (model, line) in Model::all().iter().zip(text.lines().cycle()) {
        let mut whole = Game::standard();
        whole.play_uci(line.split_whitespace()).unwrap();
        let mut rng = fastrand::Rng::with_seed(5);
        let base = Instant::now();
        let mut game = Game::standard();
        let board = game.position().board().clone();
        let mut sensors = Sensors::new(board.clone(), model.faults, 5);
        let mut recogniser = Recogniser::new(Waits::default(), board);
        recogniser.follow(base, &game, false);
        let mut at = Duration::from_secs(3);
        for &m in whole.moves() {
            let style = model.habits.style(&mut rng);
            let script = gesture::played(game.position(), m, &style, &mut rng);
            let rest = Duration::from_secs(6);
            let mut all: VecDeque<_> = sensed(&mut sensors, at, &script, rest).into();
            at += script.last().map_or(rest, |(end, _)| *end + rest);
            while let Some((time, what)) = all.pop_front() {
                let now = base + time;
                let counted = measure(|| {
                    while let Some(due) = recogniser.deadline().filter(|due| *due <= now) {
                        recogniser.timeout(due);
                    }
                    recogniser.sense(now, what);
                });
                allocated += counted.count_total;
                taken += 1;
                while let Some(said) = recogniser.poll() {
                    reported += usize::from(matches!(said, Recognised::Played(_)));
                }
            }
            game.push(m);
            if recogniser.standing() != game.position().board() {
                recogniser.stand(game.position().board().clone());
            }
            recogniser.follow(base + at, &game, false);
        }
    }
    assert!(
        taken > 15_000 && reported > 2_000,
        "{taken} taken in, {reported} reported"
    );
    assert_eq!(allocated, 0);
}
