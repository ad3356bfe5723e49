//! Working at several things at a time and delivering in order.

use std::future::Future;

use futures_util::{StreamExt, stream::FuturesOrdered};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::Error;

/// Runs `job` on what arrives, at most `limit` at a time, and passes the results to `deliver` in
/// the order of arrival. Jobs go on while a delivery waits; so does nothing else, which is what
/// holds back the stages before.
pub(crate) async fn ordered<T, U, F>(
    mut arrivals: mpsc::Receiver<T>,
    limit: usize,
    mut job: impl FnMut(T) -> JoinHandle<Result<U, Error>>,
    mut deliver: impl FnMut(U) -> F,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    let mut jobs = FuturesOrdered::new();
    let mut open = true;
    while open || !jobs.is_empty() {
        tokio::select! {
            biased;
            Some(done) = jobs.next(), if !jobs.is_empty() => {
                let done: Result<Result<U, Error>, _> = done;
                deliver(done.map_err(resume)??).await?;
            }
            arrival = arrivals.recv(), if open && jobs.len() < limit => match arrival {
                Some(arrival) => jobs.push_back(job(arrival)),
                None => open = false,
            },
        }
    }
    Ok(())
}

/// A job's panic is the stage's.
fn resume(error: tokio::task::JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Error::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        time::Duration,
    };

    use super::*;

    #[tokio::test]
    async fn results_come_in_order_and_never_too_many_at_a_time() {
        static RUNNING: AtomicUsize = AtomicUsize::new(0);
        let (tx, rx) = mpsc::channel(2);
        tokio::spawn(async move {
            for n in 0..50u64 {
                tx.send(n).await.unwrap();
            }
        });
        let job = |n: u64| {
            tokio::spawn(async move {
                assert!(RUNNING.fetch_add(1, SeqCst) < 4);
                tokio::time::sleep(Duration::from_millis((n * 7) % 5)).await;
                RUNNING.fetch_sub(1, SeqCst);
                Ok(n)
            })
        };
        let mut seen = Vec::new();
        ordered(rx, 4, job, |n| {
            seen.push(n);
            async { Ok(()) }
        })
        .await
        .unwrap();
        assert_eq!(seen, (0..50).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn the_first_error_ends_it() {
        let (tx, rx) = mpsc::channel(10);
        for n in 0..5u64 {
            tx.send(n).await.unwrap();
        }
        let job =
            |n| tokio::spawn(async move { if n == 2 { Err(Error::Interrupted) } else { Ok(n) } });
        let mut seen = Vec::new();
        let result = ordered(rx, 2, job, |n| {
            seen.push(n);
            async { Ok(()) }
        });
        assert!(matches!(result.await, Err(Error::Interrupted)));
        assert_eq!(seen, [0, 1]);
    }
}
