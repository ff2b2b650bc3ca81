//! Random histories.

use proptest::{prelude::ProptestConfig, test_runner::RngSeed};

/// The number of histories, the same ones each time; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` explore others.
pub fn histories(usual: u32) -> ProptestConfig {
    let given = |name| std::env::var(name).ok();
    let cases = given("PROPTEST_CASES").and_then(|n| n.parse().ok());
    let seed = given("PROPTEST_RNG_SEED").and_then(|seed| seed.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(usual),
        max_shrink_iters: 2000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed.unwrap_or(64)),
        ..ProptestConfig::default()
    }
}
