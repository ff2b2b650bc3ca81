//! The name by which this machine's address is asked for. It is a name of our own: if a second program answered for the
//! machine's name, the system's own (Avahi, macOS) would rename the machine.

use crate::system::this_machine;

/// The first label of the name: `boardbridge-1a2b`.
pub fn label() -> String {
    format!("boardbridge-{:04x}", this_machine::number() >> 16)
}

/// This machine's number, by which a daemon is known again when its name changes.
#[cfg(target_os = "linux")]
pub(super) fn id() -> String {
    format!("{:08x}", this_machine::number())
}

/// Whether this is the name of this machine, also after another machine had it first: then it ends with `-2` or more.
pub fn is_own(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let rest = host.strip_suffix(".local");
    let rest = rest.and_then(|host| host.strip_prefix(&label()));
    rest.is_some_and(|rest| {
        let number = rest.strip_prefix('-');
        rest.is_empty() || number.is_some_and(|number| number.parse::<u8>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_name_is_known_also_after_a_conflict() {
        let label = label();
        for own in ["", "-2", "-12"] {
            assert!(is_own(&format!("{label}{own}.local")), "{own}");
        }
        assert!(is_own(&format!("{}.LOCAL", label.to_uppercase())));
        for other in [
            "-x.local",
            "-.local",
            ".example",
            "",
            "0.local",
            "-2.local.example",
        ] {
            assert!(!is_own(&format!("{label}{other}")), "{other}");
        }
        assert!(!is_own("pi.local"));
    }
}
