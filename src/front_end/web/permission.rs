//! Who may change something through the API, and who may look.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};

use super::{House, Visitor, Wrong, login, page, pair};

/// Who may change something through the API. Whoever may connect may look, but for `Paired`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Programs on this machine.
    #[default]
    Local,
    /// Programs on this machine, and browsers that were paired by a code. Others may not even look.
    Paired,
    /// Whoever may connect.
    Allowed,
    /// No one.
    Nobody,
}

impl Control {
    /// Refuses a visitor who may not look. All may see how a phone is paired. The way back from a login is known by a state and a cookie
    /// of its own: the phone's is not sent with it, for it comes from another site.
    pub(super) fn admits(self, visitor: &Visitor, path: &str) -> Result<(), Wrong> {
        let is_open = path == pair::PATH
            || path == login::BACK
            || page::FILES.iter().any(|file| file.path == path);
        match self {
            Self::Paired if !is_open => self.check(visitor),
            _ => Ok(()),
        }
    }

    /// Refuses a visitor who may not change anything.
    pub(super) fn check(self, visitor: &Visitor) -> Result<(), Wrong> {
        match self {
            Self::Allowed => Ok(()),
            Self::Local | Self::Paired if visitor.is_here => Ok(()),
            Self::Paired if visitor.phone.is_some() => Ok(()),
            Self::Paired => Err(Wrong::forbidden(
                "this browser is not paired with BoardBridge: run `boardbridge pair` on its computer, and enter the code on \
                 BoardBridge's page here",
            )),
            Self::Local => Err(Wrong::forbidden(
                "only programs on this computer may do that. To let others, set control = \"allowed\" under \
                 [web] in its configuration",
            )),
            Self::Nobody => Err(Wrong::forbidden(
                "control is off: to allow it from this computer, set control = \"local\" under [web] in the configuration",
            )),
        }
    }
}

/// Refuses a visitor who may not change anything, whatever the request says.
pub(super) async fn look(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
    next: Next,
) -> Response {
    match house.control.check(&visitor) {
        Ok(()) => next.run(request).await,
        Err(wrong) => wrong.into_response(),
    }
}
