"""One folder as an image of each file system, by the file system's own tools, without root
and without a mount."""

import os

from tables import script

make_disk = script("make-disk")
run, EPOCH, UUID, MIB = make_disk.run, make_disk.EPOCH, make_disk.UUID, make_disk.MIB
NOR_BYTES = 64 * MIB
# What JFFS2 writes at the beginning of a block that it has erased.
CLEAN = bytes.fromhex("851903200c000000b1b01ee4")
# As much as a small card has; sparse.
DISK_MIB = 512
def empty(out, mib=DISK_MIB):
    with open(out, "wb") as file:
        file.truncate(mib * MIB)


def padded(out, to):
    """As long as a multiple of `to`."""
    size = out.stat().st_size
    os.truncate(out, -(-size // to) * to)


def held(image, of_nor):
    """Bytes that it holds; of a disk without holes, of NOR without blocks that are free."""
    if not of_nor:
        return image.stat().st_blocks * 512
    bytes_, block = image.read_bytes(), NOR.block
    free = [b"\xff" * block, CLEAN + b"\xff" * (block - len(CLEAN))]
    while bytes_[-block:] in free:
        bytes_ = bytes_[:-block]
    return len(bytes_)


def ext(kind, *more):
    def make(tree, out):
        run("mke2fs", "-q", "-F", "-t", kind, "-d", tree, "-U", UUID, "-E", f"hash_seed={UUID}",
            *more, out, f"{DISK_MIB}M")
    return make


def xfs(tree, out):
    """mkfs.xfs is told each file in a list."""
    lines = ["/", "0 0"]

    def folder(path):
        for entry in sorted(path.iterdir()):
            mode = entry.lstat().st_mode & 0o777
            if entry.is_symlink():
                lines.append(f"{entry.name} l--777 0 0 {os.readlink(entry)}")
            elif entry.is_dir():
                lines.append(f"{entry.name} d--{mode:03o} 0 0")
                folder(entry)
                lines.append("$")
            else:
                lines.append(f"{entry.name} ---{mode:03o} 0 0 {entry}")

    lines.append("d--755 0 0")
    folder(tree)
    lines.append("$")
    listed = out.with_suffix(".list")
    listed.write_text("\n".join(lines) + "\n")
    empty(out)
    run("mkfs.xfs", "-q", "-m", f"uuid={UUID}", "-p", listed, out)
    listed.unlink()


def btrfs(tree, out):
    empty(out)
    run("mkfs.btrfs", "-q", "-U", UUID, "--rootdir", tree, out)


def f2fs(tree, out):
    empty(out)
    run("mkfs.f2fs", "-q", "-U", UUID, out)
    run("sload.f2fs", "-T", EPOCH, "-f", tree, out)


def squashfs(compressor):
    def make(tree, out):
        more = ["-noI", "-noD", "-noF", "-noX"] if compressor == "none" else ["-comp", compressor]
        run("mksquashfs", tree, out, "-noappend", "-quiet", "-no-progress", "-all-root",
            "-processors", 1, *more)
        padded(out, MIB)
    return make


def erofs(*how):
    def make(tree, out):
        run("mkfs.erofs", "--quiet", "-T", EPOCH, "-U", UUID, "--all-root", *how, out, tree)
        padded(out, MIB)
    return make


def cramfs(tree, out):
    run("mkfs.cramfs", tree, out)


def romfs(tree, out):
    run("genromfs", "-d", tree, "-f", out)


class Flash:
    """What a kind of flash asks of an image: sizes in bytes."""

    def __init__(self, block, page, headers, leb, least, jffs2):
        self.block, self.page, self.headers, self.leb = block, page, headers, leb
        self.least, self.jffs2_options = least, jffs2

    def jffs2(self, summary):
        def make(tree, out):
            run("mkfs.jffs2", "-r", tree, "-o", out, "-e", self.block, "-l", "-q",
                *self.jffs2_options)
            if summary:
                whole = out.with_suffix(".sum")
                run("sumtool", "-i", out, "-o", whole, "-e", self.block, "-l",
                    *[option for option in self.jffs2_options if option == "-n"])
                whole.rename(out)
            # Blocks that are free say so: of others it is not known whether they are erased.
            if "-n" not in self.jffs2_options:
                size = -(-out.stat().st_size // self.block) * self.block
                with open(out, "r+b") as file:
                    file.seek(0, 2)
                    file.write(b"\xff" * (size - file.tell()))
                    while file.tell() < NOR_BYTES:
                        file.write(CLEAN + b"\xff" * (self.block - len(CLEAN)))
        return make

    def ubi(self, volume, static=False):
        """A UBI image with one volume, of what `volume` makes."""
        def make(tree, out):
            inner, listed = out.with_suffix(".volume"), out.with_suffix(".ini")
            volume(tree, inner)
            size = "" if static else f"vol_size={-(-inner.stat().st_size // self.leb) * self.leb}\n"
            listed.write_text(f"[root]\nmode=ubi\nimage={inner}\nvol_id=0\n{size}"
                              f"vol_type={'static' if static else 'dynamic'}\nvol_name=root\n"
                              + ("" if static else "vol_flags=autoresize\n"))
            run("ubinize", "-o", out, "-m", self.page, "-p", self.block, "-s", self.headers,
                "-Q", "1", listed)
            inner.unlink()
            listed.unlink()
        return make

    def ubifs(self, tree, out):
        run("mkfs.ubifs", "-r", tree, "-o", out, "-m", self.least, "-e", self.leb, "-c", "2000",
            "-x", "lzo")


# Two chips beside each other, as QEMU's virt has them.
NOR = Flash(256 << 10, 1, 1, (256 << 10) - 128, 8, [])
# 2 KiB pages with sub-pages of 512 bytes, where UBI's second header goes.
NAND = Flash(128 << 10, 2048, 512, (128 << 10) - 2048, 2048, ["-n", "-s", "2048"])
