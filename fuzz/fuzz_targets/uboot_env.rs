#![no_main]

use bootlap_target::artefact::uboot_env::{EnvError, EnvLayout, UbootEnv};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = std::str::from_utf8(bytes).map(UbootEnv::from_text);
    let layout = EnvLayout::single(bytes.len());
    let mut image = bytes.to_vec();
    // A right checksum, which no fuzzer finds by chance.
    if let Err(EnvError::Crc { computed, .. }) = UbootEnv::read(&image, &layout) {
        image[..4].copy_from_slice(&computed.to_le_bytes());
    }
    if let Ok((env, _)) = UbootEnv::read(&image, &layout) {
        // It may need one NUL more than it had.
        let layout = EnvLayout::single(image.len() + 1);
        let again = env.to_bytes(&layout).expect("it was read from less");
        assert_eq!(UbootEnv::read(&again, &layout), Ok((env, None)));
    }
});
