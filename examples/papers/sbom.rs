//! What the program is made of, for programs that look for known faults: `CycloneDX` 1.5.

use std::error::Error;

use cargo_metadata::Package;
use serde_json::{Value, json};

use super::licences::linked;

/// The whole document, for this target.
pub fn json(target: &str) -> Result<Value, Box<dyn Error>> {
    let components: Vec<Value> = linked(target)?.iter().map(component).collect();
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": name,
                "version": version,
                "purl": format!("pkg:cargo/{name}@{version}"),
            },
            "properties": [{ "name": "target", "value": target }],
        },
        "components": components,
    }))
}

fn component(package: &Package) -> Value {
    let (name, version) = (&package.name, &package.version);
    let mut component = json!({
        "type": "library",
        "name": name.to_string(),
        "version": version.to_string(),
        // What follows a plus sign is written so.
        "purl": format!("pkg:cargo/{name}@{version}").replace('+', "%2B"),
    });
    if let Some(licence) = &package.license {
        // Some still write a slash where an OR is meant.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    component
}
