//! Tests that compute beside tests that wait for boards.

use rustix::process::setpriority_process;

/// With this nice value the kernel gives a thread a third of what it gives others: enough to end on a busy machine, too.
const NICE: i32 = 5;

/// This thread computes, on a clock of its own if any: whatever waits for a board goes first, for a board loses what comes late.
pub fn gives_way() {
    // Linux means the thread where POSIX means the process. Without it the test is only less polite.
    let _ = setpriority_process(None, NICE);
}
