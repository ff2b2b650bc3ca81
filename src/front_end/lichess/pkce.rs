//! Secrets of a login, and what is shown of them (RFC 7636, PKCE).

use ring::{
    digest::{SHA256, digest},
    error::Unspecified,
    rand::{SecureRandom as _, SystemRandom},
};

/// Random bytes of a verifier: 64 characters. The RFC has 43 to 128.
const VERIFIER: usize = 48;
/// Random bytes of a login's state, and of a browser's secret: 32 characters.
const SECRET: usize = 24;
/// The characters of base64 in addresses.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The secret that proves to the server, at the exchange, that it was this program that began the login.
///
/// # Errors
/// The system has no random numbers.
pub fn verifier() -> Result<String, Unspecified> {
    random::<VERIFIER>()
}

/// A secret that no one guesses.
///
/// # Errors
/// The system has no random numbers.
pub fn secret() -> Result<String, Unspecified> {
    random::<SECRET>()
}

/// What the server is shown of a verifier before.
pub fn challenge(verifier: &str) -> String {
    base64url(digest(&SHA256, verifier.as_bytes()).as_ref())
}

fn random<const BYTES: usize>() -> Result<String, Unspecified> {
    let mut bytes = [0; BYTES];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(base64url(&bytes))
}

/// Base64 for addresses, without `=` at the end.
fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        // Six bits a character; a rest of one byte has two, of two bytes three.
        for place in 0..=three.len() {
            let six = (bits >> (18 - 6 * place)) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_that_of_the_rfc() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let wanted = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(challenge(verifier), wanted);
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v")] {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn secrets_are_long_and_never_the_same() {
        assert_eq!(verifier().unwrap().len(), 64);
        assert_eq!(secret().unwrap().len(), 32);
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}
