//! Boards on a broker: Debian's mosquitto, started by the tests themselves. Where it is not installed they are skipped, and say so.

mod as_here;
mod discovery;
mod games;
mod guarded;
mod leaving;
mod mosquitto;
mod remote;
mod unfriendly;
