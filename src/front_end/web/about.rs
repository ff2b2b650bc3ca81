//! `/api/v1/settings`: what a page should know of the daemon.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use serde_json::json;

use super::{Control, House, Visitor, answer};
use crate::vocabulary::AppWay;

/// The settings, and what this visitor may do.
pub(super) async fn daemon(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let refused = house.control.check(&visitor).err();
    let kept = house.kept();
    let standing = house.bus.desk().standing();
    answer::value(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "control": house.control,
        "may_control": refused.is_none(),
        "may_pair": house.control == Control::Paired && visitor.is_here,
        "why_not": refused.map(|wrong| wrong.words().to_owned()),
        "games": kept.folder.map(|folder| folder.display().to_string()),
        "site": kept.site,
        "player": kept.player,
        "every_move": kept.every_move,
        "games_fixed": standing.games_fixed,
        "added": standing.added,
        "keyed": standing.keyed,
        "started": standing.started,
        "linked": standing.linked,
        "fixed": standing.fixed,
        "programs": standing.programs,
        "programs_fixed": standing.programs_fixed,
        "programs_at": standing.programs_at,
        "lichess_board": standing.lichess_board,
        "lichess_chosen": standing.lichess_chosen,
        "lichess_accept": standing.lichess_accept,
        "lichess_take_backs": standing.lichess_take_backs,
        "lichess_fixed": standing.lichess_fixed,
        "whitepawn_tcp": standing.apps.get(&AppWay::Tcp),
        "whitepawn_ble": standing.apps.get(&AppWay::Ble),
        "whitepawn_rfcomm": standing.apps.get(&AppWay::Rfcomm),
        "whitepawn_fixed": standing.apps_fixed,
        "unseen": standing.unseen,
        "kinds": standing.kinds,
        "lichess": house.bus.account().standing().is_some(),
    }))
}
