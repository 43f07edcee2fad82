//! Bytes that many hold and one has: variants of a target have most of theirs in common.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The bytes whose SHA-256 is given, once for all who hold them.
pub(crate) fn shared(sha256: &str, bytes: Vec<u8>) -> Arc<[u8]> {
    static HELD: Mutex<Option<HashMap<String, Weak<[u8]>>>> = Mutex::new(None);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let held = held.get_or_insert_default();
    if let Some(bytes) = held.get(sha256).and_then(Weak::upgrade) {
        return bytes;
    }
    // What nobody holds takes up memory as long as it is listed.
    held.retain(|_, bytes| bytes.strong_count() > 0);
    let bytes: Arc<[u8]> = bytes.into();
    held.insert(sha256.to_owned(), Arc::downgrade(&bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_held_once_and_let_go() {
        let bytes = shared("some hash", vec![1, 2]);
        assert!(Arc::ptr_eq(&bytes, &shared("some hash", vec![1, 2])));
        assert!(!Arc::ptr_eq(&bytes, &shared("another", vec![1, 2])));
        drop(bytes);
        assert_eq!(*shared("some hash", vec![3]), [3]);
    }
}
