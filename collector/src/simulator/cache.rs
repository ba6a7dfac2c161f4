//! The prefix cache and the slots: who may run, and how much of a prompt is already there.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::clock::lock;
use super::truth::CachePolicy;

/// Earlier sequences and which prompt shares a prefix with them. Pure.
#[derive(Debug)]
struct PrefixCache {
    policy: CachePolicy,
    /// Last used first; with [`CachePolicy::Slots`] one for each slot, in the order of the slots.
    sequences: VecDeque<Vec<u32>>,
}

impl PrefixCache {
    fn new(policy: CachePolicy, slots: usize) -> Self {
        let sequences = match policy {
            CachePolicy::Slots => (0..slots).map(|_| Vec::new()).collect(),
            CachePolicy::Off | CachePolicy::Prompts(_) => VecDeque::new(),
        };
        Self { policy, sequences }
    }

    /// The free slot that serves `prompt` best, as its place in `free`, and the tokens it finds cached there.
    ///
    /// The last token of a prompt is never cached: an engine must process one to have something to go on from.
    fn look_up(&mut self, prompt: &[u32], free: &[usize]) -> (usize, usize) {
        let longest = prompt.len().saturating_sub(1);
        match self.policy {
            CachePolicy::Off => (0, 0),
            CachePolicy::Slots => {
                let kept = |slot: &usize| self.sequences.get(*slot).map_or(0, |kept| shared(kept, prompt));
                let best = free.iter().map(kept).enumerate().rev().max_by_key(|(_, length)| *length);
                best.map_or((0, 0), |(place, length)| (place, length.min(longest)))
            }
            CachePolicy::Prompts(_) => {
                let lengths = self.sequences.iter().map(|kept| shared(kept, prompt)).enumerate();
                let Some((at, length)) = lengths.rev().max_by_key(|(_, length)| *length) else {
                    return (0, 0);
                };
                if length > 0 {
                    let used = self.sequences.remove(at).unwrap_or_default();
                    self.sequences.push_front(used);
                }
                (0, length.min(longest))
            }
        }
    }

    /// Keeps what `slot` has processed. A kept sequence that it continues is replaced.
    fn store(&mut self, slot: usize, sequence: Vec<u32>) {
        match self.policy {
            CachePolicy::Off => {}
            CachePolicy::Slots => {
                if let Some(kept) = self.sequences.get_mut(slot) {
                    *kept = sequence;
                }
            }
            CachePolicy::Prompts(most) => {
                self.sequences.retain(|kept| !sequence.starts_with(kept));
                self.sequences.push_front(sequence);
                self.sequences.truncate(most);
            }
        }
    }
}

/// Length of the longest common prefix.
fn shared(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The slots of the engine. Requests get one in the order in which they asked.
#[derive(Debug)]
pub struct Slots {
    turns: Arc<Semaphore>,
    floor: Mutex<Floor>,
}

#[derive(Debug)]
struct Floor {
    free: Vec<usize>,
    cache: PrefixCache,
}

impl Slots {
    /// `count` free slots with an empty cache.
    pub fn new(count: usize, policy: CachePolicy) -> Self {
        let floor = Floor { free: (0..count).collect(), cache: PrefixCache::new(policy, count) };
        Self { turns: Arc::new(Semaphore::new(count)), floor: Mutex::new(floor) }
    }

    /// A slot that is free now; `None` when there is none or others wait.
    pub fn seat_now(self: &Arc<Self>, prompt: &[u32]) -> Option<Seat> {
        let turn = Arc::clone(&self.turns).try_acquire_owned().ok()?;
        self.take(turn, prompt)
    }

    /// Waits for a slot; `None` only when the simulator has gone.
    pub async fn seat(self: &Arc<Self>, prompt: &[u32]) -> Option<Seat> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        self.take(turn, prompt)
    }

    fn take(self: &Arc<Self>, turn: OwnedSemaphorePermit, prompt: &[u32]) -> Option<Seat> {
        let mut floor = lock(&self.floor);
        let Floor { free, cache } = &mut *floor;
        let (place, cached) = cache.look_up(prompt, free);
        let slot = if place < free.len() { free.remove(place) } else { return None };
        Some(Seat { slot, cached, slots: Arc::clone(self), _turn: turn })
    }
}

/// A slot taken by one request, given back when dropped.
#[derive(Debug)]
pub struct Seat {
    /// Number of the slot.
    pub slot: usize,
    /// Prompt tokens found in the cache.
    pub cached: usize,
    slots: Arc<Slots>,
    _turn: OwnedSemaphorePermit,
}

impl Seat {
    /// Keeps what this slot has processed so far.
    pub fn remember(&self, sequence: &[u32]) {
        lock(&self.slots.floor).cache.store(self.slot, sequence.to_vec());
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Before the permit goes back, so that whoever gets it finds a free slot. Last in the line, so that
        // slots without a match are taken in turn, the longest idle one first.
        lock(&self.slots.floor).free.push(self.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_prefix_counts_and_the_last_token_never_does() {
        let mut cache = PrefixCache::new(CachePolicy::Prompts(8), 1);
        cache.store(0, vec![1, 2, 3, 4, 9]);
        cache.store(0, vec![1, 2, 8]);
        assert_eq!(cache.look_up(&[1, 2, 3, 4, 5], &[0]).1, 4);
        assert_eq!(cache.look_up(&[1, 2, 3, 4, 9], &[0]).1, 4);
        assert_eq!(cache.look_up(&[7, 2, 3], &[0]).1, 0);
        assert_eq!(cache.look_up(&[], &[0]).1, 0);
    }

    #[test]
    fn the_prompt_used_longest_ago_is_forgotten_first() {
        let mut cache = PrefixCache::new(CachePolicy::Prompts(2), 1);
        cache.store(0, vec![1, 1, 1]);
        cache.store(0, vec![2, 2, 2]);
        assert_eq!(cache.look_up(&[1, 1, 5], &[0]).1, 2);
        cache.store(0, vec![3, 3, 3]);
        assert_eq!(cache.look_up(&[1, 1, 5], &[0]).1, 2);
        assert_eq!(cache.look_up(&[2, 2, 5], &[0]).1, 0);
    }

    #[test]
    fn a_sequence_that_goes_on_takes_the_place_of_its_beginning() {
        let mut cache = PrefixCache::new(CachePolicy::Prompts(2), 1);
        cache.store(0, vec![7, 7]);
        cache.store(0, vec![1, 2]);
        cache.store(0, vec![1, 2, 3]);
        assert_eq!(cache.look_up(&[7, 7, 0], &[0]).1, 2);
    }

    #[test]
    fn with_a_cache_per_slot_the_best_free_slot_is_chosen() {
        let mut cache = PrefixCache::new(CachePolicy::Slots, 3);
        cache.store(0, vec![1, 2, 3]);
        cache.store(2, vec![5, 6, 7]);
        assert_eq!(cache.look_up(&[5, 6, 9], &[0, 1, 2]), (2, 2));
        assert_eq!(cache.look_up(&[5, 6, 9], &[0, 1]), (0, 0), "the slot that has it is taken");
    }

    #[test]
    fn nothing_is_cached_when_the_cache_is_off() {
        let mut cache = PrefixCache::new(CachePolicy::Off, 1);
        cache.store(0, vec![1, 2, 3]);
        assert_eq!(cache.look_up(&[1, 2, 3], &[0]), (0, 0));
    }

    #[tokio::test]
    async fn the_third_request_for_two_slots_waits_until_one_is_given_back() {
        let slots = Arc::new(Slots::new(2, CachePolicy::Off));
        let first = slots.seat(&[1]).await.unwrap();
        let _second = slots.seat(&[2]).await.unwrap();
        let mut third = Box::pin(slots.seat(&[3]));
        assert!(slots.seat_now(&[3]).is_none());
        let waits = tokio::select! { biased; _ = &mut third => false, () = tokio::task::yield_now() => true };
        assert!(waits, "a third request got one of two slots");
        let slot = first.slot;
        drop(first);
        assert_eq!(third.await.unwrap().slot, slot);
    }
}
