//! The parts that a daemon runs, each with the configuration it depends on: a part is started or stopped only when that
//! has changed.

use super::service::Service;
use crate::{
    board::settings::BoardConfig,
    config::{Config, Key},
    front_end::{
        broadcast::settings::BroadcastConfig,
        event_stream::settings::StatusConfig,
        lichess::settings::LichessConfig,
        link::settings::{LinkConfig, With},
        livechess::settings::LiveChessConfig,
        mqtt::settings::{FarBoard, MqttConfig},
        opponent::settings::OpponentConfig,
        pgn::settings::GamesConfig,
        uci::settings::UciConfig,
        web::settings::WebConfig,
        whitepawn::settings::WhitePawnConfig,
    },
    net::door::{Listen, Served},
    vocabulary::BoardName,
};

/// One part of a running daemon.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// A board's task.
    Board(BoardName, Box<BoardConfig>),
    /// The task of another `BoardBridge`'s board.
    FarBoard(BoardName, With),
    /// Saves a board's games.
    Games(BoardName, GamesConfig),
    /// GUIs, for every board.
    Uci(UciConfig),
    /// GUIs, for one board.
    UciFor(BoardName, Served),
    /// The `WhitePawn` app.
    WhitePawn(WhitePawnConfig),
    /// Two boards that play each other.
    Link(LinkConfig),
    /// The other side of a board.
    Opponent(OpponentConfig),
    /// Games on Lichess at this board, and logins for them.
    Lichess(LichessConfig, Option<BoardName>),
    /// The task of a board of another daemon.
    Remote(BoardName, FarBoard),
    /// Boards on a broker.
    Mqtt(MqttConfig),
    /// Running games to a round of a broadcast, from these boards.
    Broadcast(BroadcastConfig, Vec<BoardName>),
    /// The event stream.
    Status(StatusConfig),
    /// The page and the API.
    Web(WebConfig),
    /// Pages such as lichess.org's.
    LiveChess(LiveChessConfig),
}

impl Part {
    /// All parts, in the order in which they are started.
    pub fn all(config: &Config) -> Vec<Self> {
        let boards = config.boards.iter();
        let mut parts: Vec<Self> = boards
            .map(|(name, board)| Self::Board(name.clone(), Box::new(board.alone())))
            .collect();
        let remotes = config.remotes.iter();
        parts.extend(remotes.map(|(name, board)| Self::Remote(name.clone(), board.mqtt.clone())));
        let boards = config.all_boards();
        parts.extend(config.link.iter().filter_map(|entry| {
            let (with, board) = (entry.with.clone()?, entry.boards.first()?);
            Some(Self::FarBoard(board.far(), with))
        }));
        if config.games.folder().is_some() {
            let games =
                |(name, _): (&BoardName, _)| Self::Games(name.clone(), config.games.clone());
            parts.extend(config.all_boards().map(games));
        }
        parts.push(Self::Uci(config.uci.clone()));
        parts.extend(
            boards.filter_map(|(name, served)| Some(Self::UciFor(name.clone(), served?.clone()))),
        );
        parts.extend(config.whitepawn.iter().cloned().map(Self::WhitePawn));
        parts.extend(config.link.iter().cloned().map(Self::Link));
        parts.extend(config.opponent.iter().cloned().map(Self::Opponent));
        let mut lichess = config.lichess.clone().unwrap_or_default();
        // A broadcast without a token of its own pushes with that of the login.
        let mut broadcasts = config.broadcast.iter();
        lichess.broadcasts = broadcasts
            .any(|entry| entry.token_file.is_none() && entry.server() == lichess.server());
        parts.push(Self::Lichess(lichess, config.lichess_board()));
        parts.extend(config.mqtt.iter().cloned().map(Self::Mqtt));
        parts.extend(config.broadcast.iter().map(|entry| {
            let all = config.names();
            Self::Broadcast(entry.clone(), entry.boards(all.iter()))
        }));
        parts.push(Self::Status(config.status.clone()));
        parts.push(Self::Web(config.web.clone()));
        parts.push(Self::LiveChess(config.livechess.clone()));
        parts
    }

    /// The board, if this part is a board's task.
    pub fn board(&self) -> Option<&BoardName> {
        match self {
            Self::Board(name, _) | Self::FarBoard(name, _) | Self::Remote(name, _) => Some(name),
            _ => None,
        }
    }

    /// Whether it plays at this board by itself.
    pub fn plays_at(&self, board: &BoardName) -> bool {
        match self {
            Self::WhitePawn(entry) => entry.board == *board,
            Self::Link(entry) => entry.boards.contains(board),
            Self::Opponent(entry) => entry.board == *board,
            Self::Lichess(_, at) => at.as_ref() == Some(board),
            _ => false,
        }
    }

    /// Whether it keeps a handle of this board for as long as it runs.
    pub fn holds(&self, board: &BoardName) -> bool {
        match self {
            Self::Games(name, _) => name == board,
            Self::Link(entry) if board.is_far() => {
                entry.boards.iter().any(|near| near.far() == *board)
            }
            _ => self.plays_at(board),
        }
    }

    /// Whether one of these parts goes on with its game, so that its clients keep their places at the board.
    pub fn goes_on_in(&self, wanted: &[Self]) -> bool {
        let hand = |entry: &OpponentConfig| entry.engine().map(|(_, hand)| hand);
        wanted.iter().any(|part| match (self, part) {
            (Self::WhitePawn(mine), Self::WhitePawn(other)) => {
                other.board == mine.board && other.way() == mine.way()
            }
            (Self::Link(mine), Self::Link(other)) => {
                let same_boards = other.boards == mine.boards && other.with == mine.with;
                same_boards && other.white() == mine.white()
            }
            (Self::Opponent(mine), Self::Opponent(other)) => {
                other.board == mine.board && hand(other) == hand(mine)
            }
            (Self::Lichess(mine, at), Self::Lichess(other, board)) => {
                board == at && other.server() == mine.server()
            }
            _ => false,
        })
    }

    /// The port it listens at.
    pub fn listens(&self) -> Option<(Service, Listen)> {
        match self {
            Self::Uci(uci) => Some((Service::Uci, uci.listen())),
            Self::UciFor(board, served) => {
                Some((Service::UciFor(board.clone()), served.listen.clone()))
            }
            Self::WhitePawn(entry) => {
                let tcp = entry.tcp.as_ref()?;
                Some((Service::WhitePawn(entry.board.clone()), tcp.listen()))
            }
            Self::Status(status) => Some((Service::Status, status.listen())),
            Self::Web(web) => Some((Service::Web, web.listen())),
            Self::LiveChess(livechess) => Some((Service::LiveChess, livechess.listen())),
            _ => None,
        }
    }

    /// Whether it may do without its port: a default one may be in use by another program; so may one that a press on the page opens,
    /// once the daemon `starts` again.
    pub fn may_lack_port(&self, config: &Config, starts: bool) -> bool {
        match self {
            Self::Uci(uci) => uci.listen.is_none() || starts && !config.says(Key::LISTEN),
            Self::WhitePawn(entry) => {
                starts && entry.tcp.as_ref().is_some_and(|tcp| tcp.listen.is_none())
            }
            Self::Status(status) => status.listen.is_none(),
            Self::Web(web) => web.listen.is_none(),
            Self::LiveChess(livechess) => livechess.listen.is_none(),
            _ => false,
        }
    }
}
