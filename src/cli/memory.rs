//! Gives back the memory that a plan was read and proved with.

use std::hint::black_box;

/// Below the least size at which the allocator takes a block from elsewhere than its heap.
const BLOCK: usize = 100 << 10;

/// Forty megabytes together: more than what is held back after a proof of ten thousand jobs, and less than the heap of
/// a thread may have.
const BLOCKS: usize = 400;

/// Lets the allocator return what is free.
///
/// The one of the GNU library returns only what lies at the end of its heap, and only once that is more than twice the
/// largest block that it ever returned by itself. The proof of ten thousand jobs has such blocks, and what it leaves
/// behind would stay for ever. Blocks at the end which nobody writes to, freed again, take it over that line. It costs
/// a millisecond, and other allocators are not harmed.
pub fn give_back() {
    let blocks: Vec<Vec<u8>> = (0..BLOCKS).map(|_| Vec::with_capacity(BLOCK)).collect();
    drop(black_box(blocks));
}
