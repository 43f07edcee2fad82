//! A `vmlinux` for virtual machines that unpacks itself from LZ4.
//!
//! A virtual machine that enters a `vmlinux` by PVH reads all of it first: 35 MB of Debian's, which
//! are 14 MB in LZ4. So the file made here has, in one segment behind the place of the kernel, its
//! segments as LZ4 blocks, a table of them, and a program that unpacks them to where they belong,
//! clears what follows them, and enters the kernel as it was entered itself.
//!
//! By PVH (Xen's `public/arch-x86/hvm/start_info.h`) that is in 32-bit mode without paging or
//! interrupts, with flat segments, and what is known of the machine in `%ebx`. Nothing else is
//! promised, and no stack: so the program needs none, and keeps `%ebx`.

use object::Endianness::Little;
use object::elf::{FileHeader64, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

use super::super::lz4_legacy;
use super::entry::{PHYS32_ENTRY, pvh_entry};

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PAGE: usize = 4096;
/// The note that says where a machine enters: two lengths, a kind, `Xen`, and the address.
const NOTE: usize = 20;

/// The first instruction is `mov $TABLE, %ebp`: its operation, in front of the table's address.
const MOV_EBP: u8 = 0xbd;
/// The rest of the program. A row of the table is four words: where a segment belongs, where its
/// LZ4 block begins and ends, and how many words are clear behind it. The last row has a zero, and
/// where the kernel is entered.
#[rustfmt::skip]
pub const UNPACKER: &[u8] = &[
    // segment:
    0x8b, 0x7d, 0x00,       // mov    (%ebp), %edi
    0x8b, 0x75, 0x04,       // mov    4(%ebp), %esi
    // sequence: so many literals as the upper half of its first byte says;
    0x0f, 0xb6, 0x16,       // movzbl (%esi), %edx
    0x46,                   // inc    %esi
    0x89, 0xd1,             // mov    %edx, %ecx
    0xc1, 0xe9, 0x04,       // shr    $4, %ecx
    0x83, 0xf9, 0x0f,       // cmp    $15, %ecx
    0x75, 0x0a,             // jne    literals
    // more: if that is full, bytes are added until one is not 255.
    0x0f, 0xb6, 0x06,       // movzbl (%esi), %eax
    0x46,                   // inc    %esi
    0x01, 0xc1,             // add    %eax, %ecx
    0x3c, 0xff,             // cmp    $255, %al
    0x74, 0xf6,             // je     more
    // literals: four bytes at a time, which may write up to three too many:
    // what comes next is written over them. A block ends with literals.
    0x8d, 0x04, 0x0e,       // lea    (%esi,%ecx), %eax
    0x8d, 0x24, 0x0f,       // lea    (%edi,%ecx), %esp
    0x83, 0xc1, 0x03,       // add    $3, %ecx
    0xc1, 0xe9, 0x02,       // shr    $2, %ecx
    0xf3, 0xa5,             // rep movsl
    0x89, 0xe7,             // mov    %esp, %edi
    0x89, 0xc6,             // mov    %eax, %esi
    0x3b, 0x75, 0x08,       // cmp    8(%ebp), %esi
    0x73, 0x3a,             // jae    clear
    // So far back lies what is repeated,
    0x0f, 0xb7, 0x06,       // movzwl (%esi), %eax
    0x83, 0xc6, 0x02,       // add    $2, %esi
    // by four bytes, and so many more as the lower half of the first byte says.
    0x83, 0xe2, 0x0f,       // and    $15, %edx
    0x8d, 0x4a, 0x04,       // lea    4(%edx), %ecx
    0x83, 0xf9, 0x13,       // cmp    $19, %ecx
    0x75, 0x0b,             // jne    repeat
    // longer:
    0x0f, 0xb6, 0x16,       // movzbl (%esi), %edx
    0x46,                   // inc    %esi
    0x01, 0xd1,             // add    %edx, %ecx
    0x80, 0xfa, 0xff,       // cmp    $255, %dl
    0x74, 0xf5,             // je     longer
    // repeat:
    0x89, 0xf4,             // mov    %esi, %esp
    0x89, 0xfe,             // mov    %edi, %esi
    0x29, 0xc6,             // sub    %eax, %esi
    0x83, 0xf8, 0x04,       // cmp    $4, %eax
    0x72, 0x0d,             // jb     bytes
    0x8d, 0x04, 0x0f,       // lea    (%edi,%ecx), %eax
    0x83, 0xc1, 0x03,       // add    $3, %ecx
    0xc1, 0xe9, 0x02,       // shr    $2, %ecx
    0xf3, 0xa5,             // rep movsl
    0x89, 0xc7,             // mov    %eax, %edi
    // bytes: repeats what is closer than four bytes; of others nothing is left to copy.
    0xf3, 0xa4,             // rep movsb
    0x89, 0xe6,             // mov    %esp, %esi
    0xeb, 0x97,             // jmp    sequence
    // clear:
    0x31, 0xc0,             // xor    %eax, %eax
    0x8b, 0x4d, 0x0c,       // mov    12(%ebp), %ecx
    0xf3, 0xab,             // rep stosl
    0x83, 0xc5, 0x10,       // add    $16, %ebp
    0x39, 0x45, 0x00,       // cmpl   %eax, (%ebp)
    0x75, 0x82,             // jne    segment
    0xff, 0x65, 0x04,       // jmp    *4(%ebp)
];

/// A segment of the kernel, as it is loaded.
struct Segment<'d> {
    address: u32,
    content: &'d [u8],
    /// Bytes of it in memory.
    memory: u32,
}

/// `vmlinux` as a file that unpacks itself; `None` if no machine enters it by PVH, or if it does not
/// lie within 32-bit addresses.
pub fn self_unpacking(vmlinux: &[u8]) -> Option<Vec<u8>> {
    let entry = u32::try_from(pvh_entry(vmlinux)?).ok()?;
    let mut segments = loaded(vmlinux)?;
    segments.sort_by_key(|segment| segment.address);
    // What is unpacked, with a word too many, must not reach what it is unpacked from.
    let base = usize::try_from(loaded_end(vmlinux)?).ok()? + size_of::<u32>();
    let base = base.checked_next_multiple_of(PAGE)?;
    let table = base + 1 + size_of::<u32>() + UNPACKER.len();
    let mut place = table + (segments.len() + 1) * 16;
    let (mut rows, mut blocks) = (Vec::new(), Vec::new());
    for segment in &segments {
        let block = lz4_legacy::block(segment.content).ok()?;
        let unpacked = u32::try_from(segment.content.len()).ok()?;
        let clear = segment.memory.checked_sub(unpacked)?;
        let [from, to] = [place, place + block.len()];
        rows.extend([
            segment.address,
            u32::try_from(from).ok()?,
            u32::try_from(to).ok()?,
            clear.div_ceil(4),
        ]);
        blocks.extend(block);
        place = to;
    }
    rows.extend([0, entry, 0, 0]);
    let mut program = vec![MOV_EBP];
    program.extend(u32::try_from(table).ok()?.to_le_bytes());
    program.extend(UNPACKER);
    program.extend(rows.iter().flat_map(|word| word.to_le_bytes()));
    program.extend(blocks);
    Some(file(vmlinux, base as u32, &program))
}

/// Where in memory a `vmlinux` ends that is loaded within 32-bit addresses, in bytes.
pub fn loaded_end(vmlinux: &[u8]) -> Option<u64> {
    let ends = loaded(vmlinux)?.into_iter();
    ends.map(|s| u64::from(s.address) + u64::from(s.memory))
        .max()
}

fn loaded(vmlinux: &[u8]) -> Option<Vec<Segment<'_>>> {
    if FileKind::parse(vmlinux).ok()? != FileKind::Elf64 {
        return None;
    }
    let header = FileHeader64::<Endianness>::parse(vmlinux).ok()?;
    let segments = header.program_headers(Little, vmlinux).ok()?;
    let segments = segments.iter().filter(|s| s.p_type(Little) == PT_LOAD);
    let segments = segments.map(|segment| {
        Some(Segment {
            address: u32::try_from(segment.p_paddr(Little)).ok()?,
            content: segment.data(Little, vmlinux).ok()?,
            memory: u32::try_from(segment.p_memsz(Little)).ok()?,
        })
    });
    segments.collect()
}

/// The program as the one segment of a file, which is entered at its start, with the note that says
/// so.
fn file(vmlinux: &[u8], base: u32, program: &[u8]) -> Vec<u8> {
    let note_at = HEADER + 2 * PROGRAM_HEADER;
    let mut out = vmlinux[..HEADER].to_vec();
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(24, &u64::from(base).to_le_bytes());
    put(32, &(HEADER as u64).to_le_bytes());
    // No sections: neither place, size, number, nor that of their names.
    put(40, &[0; 8]);
    put(54, &[PROGRAM_HEADER as u8, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    let segments = [
        (PT_LOAD.0, PAGE, base, program.len(), PAGE),
        (PT_NOTE.0, note_at, 0, NOTE, 4),
    ];
    for (kind, offset, address, bytes, align) in segments {
        // Read, written and executed.
        out.extend([kind, 7].iter().flat_map(|word| word.to_le_bytes()));
        let address = u64::from(address);
        let [offset, bytes, align] = [offset, bytes, align].map(|size| size as u64);
        let words = [offset, address, address, bytes, bytes, align];
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    out.extend(
        [4, 4, PHYS32_ENTRY.0]
            .iter()
            .flat_map(|word| word.to_le_bytes()),
    );
    out.extend(b"Xen\0");
    out.extend(base.to_le_bytes());
    out.resize(PAGE, 0);
    out.extend(program);
    out
}

#[cfg(test)]
mod tests {
    use lz4::block::decompress;

    use super::super::super::bytes::le32;
    use super::*;

    /// Two segments, of which the second is clear behind its first half, and Xen's note in the
    /// first.
    fn vmlinux() -> Vec<u8> {
        let content = b"not compressed, ".repeat(40);
        let mut elf = vec![0; HEADER];
        elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        elf[16..21].copy_from_slice(&[2, 0, 62, 0, 1]);
        elf[32] = HEADER as u8;
        elf[52..58].copy_from_slice(&[64, 0, 56, 0, 3, 0]);
        let first = HEADER + 3 * PROGRAM_HEADER;
        let note = first + content.len();
        for (kind, offset, address, bytes, memory) in [
            (1, first, 0x10_0000, content.len() + NOTE, 0x1000),
            (1, first, 0x20_0000, content.len(), 2 * content.len()),
            (4, note, 0x10_0000 + content.len(), NOTE, NOTE),
        ] {
            elf.extend([kind, 7_u32].iter().flat_map(|word| word.to_le_bytes()));
            let words = [offset, address, address, bytes, memory, 4].map(|word| word as u64);
            elf.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        elf.extend(content);
        elf.extend(b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0\x10\0\x10\0");
        elf
    }

    #[test]
    fn each_segment_is_in_the_table_with_its_place() {
        let elf = vmlinux();
        let file = self_unpacking(&elf).unwrap();
        let base = 0x20_1000_usize;
        assert_eq!(pvh_entry(&file), Some(base as u64));
        let end = loaded_end(&file).unwrap() as usize;
        assert_eq!(end, base + file.len() - PAGE);
        assert_eq!(loaded_end(&elf), Some(0x20_0000 + 1280));
        let program = &file[PAGE..];
        assert_eq!(program[0], MOV_EBP);
        let table = le32(program, 1).unwrap() as usize - base;
        assert_eq!(&program[5..table], UNPACKER);
        let row = |nth: usize| {
            [0, 4, 8, 12].map(|at| le32(program, table + 16 * nth + at).unwrap() as usize)
        };
        for (nth, segment) in loaded(&elf).unwrap().iter().enumerate() {
            let [address, from, to, clear] = row(nth);
            assert_eq!(address, segment.address as usize);
            let block = &program[from - base..to - base];
            let mut content = decompress(block, Some(segment.memory as i32)).unwrap();
            assert!(content.len() + 4 * clear >= segment.memory as usize);
            content.resize(segment.content.len(), 0);
            assert_eq!(content, segment.content);
        }
        assert_eq!(row(2)[..2], [0, 0x10_0010]);
    }

    #[test]
    fn what_is_no_such_kernel_is_refused() {
        let elf = vmlinux();
        for cut in [0, 10, HEADER, HEADER + 100, elf.len() - 1] {
            assert!(self_unpacking(&elf[..cut]).is_none(), "{cut}");
        }
        let mut high = elf;
        // The upper half of the second segment's address.
        high[HEADER + PROGRAM_HEADER + 28] = 1;
        assert!(self_unpacking(&high).is_none());
    }
}
