//! Modules of the kernel in the initramfs: `/modules/order` names the files beside it in the order
//! in which they load, one a line.

use super::{Found, What};
use crate::TargetError;
use crate::kernel_modules::with_needs;
use crate::part::Find;

/// Where they go.
const FOLDER: &str = "modules";

/// Adds those called `wanted`, and what they need.
pub(super) fn add(
    wanted: &[String],
    finder: &dyn Find,
    found: &mut Found,
) -> Result<(), TargetError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut put = |name: &str, bytes: Vec<u8>| {
        let executable = false;
        let file = What::File { executable, bytes };
        found.insert(format!("{FOLDER}/{name}").into_bytes(), file);
    };
    let mut list = String::new();
    for module in with_needs(&finder.kernel_modules()?, wanted)? {
        list += &format!("{}\n", module.file);
        put(&module.file, module.bytes);
    }
    put("order", list.into_bytes());
    Ok(())
}
