//! Reads `SQLite`'s write-ahead log to find how much it contained (<https://sqlite.org/fileformat2.html#walformat>).
//! `SQLite` itself silently ends a damaged log at its last whole commit.

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

/// The header of a log and the length of its file; `None` if it is empty.
fn open(log: &Path) -> io::Result<Option<(File, [u8; HEADER], u64)>> {
    let mut file = match File::open(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    if length < (HEADER + FRAME) as u64 {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    if is_sound(&header) {
        Ok(Some((file, header, length)))
    } else {
        let damaged = "a damaged header";
        Err(io::Error::new(io::ErrorKind::InvalidData, damaged))
    }
}

/// The salts of the frame that begins at this byte, and whether it ends a commit.
fn frame(file: &mut File, at: u64) -> io::Result<([u32; 2], bool)> {
    let mut frame = [0; FRAME];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut frame)?;
    let [_, commit, first, second, _, _] = words::<6>(&frame);
    Ok(([first, second], commit > 0))
}

/// How many frames the log has up to the end of its second-to-last commit, even behind damage. The last commit may be one that
/// a kill has cut off.
///
/// # Errors
/// The file cannot be read, or its header is damaged. A log that is missing or empty has none.
pub(super) fn commits(log: &Path) -> io::Result<u32> {
    let Some((mut file, header, length)) = open(log)? else {
        return Ok(0);
    };
    let [_, _, page, _, salts @ .., _, _] = words::<8>(&header);
    let size = u64::from(page) + FRAME as u64;
    let (mut last, mut before) = (0, 0);
    for (number, at) in (HEADER as u64..)
        .step_by(usize::try_from(size).unwrap_or(usize::MAX))
        .take_while(|at| at + size <= length)
        .enumerate()
    {
        if frame(&mut file, at)? == (salts, true) {
            before = last;
            last = u32::try_from(number + 1).unwrap_or(u32::MAX);
        }
    }
    Ok(before)
}
