//! Whether what the app was sent has arrived: this machine's kernel or Bluetooth is asked, where it can tell.

use std::future::pending;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{
    connection::{AskReceipt, Receipt},
    session::{ACK_SOON, ACK_WAIT},
};

/// The question about one connection. See the module documentation.
#[derive(Default)]
pub(super) struct Delivery {
    asks_at: Option<Instant>,
    /// The pending answer. It is about the bytes sent before the question.
    asked: Option<BoxFuture<'static, Option<Receipt>>>,
    missing: bool,
}

impl Delivery {
    /// The link has taken a message.
    pub fn sent(&mut self, now: Instant) {
        self.asked = None;
        let soon = now + ACK_SOON;
        self.asks_at = Some(self.asks_at.map_or(soon, |at| at.min(soon)));
    }

    /// Everything that was sent has arrived, or no longer matters.
    pub fn settled(&mut self) {
        *self = Self::default();
    }

    /// When to [ask](Self::ask).
    pub fn asks_at(&self) -> Option<Instant> {
        self.asks_at
    }

    /// Asks the link, if it can tell.
    pub fn ask(&mut self, link: Option<&AskReceipt>) {
        self.asks_at = None;
        self.asked = link.map(|ask| ask());
    }

    /// Waits for the answer to the pending question.
    pub async fn answer(&mut self) -> Option<Receipt> {
        match &mut self.asked {
            Some(asked) => asked.await,
            None => pending().await,
        }
    }

    /// The question was answered, if the link can tell.
    pub fn answered(&mut self, now: Instant, receipt: Option<Receipt>) {
        self.asked = None;
        self.missing = receipt == Some(Receipt::Missing);
        self.asks_at = Some(now + ACK_WAIT);
    }

    /// The last answer was that something had not been taken.
    pub fn is_missing(&self) -> bool {
        self.missing
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_sent_after_an_answer_of_the_app_has_its_own_time_to_arrive() {
        let begin = Instant::now();
        let mut delivery = Delivery::default();
        delivery.sent(begin);
        delivery.settled();
        let later = begin + ACK_SOON - Duration::from_millis(10);
        delivery.sent(later);
        assert_eq!(delivery.asks_at(), Some(later + ACK_SOON));
    }

    #[test]
    fn that_something_had_not_arrived_is_not_said_of_what_is_sent_after_it_has() {
        let now = Instant::now();
        let mut delivery = Delivery::default();
        delivery.sent(now);
        delivery.ask(None);
        delivery.answered(now, Some(Receipt::Missing));
        assert!(delivery.is_missing());
        delivery.settled();
        delivery.sent(now);
        assert!(!delivery.is_missing());
    }
}
