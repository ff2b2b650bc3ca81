//! Reasons for refusing a call, worded as by the real `BlueZ` and the real bus.

use zbus::{Message, message::Header};

/// The error of a D-Bus call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The name of the error.
    pub name: &'static str,
    /// Its message for people.
    pub text: String,
}

impl Failure {
    fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
        }
    }

    /// The error reply to a call.
    pub fn reply(&self, to: &Header<'_>, sender: &str, client: &str) -> zbus::Result<Message> {
        Message::error(to, self.name)
            .sender(sender)
            .destination(client)
            .build(&self.text)
    }

    /// Something went wrong.
    pub fn failed(text: &str) -> Self {
        Self::new("org.bluez.Error.Failed", text)
    }

    /// The peripheral answered with an ATT error.
    pub fn att() -> Self {
        Self::failed("Operation failed with ATT error: 0x0e")
    }

    /// The adapter is off.
    pub fn not_ready() -> Self {
        Self::new("org.bluez.Error.NotReady", "Resource Not Ready")
    }

    /// The operation is already in progress.
    pub fn in_progress() -> Self {
        Self::new(
            "org.bluez.Error.InProgress",
            "Operation already in progress",
        )
    }

    /// The device offers no such profile, or no program uses it.
    pub fn profile_unavailable() -> Self {
        Self::new(
            "org.bluez.Error.NotAvailable",
            "br-connection-profile-unavailable",
        )
    }

    /// The profile of the device is connected.
    pub fn already_connected() -> Self {
        Self::new("org.bluez.Error.AlreadyConnected", "Already Connected")
    }

    /// The characteristic does not support this.
    pub fn not_supported() -> Self {
        Self::new("org.bluez.Error.NotSupported", "Operation is not supported")
    }

    /// The characteristic does not permit this.
    pub fn not_permitted(text: &str) -> Self {
        Self::new("org.bluez.Error.NotPermitted", text)
    }

    /// The device does not exist.
    pub fn does_not_exist() -> Self {
        Self::new("org.bluez.Error.DoesNotExist", "Does Not Exist")
    }

    /// It is already registered.
    pub fn already_exists() -> Self {
        Self::new("org.bluez.Error.AlreadyExists", "Already Exists")
    }

    /// The device is not connected.
    pub fn not_connected() -> Self {
        Self::new("org.bluez.Error.NotConnected", "Not Connected")
    }

    /// The arguments are invalid.
    pub fn invalid_arguments() -> Self {
        Self::new(
            "org.bluez.Error.InvalidArguments",
            "Invalid arguments in method call",
        )
    }

    /// The bus denies access to `BlueZ`.
    pub fn access_denied() -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.AccessDenied",
            "Rejected send message: the policy of the bus does not allow it",
        )
    }

    /// The object does not exist.
    pub fn unknown_object(path: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.UnknownObject",
            format!("No such object: {path}"),
        )
    }

    /// The object does not have this method.
    pub fn unknown_method(interface: &str, member: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.UnknownMethod",
            format!("Method \"{member}\" on interface \"{interface}\" doesn't exist"),
        )
    }

    /// The object has no such property.
    pub fn unknown_property(name: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.InvalidArgs",
            format!("No such property '{name}'"),
        )
    }

    /// The property cannot be set.
    pub fn read_only(name: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.PropertyReadOnly",
            format!("Property '{name}' is not writable"),
        )
    }

    /// No one on the bus has this name.
    pub fn service_unknown(name: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.ServiceUnknown",
            format!("The name {name} was not provided by any .service files"),
        )
    }

    /// No one on the bus has this name.
    pub fn no_owner(name: &str) -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.NameHasNoOwner",
            format!("Could not get owner of name '{name}': no such name"),
        )
    }

    /// The rule is invalid.
    pub fn invalid_rule() -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.MatchRuleInvalid",
            "Malformed match rule",
        )
    }

    /// The client never added this rule.
    pub fn unknown_rule() -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.MatchRuleNotFound",
            "The given match rule wasn't found and can't be removed",
        )
    }

    /// The client exceeds a limit.
    pub fn limits_exceeded() -> Self {
        Self::new(
            "org.freedesktop.DBus.Error.LimitsExceeded",
            "Too many match rules",
        )
    }
}
