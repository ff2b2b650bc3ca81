//! `/api/v1/pair` and `/api/v1/pairs`: a phone belongs to the house by a code that this machine shows.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Control, House, Visitor,
    answer::{self, Wrong},
    boards::{Empty, body},
    cookie,
    guard::own_names,
    pairing::{CODE_LIFE, NotPaired, NotTaken, Phone},
};
use crate::{net::own_address::own_address, text::qr::Qr};

/// Where a code is entered.
pub(super) const PATH: &str = "/api/v1/pair";
/// What a phone is called that has not said it.
const UNNAMED: &str = "phone";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entered {
    code: String,
    name: Option<String>,
}

/// Shows a code, on this machine alone.
pub(super) async fn show(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
) -> Result<Response, Wrong> {
    if !visitor.is_here {
        return Err(Wrong::forbidden(
            "a code is shown on BoardBridge's own computer alone: run `boardbridge pair` there",
        ));
    }
    is_on(&house)?;
    let Empty {} = body(request).await?;
    let listens = visitor.listens;
    if listens.ip().is_loopback() {
        let port = listens.port();
        return Err(Wrong::not_now(format!(
            "no phone can connect: write listen = \"0.0.0.0:{port}\" under [web] in the configuration, and restart BoardBridge"
        )));
    }
    let at_name = |name: String| format!("http://{name}:{}/", listens.port());
    // The phone's cookie is for the first: an announced name stays when the number changes. It is not known whether others find the
    // machine's own name.
    let announced = house.host.borrow().clone().map(at_name);
    let by_name = own_names().into_iter().next().map(at_name);
    let by_name = by_name.filter(|_| announced.is_none());
    let by_number = own_address(listens.ip());
    let by_number = by_number.map(|ip| format!("http://{}/", with_port(ip, listens.port())));
    let addresses: Vec<String> = [announced, by_number, by_name]
        .into_iter()
        .flatten()
        .collect();
    let code = house.pairing.show().await.map_err(|why| refused(&why))?;
    let first = addresses.first().cloned().unwrap_or_default();
    let link = format!("{first}#pair={code}");
    let qr = Qr::of(&link).map(|qr| json!({ "size": qr.size(), "path": qr.path() }));
    Ok(answer::value(&json!({
        "code": code,
        "seconds": CODE_LIFE.as_secs(),
        "addresses": addresses,
        "link": link,
        "qr": qr,
    })))
}

/// Pairs the browser that has entered the code.
pub(super) async fn enter(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
) -> Result<Response, Wrong> {
    is_on(&house)?;
    let Entered { code, name } = body(request).await?;
    let name = name.as_deref().unwrap_or(UNNAMED);
    let entered = house.pairing.enter(visitor.peer, &code, name).await;
    let (phone, cookie) = entered.map_err(|why| refused(&why))?;
    let mut response = answer::value(&object(&phone, true));
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, cookie::given(&cookie, &visitor)?);
    Ok(response)
}

/// The phones that are paired.
pub(super) async fn all(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Response, Wrong> {
    let asks = visitor.phone.map(|phone| phone.id);
    let phones = house.pairing.list().await;
    let phones = phones
        .iter()
        .map(|phone| object(phone, asks == Some(phone.id)));
    Ok(answer::value(&phones.collect()))
}

/// Removes a phone.
pub(super) async fn remove(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    id: Result<Path<u64>, PathRejection>,
) -> Result<Response, Wrong> {
    let missing = || {
        Wrong::missing(
            "no phone has this number: `boardbridge pair --list` shows those that are paired",
        )
    };
    let Path(id) = id.map_err(|_| missing())?;
    let phone = house.pairing.remove(id).await.ok_or_else(missing)?;
    let asks = visitor.phone.map(|phone| phone.id);
    Ok(answer::value(&object(&phone, asks == Some(id))))
}

fn with_port(ip: std::net::IpAddr, port: u16) -> std::net::SocketAddr {
    (ip, port).into()
}

fn object(phone: &Phone, asks: bool) -> Value {
    json!({ "id": phone.id, "name": phone.name, "since": phone.since, "you": asks })
}

fn is_on(house: &House) -> Result<(), Wrong> {
    if house.control == Control::Paired {
        return Ok(());
    }
    Err(Wrong::not_now(
        "phones are not paired here: for that write control = \"paired\" under [web] in the configuration",
    ))
}

fn refused(why: &NotPaired) -> Wrong {
    let status = match why {
        NotPaired::Name => StatusCode::BAD_REQUEST,
        NotPaired::Code(NotTaken::Wrong(_)) => StatusCode::FORBIDDEN,
        NotPaired::Code(NotTaken::TooMany | NotTaken::Burned) => StatusCode::TOO_MANY_REQUESTS,
        NotPaired::Full | NotPaired::Code(NotTaken::None) => StatusCode::CONFLICT,
        NotPaired::Random(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Wrong::new(status, why.to_string())
}
