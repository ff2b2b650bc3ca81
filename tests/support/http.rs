//! Requests by hand: what is sent and heard is text.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::PATIENCE;

/// The whole answer to a request with `Connection: close`.
///
/// # Errors
/// Nobody listens there.
pub async fn answer(at: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(at).await?;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    let read = timeout(PATIENCE, stream.read_to_string(&mut text)).await;
    read.unwrap().unwrap();
    Ok(text)
}
