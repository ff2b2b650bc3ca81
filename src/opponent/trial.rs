//! Asks an engine, before it is played against, whether it can be started and set up as configured.

use std::{sync::Arc, time::Duration};

use nix::unistd::geteuid;
use tokio::time::{Instant, timeout_at};

use super::{
    process::Process,
    protocol::{Conversation, Heard},
    settings::EngineSettings,
};
use crate::clock::sleep_until_some;

/// The user `nobody`: who checks a configuration as root does not start an engine as root, as the service does not either.
const NOBODY: u32 = 65534;

/// How long all engines of a configuration may take together: `systemctl reload` checks the configuration first, and gives up
/// after 90 s.
pub const TRIAL_WAIT: Duration = Duration::from_secs(20);

/// What is wrong with an engine, in words; it has until then to answer.
pub async fn problems(settings: &EngineSettings, until: Instant) -> Vec<String> {
    let user = geteuid().is_root().then_some(NOBODY);
    let mut process = match Process::start_as(&settings.program, None, user) {
        Ok(process) => process,
        Err(why) => return vec![why],
    };
    let mut problems = Vec::new();
    if timeout_at(until, ask(settings, &mut process, &mut problems))
        .await
        .is_err()
    {
        problems.push(format!(
            "the engine {} has not answered in time: whether its options are right is not known",
            settings.program
        ));
    }
    process.quit().await;
    problems
}

/// Asks for its options. They are not set: that may take much memory.
async fn ask(settings: &EngineSettings, process: &mut Process, problems: &mut Vec<String>) {
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
                    problems.push(why);
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
            Heard::Option(error) => problems.push(error.to_string()),
            Heard::Fault(fault) => problems.push(fault.to_string()),
            Heard::Name(_) | Heard::Moved(_) => {}
        }
    }
}
