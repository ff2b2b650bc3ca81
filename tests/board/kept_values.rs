//! Whatever the kept values say, edited by hand or written by another version, the daemon comes to rest: no client states its
//! game to a board again and again, and nothing panics. The fuzz target `kept` searches further.

use proptest::prelude::*;
use rig::{
    histories::histories,
    kept::{Clients, Edit, comes_to_rest, values_of},
};

fn edit() -> impl Strategy<Value = Edit> {
    (any::<u16>(), any::<u8>()).prop_map(|(at, how)| Edit { at, how })
}

#[test]
fn what_was_kept_in_mid_game_leads_to_rest() {
    for clients in Clients::ALL {
        comes_to_rest(clients, |_| {});
    }
}

/// A link cannot begin a game by itself: it stated the same one without end.
#[test]
fn a_link_that_has_a_board_and_was_put_out_of_it_leads_to_rest() {
    for board in ["first", "second"] {
        comes_to_rest(Clients::LinkAndApp, |kept| {
            let claim = &mut kept[board]["rest"]["claims"]["all"][0];
            assert_eq!(claim["put_out"], false);
            claim["put_out"] = true.into();
        });
    }
}

#[test]
fn any_one_value_that_is_turned_into_its_opposite_leads_to_rest() {
    for clients in Clients::ALL {
        for at in 0..values_of(clients) {
            comes_to_rest(clients, |kept| Edit { at, how: 0 }.apply(kept));
        }
    }
}

proptest! {
    #![proptest_config(histories(100))]

    #[test]
    fn any_values_lead_to_rest(
        clients in prop::sample::select(&Clients::ALL[..]),
        edits in prop::collection::vec(edit(), 1..12),
    ) {
        comes_to_rest(clients, |kept| edits.iter().for_each(|edit| edit.apply(kept)));
    }
}
