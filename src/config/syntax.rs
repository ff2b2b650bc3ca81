//! Mistakes of TOML itself. A parser stops at the first: here each is reported, and the readable rest is still read.

use toml_edit::{ImDocument, Key, Value};

use super::{
    document::{Document, line_at},
    error::{MAX_MISTAKES, shown},
};

/// The parser's message for a key or a table that appears twice.
const TWICE: &str = "duplicate key";

/// What could be read of a text.
pub(super) struct Mended {
    /// The text without its unreadable parts, with the same line numbers; `None` if what is left out would count as missing and
    /// so cause mistakes of its own.
    pub document: Option<Document>,
    /// The lines with mistakes, from 1, and the problems.
    pub mistakes: Vec<(usize, String)>,
}

/// Finds what is wrong, line by line.
pub(super) fn mend(text: &str) -> Mended {
    let mut text = text.to_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut mistakes = Vec::new();
    let mut judged = true;
    let mut tries = 0;
    let document = loop {
        let error = match Document::parse(text.clone()) {
            Ok(document) => break Some(document),
            Err(error) => error,
        };
        let before = error.span().map_or(0, |span| span.start);
        let index = line_at(text.as_bytes(), before) - 1;
        let index = index.min(lines.len().saturating_sub(1));
        let message = error.message().trim().replace('\n', ", ");
        let twice = message.contains(TWICE);
        let message = if twice {
            first_of(&lines, index).unwrap_or_else(|| format!("{message}: keep one of them"))
        } else {
            format!("this is not TOML: {message}")
        };
        let line = lines.get(index).filter(|_| tries < MAX_MISTAKES);
        tries += 1;
        if line.is_some_and(|line| quoted_name(line).is_some()) {
            // The names themselves are checked later, with their own messages.
            for line in &mut lines {
                *line = quoted_name(line).unwrap_or(std::mem::take(line));
            }
        } else if let Some((joined, count)) = line.and_then(|_| joined(&lines[index..])) {
            let problem = format!("this is not TOML: braces stay on one line: write {joined}");
            mistakes.push((index + 1, problem));
            lines[index..index + count].fill(String::new());
            lines[index] = joined;
        } else if let Some((repaired, problem)) = line.and_then(|line| repaired(line)) {
            mistakes.push((index + 1, problem));
            lines[index] = repaired;
        } else if line.is_some_and(|line| twice && is_head(line)) {
            // The second may contain what the first one lacks.
            mistakes.push((index + 1, message));
            judged = false;
            lines[index] = format!("[\"again in line {}\"]", index + 1);
        } else if line.is_some_and(|line| line.contains('=') && (twice || !is_toml(line))) {
            // A mistake after another line may be caused by that line.
            mistakes.push((index + 1, message));
            judged &= twice;
            lines[index].clear();
        } else {
            mistakes.push((index + 1, message));
            break None;
        }
        text = lines.join("\n");
    };
    Mended {
        document: document.filter(|_| judged),
        mistakes,
    }
}

fn is_head(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

/// The names in the head of a table, however they are written, and whether it is repeatable.
fn names(line: &str) -> Option<(bool, Vec<String>)> {
    let head = line.trim_start().strip_prefix('[')?;
    let (is_list, head) = head
        .strip_prefix('[')
        .map_or((false, head), |head| (true, head));
    let (head, _) = head.split_once(']')?;
    let keys = Key::parse(head).ok()?;
    Some((
        is_list,
        keys.iter().map(|key| key.get().to_owned()).collect(),
    ))
}

/// The first line with the same table or key, and what to do.
fn first_of(lines: &[String], index: usize) -> Option<String> {
    let key = |line: &str| Some(line.split_once('=')?.0.trim().to_owned());
    let line = lines.get(index)?;
    let before = &lines[..index];
    if is_head(line) {
        let name = names(line)?;
        let same = |line: &String| names(line).as_ref() == Some(&name);
        let first = before.iter().position(same)? + 1;
        let (wanted, _) = line.split_once(']')?;
        return Some(format!(
            "{}] is in line {first} already: move what stands here up there, and delete this line",
            wanted.trim()
        ));
    }
    let wanted = key(line)?;
    let same = |line: &String| key(line).as_ref() == Some(&wanted);
    let table = before.iter().rposition(|line| is_head(line)).unwrap_or(0);
    let first = table + before[table..].iter().position(same)? + 1;
    Some(format!(
        "`{wanted}` is in line {first} already: change that line, and delete this one"
    ))
}

/// Whether a line is valid by itself.
fn is_toml(line: &str) -> bool {
    ImDocument::parse(line).is_ok()
}

/// Puts quotes around the name in `[boards.my board]`, if it lacks them.
fn quoted_name(line: &str) -> Option<String> {
    let head = line.trim_start().strip_prefix("[boards.")?;
    let (name, rest) = head.split_once(']')?;
    let behind = rest.trim_start();
    let fits = behind.is_empty() || behind.starts_with('#');
    let text = format!("[boards.{}]{rest}", Value::from(name.trim()));
    (fits && !name.contains(['"', '\'']) && !is_toml(line) && is_toml(&text)).then_some(text)
}

/// Mends a line, if it needs that.
type Step = fn(&str) -> String;

/// The repairs that may make a line TOML, in order, each with the mistake that it repairs.
const STEPS: [(Step, &str); 6] = [
    (spaces, "there is a no-break space in it"),
    (straight, "text needs straight quotes"),
    (closed, "a bracket or brace is missing"),
    (quoted, "text needs quotes"),
    (ended, "a quote is missing"),
    (single, "a backslash needs 'single quotes'"),
];
/// Characters that web pages and word processors use as spaces.
const SPACES: [char; 6] = [
    '\u{a0}', '\u{202f}', '\u{2007}', '\u{2009}', '\u{3000}', '\u{feff}',
];
/// Characters that they use as quotes.
const QUOTES: [char; 13] = [
    '“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»', '″', '′', '`',
];
/// What may stand around keys and values.
const BLANKS: [char; 2] = [' ', '\t'];
/// The lines that a table in braces has at most if it was written on several.
const MAX_JOINED: usize = 8;

/// The line as it was meant, and what is wrong with it: the fewest steps that make it TOML.
fn repaired(line: &str) -> Option<(String, String)> {
    if is_toml(line) {
        return None;
    }
    if line.trim_start().starts_with("```") {
        let problem = "this is not TOML: it is the edge of a block of code: delete this line";
        return Some((String::new(), problem.to_owned()));
    }
    let mut choices: Vec<u32> = (1..1 << STEPS.len()).collect();
    choices.sort_by_key(|choice| choice.count_ones());
    choices.into_iter().find_map(|choice| {
        let chosen = |at: &usize| choice & (1 << at) != 0;
        let mut text = line.to_owned();
        let mut wrong = Vec::new();
        for (step, why) in (0..STEPS.len()).filter(chosen).map(|at| STEPS[at]) {
            let done = step(&text);
            // A step without effect belongs to another choice.
            wrong.extend((done != text).then_some(why));
            text = done;
        }
        let needed = wrong.len() == choice.count_ones() as usize;
        if !needed || !is_toml(&text) {
            return None;
        }
        let why = wrong.join(", and ");
        let problem = format!("this is not TOML: {why}: write {}", shown(text.trim()));
        Some((text, problem))
    })
}

fn spaces(line: &str) -> String {
    line.replace(SPACES, " ")
}

fn straight(line: &str) -> String {
    line.replace(QUOTES, "\"")
}

/// Adds the bracket of a header, or the brace of a table, that is missing.
fn closed(line: &str) -> String {
    let (content, comment) = parts(line);
    let text = content.trim();
    let text = if text.starts_with('[') {
        let name = text.trim_matches(['[', ']', ' ']);
        if text.starts_with("[[") || text.ends_with("]]") {
            format!("[[{name}]]")
        } else {
            format!("[{name}]")
        }
    } else if let (Some((key, value)), false, true) = (
        text.split_once('='),
        text.contains('{'),
        text.ends_with('}'),
    ) {
        format!("{} = {{ {}", key.trim(), value.trim())
    } else if text.contains('{') && !text.ends_with('}') {
        format!("{text} }}")
    } else {
        return line.to_owned();
    };
    format!("{text} {comment}").trim_end().to_owned()
}

/// Closes the text that a line ends in.
fn ended(line: &str) -> String {
    let text = line.trim_end();
    if text.matches('"').count().is_multiple_of(2) {
        return line.to_owned();
    }
    let inside = text.trim_end_matches([' ', '}', ']']);
    format!("{inside}\"{}", &text[inside.len()..])
}

/// In straight quotes a backslash stands for something else.
fn single(line: &str) -> String {
    if line.contains('\\') {
        line.replace('"', "'")
    } else {
        line.to_owned()
    }
}

/// Puts quotes around values that lack them, also in braces.
fn quoted(line: &str) -> String {
    let (content, _) = parts(line);
    let Some((key, value)) = content.split_once('=') else {
        return line.to_owned();
    };
    let (key, value) = (key.trim_matches(BLANKS), value.trim_matches(BLANKS));
    format!("{key} = {}", with_quotes(value))
}

fn with_quotes(value: &str) -> String {
    if let Some(inside) = value.strip_prefix('{').and_then(|v| v.strip_suffix('}')) {
        let entry = |entry: &str| match entry.split_once('=') {
            Some(_) => quoted(entry),
            None => entry.to_owned(),
        };
        let entries: Vec<String> = inside.split(',').map(entry).collect();
        return format!("{{ {} }}", entries.join(", "));
    }
    let strange = value.is_empty()
        || value.contains(['"', '\'', '[', '{', ']', '}'])
        || value.contains(QUOTES);
    if strange || is_toml(&format!("key = {value}")) {
        value.to_owned()
    } else {
        Value::from(value).to_string()
    }
}

/// A line before its comment, and the comment.
fn parts(line: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (c, quote) {
            ('#', None) => return line.split_at(at),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    (line, "")
}

/// A table in braces that was written on several lines, on one, and how many there are.
fn joined(lines: &[String]) -> Option<(String, usize)> {
    if !lines.first()?.trim_end().ends_with('{') {
        return None;
    }
    let last = lines
        .iter()
        .take(MAX_JOINED)
        .position(|line| line.trim() == "}")?;
    let inside = lines[1..last].iter();
    let inside: Vec<&str> = inside
        .map(|line| line.trim().trim_end_matches(','))
        .collect();
    let text = format!("{} {} }}", lines[0].trim(), inside.join(", "));
    is_toml(&text).then_some((text, last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_toml_are_all_named_and_the_rest_is_read() {
        let text = "[boards.my board]   # the old one\nkind = swpp # yes\n\n[uci]\nlisten = off\nlisten = \"off\"\n";
        let mended = mend(text);
        let lines: Vec<usize> = mended.mistakes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 5, 6]);
        assert!(mended.mistakes[0].1.contains("\"swpp\""));
        assert_eq!(
            mended.document.unwrap().text(),
            "[boards.\"my board\"]   # the old one\nkind = \"swpp\"\n\n[uci]\nlisten = \"off\"\n"
        );
    }

    #[test]
    fn what_stands_there_twice_is_found_the_first_time() {
        let text = "[games]\nlisten = 1\n[uci]\nlisten = \"off\"\nlisten = \"x\"\n[ games ]\n[games]\na = 1\n";
        let mended = mend(text);
        let told: Vec<_> = mended
            .mistakes
            .iter()
            .map(|(_, told)| told.as_str())
            .collect();
        assert!(
            told[0].contains("`listen` is in line 4 already"),
            "{told:?}"
        );
        let mended = mend("[uci]\nlisten = \"off\"\n[games]\n[uci]\n");
        let (line, told) = &mended.mistakes[0];
        assert!(
            *line == 4 && told.contains("[uci] is in line 1 already"),
            "{told}"
        );
    }

    #[test]
    fn a_table_that_is_there_twice_is_found_however_its_head_is_written() {
        for text in ["[uci]\n[ uci ]\n", "[uci]\n['uci'] # again\n"] {
            let (line, told) = &mend(text).mistakes[0];
            let named = told.contains("is in line 1 already");
            assert!(*line == 2 && named, "{told}");
        }
        let told = &mend("uci = { listen = 1 }\n[uci]\n").mistakes[0].1;
        assert!(
            told.ends_with("`uci` in document root: keep one of them"),
            "{told}"
        );
    }

    #[test]
    fn quotes_of_a_printed_text_are_named() {
        let mended = mend("kind = “swpp”\n");
        assert!(
            mended.mistakes[0]
                .1
                .ends_with("straight quotes: write kind = \"swpp\"")
        );
        assert_eq!(mended.document.unwrap().text(), "kind = \"swpp\"");
    }

    #[test]
    fn what_pages_and_phones_make_of_toml_is_told_and_read_as_it_was_meant() {
        let serial = "serial = { port = \"/dev/ttyUSB0\" }";
        for (line, why, right) in [
            (
                "serial = { port = “/dev/ttyUSB0” }",
                "straight quotes",
                serial,
            ),
            ("serial = { port = /dev/ttyUSB0 }", "needs quotes", serial),
            (
                "serial = { port = \"/dev/ttyUSB0\"",
                "brace is missing",
                serial,
            ),
            (
                "serial = port = \"/dev/ttyUSB0\" }",
                "brace is missing",
                serial,
            ),
            (
                "serial\u{a0}= { port = „/dev/ttyUSB0“",
                "no-break space in it, and text needs straight quotes, and a bracket or brace",
                serial,
            ),
            (
                "tcp = { listen = 0.0.0.0:9690, allow = \"private\" # all",
                "missing, and text needs quotes",
                "tcp = { listen = \"0.0.0.0:9690\", allow = \"private\" }",
            ),
            ("[uci", "bracket or brace is missing", "[uci]"),
            ("[[whitepawn] # app", "bracket", "[[whitepawn]] # app"),
            ("[uci]\u{a0}", "no-break space", "[uci] "),
            ("```toml", "block of code: delete", ""),
            (
                "player = \"it’s\"\u{a0}",
                "no-break space in it:",
                "player = \"it’s\" ",
            ),
        ] {
            let (repaired, problem) = repaired(line).expect(line);
            assert_eq!(repaired, right, "{line}");
            assert!(problem.contains(why), "{line}: {problem}");
        }
        for line in ["kind = \"“x”\"", "parking = [8,", "", "# “x”"] {
            assert_eq!(repaired(line), None, "{line}");
        }
    }

    #[test]
    fn braces_on_several_lines_are_put_on_one() {
        let mended = mend("[boards.b]\nserial = {\n  port = \"/x\",\n  baud = 9600\n}\nx = y\n");
        let lines: Vec<usize> = mended.mistakes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 6]);
        assert_eq!(
            mended.document.unwrap().text(),
            "[boards.b]\nserial = { port = \"/x\", baud = 9600 }\n\n\n\nx = \"y\""
        );
    }

    #[test]
    fn what_is_unclear_is_named_and_the_rest_not_judged() {
        for (text, lines) in [
            ("[uci listen\nlisten = \"off\"\n", &[1][..]),
            ("a = \"x\" \"y\"\nb = \"z\" \"w\"\nc = 1\n", &[1, 2]),
            ("parking = [8,\n\n[uci]\nlisten = 3 4\n", &[3]),
            ("[uci]\n[uci]\nx = y\n", &[2, 3]),
            ("[uci]\n[uci]\n[[link]]\n[uci]\n[uci]\n", &[2, 4, 5]),
            // Written in another way.
            ("[uci]\n[ uci ]\n[web]\n[\"web\"] # x\n", &[2, 4]),
            ("uci = { listen = 1 }\n[uci]\n[web]\n[web]\n", &[2, 4]),
            ("[[link]]\n[link]\n[web]\n[web]\n", &[2, 4]),
            ("[a.b]\nc = { d = 1 }\n[a.b.c]\n[web]\n[web]\n", &[3, 5]),
        ] {
            let mended = mend(text);
            let found: Vec<usize> = mended.mistakes.iter().map(|(line, _)| *line).collect();
            assert_eq!(found, lines, "{text}");
            assert!(mended.document.is_none(), "{text}");
        }
    }
}
