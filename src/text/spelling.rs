//! Finds what a mistyped word may mean.

/// The least similarity (Jaro-Winkler, 0 to 1) of a word to the one that was meant: that of `usi` and `uci` is a little higher.
const LIKE: f64 = 0.77;

/// The known words that contain this one, else the most similar one, else those that share a part with it.
pub fn like<'k>(name: &str, known: &[&'k str]) -> Vec<&'k str> {
    let name = name.to_ascii_lowercase().replace([' ', '_'], "-");
    let parts = |word: &str| -> Vec<String> {
        let word = word.replace('_', "-");
        word.split('-').map(str::to_owned).collect()
    };
    let mine = parts(&name);
    let whole = |key: &&&str| {
        parts(key)
            .windows(mine.len())
            .any(|parts| *parts == mine[..])
    };
    let found: Vec<&str> = known.iter().filter(whole).copied().collect();
    if !found.is_empty() {
        return found;
    }
    let measured = known
        .iter()
        .map(|key| (strsim::jaro_winkler(&name, &parts(key).join("-")), *key));
    let near = measured
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    if let Some((_, key)) = near {
        return vec![key];
    }
    let shares = |key: &&&str| parts(key).iter().any(|part| mine.contains(part));
    known.iter().filter(shares).copied().collect()
}
