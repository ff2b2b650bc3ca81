//! Whatever the kept values say, edited by hand or written by another version, the daemon comes to rest: no client states its
//! game to a board again and again, and nothing panics. The fuzz target `kept` searches further.

use proptest::prelude::*;
use rig::{
    histories::histories,
    kept::{Back, Clients, Edit, claims, comes_to_rest, kept_by, values_of},
};
use serde_json::Value;

fn edit() -> impl Strategy<Value = Edit> {
    (any::<u16>(), any::<u8>()).prop_map(|(at, how)| Edit { at, how })
}

/// Whether something is kept there.
fn has(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// An edit finds only what is there.
#[test]
fn somewhere_each_field_of_the_claims_and_of_a_claim_has_a_value() {
    let mut kept = Clients::ALL.map(|clients| kept_by(clients).clone());
    let all: Vec<&Value> = kept
        .iter_mut()
        .flat_map(claims)
        .map(|value| &*value)
        .collect();
    let each = all.iter().filter_map(|claims| claims["all"].as_array());
    let each: Vec<&Value> = each.flatten().collect();
    for values in [all, each] {
        assert!(!values.is_empty());
        let fields = values.iter().filter_map(|value| value.as_object());
        for field in fields.flat_map(|fields| fields.keys()) {
            assert!(values.iter().any(|value| has(&value[field])), "{field}");
        }
    }
}

#[test]
fn what_was_kept_in_mid_game_leads_to_rest() {
    for clients in Clients::ALL {
        for back in [Back::Soon, Back::Never] {
            comes_to_rest(clients, back, |_| {});
        }
    }
}

#[test]
fn any_one_value_that_is_turned_into_its_opposite_leads_to_rest() {
    for clients in Clients::ALL {
        for at in 0..values_of(clients) {
            let back = if at % 2 == 0 { Back::Soon } else { Back::Never };
            comes_to_rest(clients, back, |kept| Edit { at, how: 0 }.apply(kept));
        }
    }
}

proptest! {
    #![proptest_config(histories(100))]

    #[test]
    fn any_values_lead_to_rest(
        clients in prop::sample::select(&Clients::ALL[..]),
        back in prop::sample::select(&[Back::Soon, Back::Never][..]),
        edits in prop::collection::vec(edit(), 1..12),
    ) {
        comes_to_rest(clients, back, |kept| edits.iter().for_each(|edit| edit.apply(kept)));
    }
}
