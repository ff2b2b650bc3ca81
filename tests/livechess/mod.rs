//! Boards for pages that speak `LiveChess`.

mod page;
mod session;
