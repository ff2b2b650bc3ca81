//! Who may change something through the API.

use serde::{Deserialize, Serialize};

use super::{Visitor, Wrong};

/// Who may change something through the API; whoever may connect may look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Programs on this machine.
    #[default]
    Local,
    /// Whoever may connect.
    Allowed,
    /// No one.
    Nobody,
}

impl Control {
    /// Refuses a visitor who may only look.
    pub(super) fn check(self, visitor: &Visitor) -> Result<(), Wrong> {
        match self {
            Self::Allowed => Ok(()),
            Self::Local if visitor.is_here => Ok(()),
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
