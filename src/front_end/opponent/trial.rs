//! Asks an engine, before it is played against, whether it can be started and set up as configured.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{
    process::Process,
    settings::EngineSettings,
    uci::{Conversation, Fault, Heard},
};
use crate::system::sleep::sleep_until_some;

/// How long all engines of a configuration may take together: `systemctl reload` checks the configuration first, and gives up
/// after 90 s.
pub const TRIAL_WAIT: Duration = Duration::from_secs(20);

/// What was found out about an engine, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It cannot be played against.
    Fails(String),
    /// It can be played against, or perhaps; the player should know this.
    Told(String),
}

/// Tries an engine, which has to answer by `until`; returns what the player should know.
pub async fn findings(settings: &EngineSettings, until: Instant) -> Vec<Finding> {
    let mut process = match Process::start(&settings.program, None) {
        Ok(process) => process,
        Err(why) => return vec![Finding::Fails(why)],
    };
    let mut findings = Vec::new();
    if timeout_at(until, ask(settings, &mut process, &mut findings))
        .await
        .is_err()
    {
        findings.push(Finding::Told(format!(
            "the engine {} has not answered in time: whether its options are right is not known",
            settings.program
        )));
    }
    process.quit().await;
    findings
}

/// Asks for its options. They are not set: that may take much memory.
async fn ask(settings: &EngineSettings, process: &mut Process, findings: &mut Vec<Finding>) {
    let now = || Instant::now().into_std();
    let mut conversation = Conversation::new(now(), Arc::new(settings.clone()));
    while let Some(line) = conversation.poll_line() {
        process.write(&line);
    }
    while conversation.greets() {
        tokio::select! {
            line = process.next_line() => match line {
                Ok(line) => conversation.line(now(), &line),
                Err(why) => {
                    let why = Fault::Ended(why).told(process.last_words());
                    findings.push(Finding::Fails(why));
                    return;
                }
            },
            () = sleep_until_some(conversation.deadline().map(Instant::from_std)) => {
                conversation.timeout(now());
            }
        }
    }
    while let Some(heard) = conversation.poll_heard() {
        match heard {
            Heard::Option(error) => findings.push(Finding::Told(error.to_string())),
            Heard::Fault(fault) => {
                let why = fault.told(process.last_words());
                findings.push(Finding::Fails(why));
            }
            Heard::Name(_) | Heard::Moved(..) => {}
        }
    }
}
