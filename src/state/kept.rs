//! The value under one key, and its past, which only grows.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write as _},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// Entries of a past in one chunk; fewer than twice as many are in the value itself. So few that a value stays on its page of
/// the database, so many that a page for a chunk is seldom written.
pub(super) const CHUNK: usize = 16;

/// The value under one key, or a change of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// The value; `None` if it is removed.
    pub value: Option<String>,
    /// The chunks of its past, by number. Chunks beyond those that the value counts are obsolete.
    pub past: BTreeMap<u32, String>,
}

impl Kept {
    /// Applies a later change.
    pub fn change(&mut self, later: Self) {
        self.value = later.value;
        if self.value.is_none() {
            self.past.clear();
        }
        self.past.extend(later.past);
    }

    /// The value with its whole past; `None` if a chunk is missing. A value without a past is as it is.
    pub fn whole(self) -> Option<String> {
        let mut value = self.value?;
        let Ok(mut long) = serde_json::from_str::<Long<serde_json::Value>>(&value) else {
            return Some(value);
        };
        if long.chunks > 0 {
            let chunks = (0..long.chunks).map(|chunk| self.past.get(&chunk).map(String::as_str));
            let mut words: Vec<&str> = chunks.collect::<Option<_>>()?;
            words.push(&long.past);
            long.past = words.join(" ");
            long.chunks = 0;
            value = serde_json::to_string(&long).ok()?;
        }
        Some(value)
    }
}

/// A value with a past that only grows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Long<V> {
    /// The number of chunks of the past that are stored separately.
    #[serde(default)]
    chunks: u32,
    /// The entries after them: one word each.
    past: String,
    /// All but the past.
    pub rest: V,
}

impl<V> Long<V> {
    /// A value that is kept as a whole.
    pub fn new<P: Display>(past: &[P], rest: V) -> Self {
        Self {
            chunks: 0,
            past: words(past),
            rest,
        }
    }

    /// The past.
    ///
    /// # Errors
    /// A word that is not an entry.
    pub fn past<P: FromStr>(&self) -> Result<Vec<P>, P::Err> {
        self.past.split_whitespace().map(str::parse).collect()
    }
}

/// A past as it was last written, so that only new entries are made into text.
#[derive(Debug)]
pub struct Past<P> {
    entries: Vec<P>,
    /// How many of them are in chunks.
    in_chunks: usize,
    /// The words of the others.
    words: String,
    /// Where each of these words ends.
    ends: Vec<usize>,
}

impl<P> Default for Past<P> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            in_chunks: 0,
            words: String::new(),
            ends: Vec::new(),
        }
    }
}

impl<P: Copy + PartialEq + Display> Past<P> {
    /// The value to write if this is its past now, and the chunks to write with it.
    pub(super) fn divide<V>(&mut self, past: &[P], rest: V) -> (Long<V>, BTreeMap<u32, String>) {
        let same = self.entries.iter().zip(past).take_while(|(a, b)| a == b);
        self.cut(same.count());
        for entry in &past[self.entries.len()..] {
            self.push(*entry);
        }
        let mut chunks = BTreeMap::new();
        while self.ends.len() >= 2 * CHUNK {
            chunks.insert(number(self.in_chunks / CHUNK), self.take_chunk());
        }
        let long = Long {
            chunks: number(self.in_chunks / CHUNK),
            past: self.words.clone(),
            rest,
        };
        (long, chunks)
    }

    /// Forgets all after this many entries; if these end within a chunk, all after the last whole chunk.
    fn cut(&mut self, same: usize) {
        if same < self.in_chunks {
            self.in_chunks = same / CHUNK * CHUNK;
            self.ends.clear();
            self.entries.truncate(self.in_chunks);
        } else {
            self.ends.truncate(same - self.in_chunks);
            self.entries.truncate(same);
        }
        self.words.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn push(&mut self, entry: P) {
        self.entries.push(entry);
        let blank = if self.words.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = write!(self.words, "{blank}{entry}");
        self.ends.push(self.words.len());
    }

    /// The words of the next chunk, which leave the value.
    fn take_chunk(&mut self) -> String {
        let end = self.ends[CHUNK - 1];
        let chunk = self.words[..end].to_owned();
        // Also drops the blank after it.
        self.words.drain(..=end);
        self.ends.drain(..CHUNK);
        self.ends.iter_mut().for_each(|at| *at -= end + 1);
        self.in_chunks += CHUNK;
        chunk
    }
}

/// For `#[serde(skip_serializing_if = "is_default")]`: a field with its usual value takes no room on its page.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn number(chunks: usize) -> u32 {
    u32::try_from(chunks).unwrap_or(u32::MAX)
}

fn words<P: Display>(past: &[P]) -> String {
    let words: Vec<String> = past.iter().map(P::to_string).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the database then holds, read again: the past and the rest.
    fn read(kept: &Kept) -> (Vec<u32>, u32) {
        let whole = kept.clone().whole().unwrap();
        let long: Long<u32> = serde_json::from_str(&whole).unwrap();
        (long.past().unwrap(), long.rest)
    }

    #[test]
    fn a_past_that_grows_and_is_cut_is_read_as_it_was_and_each_change_is_small() {
        let (mut past, mut kept) = (Past::default(), Kept::default());
        let mut entries: Vec<u32> = Vec::new();
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..3000 {
            match random.u8(..) {
                // Sometimes a few entries are cut, seldom many, and all when another game begins.
                0..4 => entries.truncate(entries.len().saturating_sub(random.usize(..8))),
                4 => entries.truncate(random.usize(..=entries.len())),
                5 if entries.len() > 400 => entries.clear(),
                _ => entries.push(random.u32(1000..10_000)),
            }
            let (long, chunks) = past.divide(&entries, round);
            let value = serde_json::to_string(&long).unwrap();
            assert!(value.len() < 2 * CHUNK * 5 + 50, "{value}");
            kept.change(Kept {
                value: Some(value),
                past: chunks,
            });
            assert_eq!(read(&kept), (entries.clone(), round));
        }
        assert!(kept.past.len() > 5);
        // A chunk that is missing is noticed.
        kept.past.remove(&0);
        assert_eq!(kept.whole(), None);
    }

    #[test]
    fn a_value_without_a_past_is_read_as_it_is() {
        let text = r#"{"rest":1,"past":["of another kind"]}"#;
        let kept = Kept {
            value: Some(text.to_owned()),
            ..Kept::default()
        };
        assert_eq!(kept.whole().as_deref(), Some(text));
    }
}
