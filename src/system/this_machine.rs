//! What this machine is called, and a number that is its own.

use std::{collections::hash_map::RandomState, fs, hash::BuildHasher as _, sync::OnceLock};

/// A random number of this installation (`machine-id(5)`), which must not be shown as it is.
const MACHINE_ID: &str = "/etc/machine-id";
/// FNV-1a, 32 bits: its start and its factor (draft-eastlake-fnv). It is the same in every version of this program.
const START: u32 = 0x811c_9dc5;
const FACTOR: u32 = 0x0100_0193;

/// This machine's name, if it has one.
#[cfg(target_os = "linux")]
pub fn name() -> Option<String> {
    let name = nix::unistd::gethostname().ok()?.into_string().ok()?;
    Some(name).filter(|name| !name.is_empty())
}

/// This machine's name, which nothing needs here.
#[cfg(not(target_os = "linux"))]
pub fn name() -> Option<String> {
    None
}

/// A number that stays this machine's: 32 bits made of its 128, of which they say no more. Without them it lasts until the
/// program ends.
pub fn number() -> u32 {
    static NUMBER: OnceLock<u32> = OnceLock::new();
    *NUMBER.get_or_init(|| match fs::read(MACHINE_ID) {
        Ok(id) if !id.trim_ascii().is_empty() => of_id(id.trim_ascii()),
        _ => of_id(&RandomState::new().hash_one(()).to_le_bytes()),
    })
}

fn of_id(id: &[u8]) -> u32 {
    let own = b"boardbridge ".iter().chain(id);
    own.fold(START, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(FACTOR)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_keeps_its_number_and_others_have_others() {
        let one = of_id(b"0123456789abcdef0123456789abcdef");
        assert_eq!(one, of_id(b"0123456789abcdef0123456789abcdef"));
        assert_ne!(one, of_id(b"fedcba9876543210fedcba9876543210"));
        assert_eq!(number(), number());
    }
}
