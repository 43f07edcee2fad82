//! What Python does at each start that can be done once, when the image is made.

use super::Plain;
use crate::spec::PythonModules;
use crate::{Edit, Parts, Target};

/// Python does not read the source of its compiled modules.
///
/// Where `SOURCE_DATE_EPOCH` is set, as in builds that are to be reproducible, Python's modules are
/// compiled so that each start reads and hashes their source, to see that both fit (PEP 552). Here
/// that is done once: of each module that fits, the byte that asks for it is changed in its place.
/// In a build it is `python3 -m compileall --invalidation-mode unchecked-hash`.
pub(super) const UNCHECKED: Plain = Plain::new(
    "python-unchecked",
    "Python does not read the source of its compiled modules",
    "a source that is edited on the device has no effect until it is compiled again",
    unchecked,
);

fn unchecked(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = target
        .spec
        .disk
        .as_ref()
        .ok_or("the target has no [disk]")?;
    if disk.python_modules == PythonModules::Unchecked {
        return Err("disk.python-modules is \"unchecked\" already".into());
    }
    if parts.checked_modules().is_empty() {
        return Err(
            "no module on the disk is checked by its source, or none that can be \
                    changed in its place"
                .into(),
        );
    }
    Ok(vec![Edit::set("disk.python-modules", "unchecked")])
}
