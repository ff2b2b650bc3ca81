//! `SQLite`'s write-ahead log, as far as it tells how much was written (<https://sqlite.org/fileformat2.html#walformat>).
//! `SQLite` itself ends a damaged log at its last whole commit, without a word.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// Bytes of the log's header.
const HEADER: usize = 32;
/// Bytes of a frame's header; a page follows.
const FRAME: usize = 24;
/// The first 31 bits of every log.
const MAGIC: u32 = 0x377f_0682;

/// What stands in a log. The file is longer: frames that are no longer needed are overwritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    salts: [u32; 2],
    /// Bytes up to the end of the last frame.
    pub bytes: u64,
    /// Frames, up to the last one that ends a commit.
    pub committed: u32,
    frames: u32,
}

/// Big-endian words.
fn words<const COUNT: usize>(bytes: &[u8]) -> [u32; COUNT] {
    let mut words = [0; COUNT];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    words
}

/// Whether a header's checksum is right.
fn is_sound(header: &[u8; HEADER]) -> bool {
    let [magic, .., first, second] = words::<8>(header);
    let order = |word: u32| {
        if magic & 1 == 0 {
            word.swap_bytes()
        } else {
            word
        }
    };
    let mut sum = [0_u32; 2];
    for pair in words::<6>(header).chunks_exact(2) {
        sum[0] = sum[0].wrapping_add(order(pair[0])).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(order(pair[1])).wrapping_add(sum[0]);
    }
    magic & !1 == MAGIC && sum == [first, second]
}

/// Reads on after what is known.
///
/// # Errors
/// The file cannot be read, or its header is damaged. A log that is missing or empty has nothing.
pub(super) fn read(log: &Path, known: Written) -> io::Result<Written> {
    let mut file = match File::open(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Written::default()),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    if length < (HEADER + FRAME) as u64 {
        return Ok(Written::default());
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    if !is_sound(&header) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a damaged header",
        ));
    }
    let [_, _, page, _, salts @ .., _, _] = words::<8>(&header);
    let mut written = if known.salts == salts {
        known
    } else {
        Written {
            salts,
            bytes: HEADER as u64,
            ..Written::default()
        }
    };
    let size = u64::from(page) + FRAME as u64;
    while written.bytes + size <= length {
        let mut frame = [0; FRAME];
        file.seek(SeekFrom::Start(written.bytes))?;
        file.read_exact(&mut frame)?;
        let [_, commit, its @ .., _, _] = words::<6>(&frame);
        if its != salts {
            break;
        }
        written.bytes += size;
        written.frames += 1;
        if commit > 0 {
            written.committed = written.frames;
        }
    }
    Ok(written)
}
