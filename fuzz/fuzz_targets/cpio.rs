#![no_main]

use bootlap_target::artefact::cpio;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(archive) = cpio::read(bytes) else {
        return;
    };
    assert!(bytes.ends_with(archive.rest));
    if let Ok(written) = cpio::write(&archive.entries) {
        let again = cpio::read(&written).expect("what was written is read");
        let names = |a: &cpio::Archive<'_>| -> Vec<Vec<u8>> {
            a.entries.iter().map(|e| e.name.to_vec()).collect()
        };
        assert_eq!(names(&again), names(&archive));
    }
});
