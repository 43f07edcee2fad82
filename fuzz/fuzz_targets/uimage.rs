#![no_main]

use bootlap_target::artefact::uimage::UimageHeader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((header, data)) = UimageHeader::read(bytes) {
        header.compression();
        assert!(data.len() <= bytes.len());
    }
});
