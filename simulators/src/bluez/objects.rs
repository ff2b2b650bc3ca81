//! The objects of a service, as D-Bus shows them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use zbus::{ObjectPath, Variant};

/// The properties of an interface.
pub(super) type Properties = BTreeMap<&'static str, Variant<'static>>;
/// The interfaces of an object.
pub(super) type Interfaces = BTreeMap<&'static str, Properties>;

/// The interfaces of every object.
const COMMON: [&str; 2] = [
    "org.freedesktop.DBus.Introspectable",
    "org.freedesktop.DBus.Properties",
];

/// Objects by their paths.
#[derive(Debug, Default)]
pub(super) struct Objects(BTreeMap<String, Interfaces>);

impl Objects {
    /// Adds an object with one interface.
    pub fn add(&mut self, path: String, interface: &'static str, properties: Properties) {
        self.0
            .entry(path)
            .or_default()
            .insert(interface, properties);
    }

    /// The interfaces of an object.
    pub fn get(&self, path: &str) -> Option<&Interfaces> {
        self.0.get(path)
    }

    /// All, for `GetManagedObjects`.
    pub fn managed(&self) -> BTreeMap<ObjectPath<'_>, &Interfaces> {
        self.0
            .iter()
            .filter_map(|(path, interfaces)| Some((path.as_str().try_into().ok()?, interfaces)))
            .collect()
    }

    /// All, without their order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Interfaces)> {
        self.0.iter()
    }

    /// The reply to `Introspect`: clients walk the tree with it.
    pub fn introspect(&self, path: &str) -> Option<String> {
        let prefix = if path == "/" {
            String::from("/")
        } else {
            format!("{path}/")
        };
        let children: BTreeSet<&str> = self
            .0
            .keys()
            .filter_map(|other| other.strip_prefix(&prefix)?.split('/').next())
            .filter(|child| !child.is_empty())
            .collect();
        let interfaces = self.get(path);
        if path != "/" && interfaces.is_none() && children.is_empty() {
            return None;
        }
        let own = interfaces.into_iter().flat_map(BTreeMap::keys).copied();
        let root = (path == "/").then_some("org.freedesktop.DBus.ObjectManager");
        let mut xml = String::from("<node>");
        for interface in COMMON.into_iter().chain(own).chain(root) {
            let _ = write!(xml, "<interface name=\"{interface}\"/>");
        }
        for child in children {
            let _ = write!(xml, "<node name=\"{child}\"/>");
        }
        xml.push_str("</node>");
        Some(xml)
    }
}
