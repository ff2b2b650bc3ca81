//! What keeps the app from connecting.

use std::{fmt::Display, sync::Arc};

use tokio::sync::watch;

/// What keeps the app from connecting this way, and what to do. The transport sets it, the front-end shows it.
#[derive(Clone, Debug, Default)]
pub struct Availability(watch::Sender<Option<Arc<str>>>);

impl Availability {
    /// Sets the problem; returns whether it is a new one.
    pub fn is(&self, why: impl Display) -> bool {
        self.becomes(Some(why.to_string().into()))
    }

    /// Clears the problem.
    pub fn is_over(&self) {
        self.becomes(None);
    }

    /// The current problem, to wait for changes.
    pub fn subscribe(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.0.subscribe()
    }

    fn becomes(&self, new: Option<Arc<str>>) -> bool {
        self.0.send_if_modified(|now| {
            let changes = *now != new;
            *now = new;
            changes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_twice_is_told_once_until_it_was_over() {
        let availability = Availability::default();
        let mut shown = availability.subscribe();
        availability.is_over();
        assert!(!shown.has_changed().unwrap());
        assert!(availability.is("no port"));
        assert!(!availability.is("no port"));
        assert_eq!(shown.borrow_and_update().as_deref(), Some("no port"));
        availability.is_over();
        assert_eq!(shown.borrow_and_update().as_deref(), None);
        assert!(availability.is("no port"));
    }
}
