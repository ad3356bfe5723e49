//! What an engine writes to its error stream: read at once, for a full pipe blocks the engine,
//! and kept only in part, for it may write without end.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::AsyncReadExt, process::ChildStderr, task::JoinHandle, time::timeout};

/// The most that is kept.
const KEPT: usize = 64 * 1024;
/// The most that enters a message.
const QUOTED: usize = 2 * 1024;

/// The end of an error stream, drained by a task of its own.
pub(crate) struct Stderr {
    ring: Arc<Mutex<VecDeque<u8>>>,
    task: JoinHandle<()>,
}

impl Stderr {
    pub(crate) fn drain(mut stream: ChildStderr) -> Stderr {
        let ring = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&ring);
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; 8 * 1024];
            while let Ok(count @ 1..) = stream.read(&mut chunk).await {
                keep(&kept, chunk.get(..count).unwrap_or_default());
            }
        });
        Stderr { ring, task }
    }

    /// The last of it, once the stream has ended or had a moment to do so.
    pub(crate) async fn quote(&mut self) -> String {
        let _ = timeout(Duration::from_millis(200), &mut self.task).await;
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = ring.len().saturating_sub(QUOTED);
        let bytes: Vec<u8> = ring.iter().skip(skipped).copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn keep(ring: &Mutex<VecDeque<u8>>, chunk: &[u8]) {
    let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
    ring.extend(chunk);
    let surplus = ring.len().saturating_sub(KEPT);
    ring.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let ring = Mutex::new(VecDeque::new());
        for chunk in [vec![1; KEPT], vec![2; 10], vec![3; KEPT - 5]] {
            keep(&ring, &chunk);
        }
        let ring = ring.into_inner().unwrap();
        assert_eq!(ring.len(), KEPT);
        assert_eq!(ring.iter().filter(|&&byte| byte == 2).count(), 5);
    }
}
