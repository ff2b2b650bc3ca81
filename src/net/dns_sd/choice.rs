//! Which daemon is meant by a command that names none.

use super::browse::Found;

/// The daemon that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one of this machine.
    Here,
    /// The only one on the network.
    Only(Found),
    /// That is for the user to say.
    Several(Vec<Found>),
    /// There is none.
    Nobody,
}

impl Choice {
    /// This machine's, if it answers; else the only one that was found.
    pub fn of(here: bool, look: impl FnOnce() -> Vec<Found>) -> Self {
        if here {
            return Self::Here;
        }
        let mut found = look();
        match (found.pop(), found.is_empty()) {
            (None, _) => Self::Nobody,
            (Some(only), true) => Self::Only(only),
            (Some(last), false) => {
                found.push(last);
                Self::Several(found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Found {
        Found {
            name: name.to_owned(),
            addresses: vec!["192.168.1.7:9670".parse().unwrap()],
        }
    }

    #[test]
    fn this_machine_comes_first_then_the_only_one_and_of_several_none() {
        let looked = || -> Vec<Found> { unimplemented!("nobody looks when this machine answers") };
        assert_eq!(Choice::of(true, looked), Choice::Here);
        let one = || vec![found("pi")];
        assert_eq!(Choice::of(false, one), Choice::Only(found("pi")));
        let two = || vec![found("hall"), found("pi")];
        assert_eq!(
            Choice::of(false, two),
            Choice::Several(vec![found("hall"), found("pi")])
        );
        assert_eq!(Choice::of(false, Vec::new), Choice::Nobody);
    }
}
