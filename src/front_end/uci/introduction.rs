//! An engine's answer to `uci`.

/// The lines before `uciok`, including the option `Board`. `name` is the board's, if one is chosen.
pub fn introduction(name: &str, board_option: Option<String>) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = vec![
        format!("id name BoardBridge {version} ({name})"),
        "id author the BoardBridge founders".to_owned(),
    ];
    lines.extend(board_option);
    lines.extend(
        [
            "option name Board ready type button",
            "option name Promotion type combo default queen var queen var rook var bishop var knight",
            "option name UCI_Chess960 type check default false",
            "option name UCI_InfoJSON type check default false",
        ]
        .map(str::to_owned),
    );
    lines
}
