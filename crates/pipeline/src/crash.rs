//! Named places at which a test may have the process die, as by a power cut.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Every place there is, in the order in which a run passes them.
pub const POINTS: [&str; 9] = [
    "journal-prepared",
    "draft-written",
    "draft-renamed",
    "segment-written",
    "segment-published",
    "run-spilled",
    "rejects-written",
    "book-filled",
    "book-written",
];

struct Armed {
    point: String,
    passes_left: AtomicU64,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Has the process die at a place: `segment-published`, or `segment-published:3` to pass it three
/// times first. For tests; a name that is none does nothing.
pub fn arm(place: &str) {
    let (point, passes) = place.split_once(':').unwrap_or((place, "0"));
    let passes_left = AtomicU64::new(passes.parse().unwrap_or(0));
    let _ = ARMED.set(Armed { point: point.to_owned(), passes_left });
}

/// Dies here if this is the place.
pub(crate) fn point(name: &str) {
    debug_assert!(POINTS.contains(&name), "{name} is not in the list");
    if let Some(armed) = ARMED.get()
        && armed.point == name
        && armed.passes_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    {
        std::process::abort();
    }
}
