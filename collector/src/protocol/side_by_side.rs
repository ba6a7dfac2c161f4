//! Waiting for several things at once within one task.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

/// The outputs of all of them, in their order. Whenever one can go on all are looked at, so it is for a few.
pub(super) async fn side_by_side<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, output) in waiting.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn the_outputs_stand_in_order_whichever_comes_first() {
        let (first, second) = (oneshot::channel(), oneshot::channel());
        let late = async {
            // The first can end only after the second has run.
            second.0.send(2).unwrap();
            first.1.await.unwrap()
        };
        let other = async {
            let two = second.1.await.unwrap();
            first.0.send(1).unwrap();
            two
        };
        let both: [Pin<Box<dyn Future<Output = i32>>>; 2] = [Box::pin(late), Box::pin(other)];
        assert_eq!(side_by_side(both).await, [1, 2]);
        assert!(side_by_side(Vec::<std::future::Ready<()>>::new()).await.is_empty());
    }
}
