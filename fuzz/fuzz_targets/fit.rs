#![no_main]

use bootlap_target::artefact::fit::Fit;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(fit) = Fit::parse(bytes) {
        fit.wrong_hashes();
        for image in &fit.images {
            assert_eq!(bytes.get(image.range.clone()), Some(image.data));
        }
    }
});
