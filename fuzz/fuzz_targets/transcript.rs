//! Any transcript is refused, or replayed without fault; what was read is written the same.
#![no_main]

use boardbridge::{board::transcript::Transcript, cli::replay::replay};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(transcript) = text.parse::<Transcript>() {
        let again: Transcript = transcript
            .to_string()
            .parse()
            .expect("what was written is read");
        assert_eq!(again.to_string(), transcript.to_string());
        // A transcript of years has years of deadlines: keep to an hour.
        let hour = std::time::Duration::from_secs(3600);
        if transcript
            .entries
            .last()
            .is_some_and(|entry| entry.at < hour)
        {
            let _ = replay(&transcript);
        }
    }
});
