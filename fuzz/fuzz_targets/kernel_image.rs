#![no_main]

use bootlap_target::artefact::kernel_image::KernelImage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(image) = KernelImage::describe(bytes)
        && let Some(payload) = image.payload
    {
        assert!(payload.range.start <= payload.range.end);
        assert!(payload.range.end <= image.file_bytes);
    }
});
