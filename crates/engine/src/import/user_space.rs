//! The first program of an image whose user space starts under another kernel.

use bootlap_image::plan::Early;

/// A script of BusyBox: loads modules, mounts the root read-only and starts its init.
pub(super) fn init(early: &Early) -> String {
    let Early {
        device,
        kind,
        flags,
        init,
        ..
    } = early;
    format!(
        "#!/bin/busybox sh
# Made by `bootlap import --user-space`: what the image's own boot loader and initramfs did.
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do
\t/bin/busybox insmod \"/modules/$module\"
done </modules/order
tries=0
until [ -b {device} ] || [ $tries -ge 100 ]; do
\t/bin/busybox sleep 0.1
\ttries=$((tries + 1))
done
/bin/busybox mount -t {kind} -o {flags} {device} /root || exec /bin/busybox sh
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root {init}
"
    )
}
