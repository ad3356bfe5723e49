//! Values that carry their unit: "512MiB", "30s".

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A number of bytes, written with its unit: "64KiB", "512MiB", "2GiB"; "1MB" is a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A length of time, written with its unit: "50ms", "30s", "10m", "2h".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// The text is not a number with a known unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}: write a whole number and its unit, as in {example}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    example: &'static str,
}

const BYTE_UNITS: [(&str, u64); 8] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
];

const TIME_UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The number in the smallest unit, or `None` when the text has another form or does not fit.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (digits, factor) =
        units.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    digits.trim_end().parse::<u64>().ok()?.checked_mul(factor)
}

impl ByteSize {
    /// So many mebibytes.
    pub const fn mib(n: u64) -> ByteSize {
        ByteSize(n << 20)
    }

    /// The size as a length in memory.
    pub fn to_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<ByteSize, UnitError> {
        parse(text, &BYTE_UNITS).map(ByteSize).ok_or_else(|| UnitError {
            text: text.to_owned(),
            what: "a size",
            example: "\"512MiB\"",
        })
    }
}

impl FromStr for Period {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Period, UnitError> {
        parse(text, &TIME_UNITS).map(|ms| Period(Duration::from_millis(ms))).ok_or_else(|| {
            UnitError { text: text.to_owned(), what: "a time", example: "\"30s\" or \"50ms\"" }
        })
    }
}

/// The largest unit that leaves a whole number.
fn display(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let whole = |&&(_, factor): &&(&str, u64)| value >= factor && value.is_multiple_of(factor);
    match units.iter().filter(whole).max_by_key(|(_, factor)| factor) {
        Some((unit, factor)) => write!(f, "{}{unit}", value / factor),
        None => write!(f, "0{}", units.iter().min_by_key(|(_, factor)| factor).map_or("", |u| u.0)),
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, self.0, &BYTE_UNITS)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, self.0.as_millis() as u64, &TIME_UNITS)
    }
}

macro_rules! as_text {
    ($type:ident, $format:literal, $pattern:literal, $description:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": $format,
                    "pattern": $pattern,
                    "description": $description,
                })
            }
        }
    };
}

as_text!(
    ByteSize,
    "byte-size",
    "^[0-9]+ *(GiB|MiB|KiB|GB|MB|kB|KB|B)$",
    "A size with its unit, as \"512MiB\""
);
as_text!(Period, "period", "^[0-9]+ *(ms|s|m|h)$", "A time with its unit, as \"30s\" or \"50ms\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back_as_written() {
        for text in ["512MiB", "1GiB", "1500KiB", "1MB", "7B", "0B"] {
            assert_eq!(text.parse::<ByteSize>().unwrap().to_string(), text);
        }
        assert_eq!("64 MiB".parse(), Ok(ByteSize::mib(64)));
    }

    #[test]
    fn times_read_back_as_written() {
        for text in ["50ms", "30s", "10m", "2h"] {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_bare_or_huge_number_is_refused() {
        for text in ["", "512", "1.5GiB", "-1MiB", "MiB", "99999999999GiB", "10 parsecs"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        for text in ["30", "s", "0.5s", "-1s"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
