//! The macro that lists the keys of a board's settings.

/// Defines the struct `Settings` of a board: each key once, with its meaning, its type and its default.
///
/// `write in ble: …` is a key of `ble = { … }`; `key recorded as "…": …` is a secret, which a recording has under that value.
/// Attributes of serde say how a value is read; by default its type does.
macro_rules! settings {
    (@stand_in) => { None };
    (@stand_in $stand_in:literal) => { Some($stand_in) };
    (
        $(#[doc = $about:literal])+
        pub struct Settings {
            $(
                $(#[doc = $meaning:literal])+
                $(#[serde($($serde:tt)+)])?
                $key:ident $(in $table:ident)? $(recorded as $stand_in:literal)?: $type:ty = $default:expr,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($serde)+)])?
                pub $key: $type,
            )+
        }

        impl Settings {
            /// The keys.
            pub const KEYS: &'static [$crate::driver::identity::Key] = &[$(
                $crate::driver::identity::Key {
                    path: &[$(stringify!($table),)? stringify!($key)],
                    meaning: concat!($($meaning),+).trim_ascii(),
                    stand_in: $crate::driver::settings::settings!(@stand_in $($stand_in)?),
                },
            )+];
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }
    };
}
pub(crate) use settings;
