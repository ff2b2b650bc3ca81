//! `boardbridge pair`: a code for a phone, and the phones that are paired.

use clap::Args;
use serde_json::Value;

use super::call::{self, CallError};
use crate::{
    net::default_ports::DEFAULT_WEB,
    text::{escape::escaped, qr::Qr},
};

/// `boardbridge pair`
#[derive(Debug, Args)]
pub struct Pair {
    /// List the phones that are paired, instead.
    #[arg(long)]
    list: bool,
    /// Remove this phone, instead: it may no longer look or press buttons. Its number is in the list.
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    remove: Option<u64>,
    /// The address of the daemon's API.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
    pub connect: String,
}

/// Runs the command; returns what to print.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn run_pair(pair: Pair) -> Result<String, CallError> {
    let at = pair.connect.as_str();
    if pair.list {
        return Ok(listed(&call::phones(at).await?));
    }
    if let Some(id) = pair.remove {
        let name = call::remove_phone(at, id).await?;
        return Ok(format!("{} is removed", escaped(&name)));
    }
    Ok(shown(&call::code(at).await?))
}

fn shown(answer: &Value) -> String {
    let text = |key: &str| escaped(answer[key].as_str().unwrap_or_default());
    let addresses = answer["addresses"].as_array().into_iter().flatten();
    let addresses: Vec<String> = addresses.filter_map(Value::as_str).map(escaped).collect();
    let (first, others) = addresses.split_first().unzip();
    let else_open = others.filter(|others| !others.is_empty()).map(|others| {
        format!(
            "If the phone does not find that, open {} there.\n",
            others.join(" or ")
        )
    });
    let qr = Qr::of(&text("link")).map(|qr| qr.to_string());
    let code = text("code");
    let (start, end) = code.split_at_checked(3).unwrap_or((&code, ""));
    let seconds = answer["seconds"].as_u64().unwrap_or_default();
    format!(
        "{}\nOn the phone scan this, or open {}\nand enter the code  {start} {end}\n\n{}It is for one phone, for {seconds} seconds.",
        qr.unwrap_or_default(),
        first.map_or("", String::as_str),
        else_open.unwrap_or_default(),
    )
}

fn listed(phones: &[Value]) -> String {
    if phones.is_empty() {
        return "no phone is paired: `boardbridge pair` shows a code for one".to_owned();
    }
    let line = |phone: &Value| {
        let id = phone["id"].as_u64().unwrap_or_default();
        let name = escaped(phone["name"].as_str().unwrap_or_default());
        let since = phone["since"].as_str().unwrap_or_default();
        let day = escaped(since.split('T').next().unwrap_or_default());
        format!("{id:>4}  {name}, since {day}")
    };
    phones.iter().map(line).collect::<Vec<_>>().join("\n")
}
