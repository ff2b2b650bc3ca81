//! The ports that a daemon listens at unless the configuration says otherwise.

/// UCI, with every board.
pub const DEFAULT_UCI: &str = "127.0.0.1:9670";
/// The event stream.
pub const DEFAULT_STATUS: &str = "127.0.0.1:9680";
/// `LiveChess`, where pages look for it.
pub const DEFAULT_LIVECHESS: &str = "127.0.0.1:1982";
/// The API.
pub const DEFAULT_WEB: &str = "127.0.0.1:9660";
/// The same where phones are paired: they have to reach it.
pub const DEFAULT_WEB_OF_PHONES: &str = "0.0.0.0:9660";
