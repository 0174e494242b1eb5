//! The zone that was probably meant by a name that is none.

use std::collections::HashMap;

use chrono_tz::TZ_VARIANTS;
use jiff::tz::TimeZone;

/// Below this likeness (1 is equal) a suggestion would puzzle more than help.
const MIN_LIKENESS: f64 = 0.75;

/// Abbreviations and the zone of most people who write them. Some are legacy names of the IANA database, but with one
/// offset all year or with rules of no region.
#[rustfmt::skip]
pub(super) const ABBREVIATIONS: [(&str, &str); 78] = [
    ("JST", "Asia/Tokyo"), ("KST", "Asia/Seoul"), ("IST", "Asia/Kolkata"), ("SGT", "Asia/Singapore"),
    ("HKT", "Asia/Hong_Kong"), ("PHT", "Asia/Manila"), ("PHST", "Asia/Manila"), ("WIB", "Asia/Jakarta"),
    ("WITA", "Asia/Makassar"), ("WIT", "Asia/Jayapura"), ("ICT", "Asia/Bangkok"), ("PKT", "Asia/Karachi"),
    ("NPT", "Asia/Kathmandu"), ("BDT", "Asia/Dhaka"), ("GST", "Asia/Dubai"), ("IRST", "Asia/Tehran"),
    ("TRT", "Europe/Istanbul"), ("MSK", "Europe/Moscow"), ("IDT", "Asia/Jerusalem"), ("AST", "America/Halifax"),
    ("ADT", "America/Halifax"), ("NST", "America/St_Johns"), ("NDT", "America/St_Johns"), ("ET", "America/New_York"),
    ("EST", "America/New_York"), ("EDT", "America/New_York"), ("EST5EDT", "America/New_York"),
    ("CT", "America/Chicago"), ("CST", "America/Chicago"), ("CDT", "America/Chicago"), ("CST6CDT", "America/Chicago"),
    ("MT", "America/Denver"), ("MST", "America/Denver"), ("MDT", "America/Denver"), ("MST7MDT", "America/Denver"),
    ("PT", "America/Los_Angeles"), ("PST", "America/Los_Angeles"), ("PDT", "America/Los_Angeles"),
    ("PST8PDT", "America/Los_Angeles"), ("AKST", "America/Anchorage"), ("AKDT", "America/Anchorage"),
    ("HST", "Pacific/Honolulu"), ("BRT", "America/Sao_Paulo"), ("ART", "America/Argentina/Buenos_Aires"),
    ("CLT", "America/Santiago"), ("CLST", "America/Santiago"), ("COT", "America/Bogota"), ("PET", "America/Lima"),
    ("VET", "America/Caracas"), ("UYT", "America/Montevideo"), ("BST", "Europe/London"), ("WET", "Europe/Lisbon"),
    ("WEST", "Europe/Lisbon"), ("CET", "Europe/Berlin"), ("CEST", "Europe/Berlin"), ("MET", "Europe/Berlin"),
    ("MEZ", "Europe/Berlin"), ("MESZ", "Europe/Berlin"), ("EET", "Europe/Helsinki"), ("EEST", "Europe/Helsinki"),
    ("SAST", "Africa/Johannesburg"), ("EAT", "Africa/Nairobi"), ("WAT", "Africa/Lagos"), ("CAT", "Africa/Maputo"),
    ("AEST", "Australia/Sydney"), ("AEDT", "Australia/Sydney"), ("AET", "Australia/Sydney"),
    ("ACST", "Australia/Adelaide"), ("ACDT", "Australia/Adelaide"), ("AWST", "Australia/Perth"),
    ("NZST", "Pacific/Auckland"), ("NZDT", "Pacific/Auckland"), ("NZT", "Pacific/Auckland"),
    ("CHST", "Pacific/Guam"), ("SST", "Pacific/Pago_Pago"), ("Z", "UTC"), ("UTC0", "UTC"), ("Factory", "UTC"),
];

/// Places whose clock never changes, for offsets that are written as numbers.
const FIXED: [(i32, &str); 8] = [
    (9 * 60, "Asia/Tokyo"),
    (5 * 60 + 30, "Asia/Kolkata"),
    (5 * 60 + 45, "Asia/Kathmandu"),
    (6 * 60 + 30, "Asia/Yangon"),
    (9 * 60 + 30, "Australia/Darwin"),
    (4 * 60 + 30, "Asia/Kabul"),
    (8 * 60 + 45, "Australia/Eucla"),
    (0, "UTC"),
];

/// Whether a name is an abbreviation and no region, even if the database has it.
pub(super) fn is_abbreviation(name: &str) -> bool {
    ABBREVIATIONS.iter().any(|(short, _)| *short == name)
}

/// The zone that was probably meant.
pub(super) fn suggestion(name: &str, overlay: &HashMap<String, TimeZone>) -> Option<String> {
    let name = name.trim();
    if let Some((_, zone)) = ABBREVIATIONS
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(name))
    {
        return Some((*zone).to_owned());
    }
    if let Some(zone) = numeric(name) {
        return Some(zone);
    }
    let wanted = name.replace(' ', "_").to_ascii_lowercase();
    let mut known: Vec<&str> = TZ_VARIANTS.iter().map(|zone| zone.name()).collect();
    known.extend(overlay.keys().map(String::as_str));
    known.retain(|zone| !is_abbreviation(zone));
    // With equal likeness the first by name, whatever the order of the overlay.
    known.sort_unstable();
    let likeness = |zone: &str| likeness(&wanted, &zone.to_ascii_lowercase());
    let best = known
        .into_iter()
        .rev()
        .map(|zone| (likeness(zone), zone))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= MIN_LIKENESS).then(|| best.1.to_owned())
}

/// How alike two lower-case names are, 0 to 1. A city alone counts as well as the whole name.
fn likeness(wanted: &str, zone: &str) -> f64 {
    let whole = strsim::normalized_damerau_levenshtein(wanted, zone);
    let city = zone.rsplit('/').next().unwrap_or(zone);
    let wanted_city = wanted.rsplit('/').next().unwrap_or(wanted);
    // A little less than the same name in full, so that `Asia/Tokyo` wins over another Tokyo.
    whole.max(0.98 * strsim::normalized_damerau_levenshtein(wanted_city, city))
}

/// `GMT+9`, `UTC-03:30`, `+0900`: a zone with this offset all year.
fn numeric(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number = upper
        .strip_prefix("UTC")
        .or_else(|| upper.strip_prefix("GMT"))
        .unwrap_or(&upper)
        .trim();
    let (sign, digits) = match (
        number.strip_prefix('+'),
        number.strip_prefix(['-', '\u{2212}']),
    ) {
        (Some(digits), _) => (1, digits),
        (None, Some(digits)) => (-1, digits),
        (None, None) => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let minutes = sign * (hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?);
    if let Some((_, zone)) = FIXED.iter().find(|(offset, _)| *offset == minutes) {
        return Some((*zone).to_owned());
    }
    // The signs of these names are turned round: `Etc/GMT-3` is three hours east.
    let hours = minutes / 60;
    let is_known = minutes % 60 == 0 && (-12..=14).contains(&hours);
    is_known.then(|| format!("Etc/GMT{:+}", -hours))
}
