//! What `bootcmd` does with the images: where it copies them from and to, and
//! where it starts them.

use std::collections::BTreeMap;

use bootlap_artefact::uboot_script::{Piece, Scope, Script, Word, reachable};

use crate::spec::{Flash, Medium};

/// The variable that U-Boot runs.
pub(crate) const BOOTCMD: &str = "bootcmd";

/// Bytes of a card's sector.
pub(crate) const SECTOR: u64 = 512;

/// The scripts that `bootcmd` can get to.
pub(crate) struct Commands<'e> {
    scope: Scope<'e>,
    scripts: BTreeMap<String, Script>,
}

/// A `cp` or `mmc read` whose numbers are known before the boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The variable with the script.
    pub(crate) variable: String,
    /// Which of the script's commands.
    pub(crate) at: usize,
    /// A byte of memory, or of the card.
    pub(crate) source: u64,
    pub(crate) destination: u64,
    /// How many units.
    pub(crate) count: u64,
    /// Bytes in a unit.
    pub(crate) width: u64,
}

impl Copy {
    pub(crate) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.width)
    }

    /// Whether it copies what lies at `offset` in the second bank, or on the card.
    /// Wherever a machine has its banks, they lie at multiples of their size.
    pub(crate) fn is_of(&self, flash: &Flash, offset: u64) -> bool {
        let of_card = self.width == SECTOR;
        of_card == (flash.medium == Medium::Sd)
            && self.source.checked_rem(flash.bank_size) == Some(offset)
    }
}

impl<'e> Commands<'e> {
    pub(crate) fn of(environment: &'e BTreeMap<String, String>) -> Self {
        Self {
            scope: Scope::of(BOOTCMD, environment),
            scripts: reachable(BOOTCMD, environment).0,
        }
    }

    /// What is copied.
    pub(crate) fn copies(&self) -> Vec<Copy> {
        let mut copies = Vec::new();
        for (variable, script) in &self.scripts {
            let mut at = 0;
            script.for_each(&mut |words| {
                copies.extend(self.copy(variable, at, words));
                at += 1;
            });
        }
        copies
    }

    fn copy(&self, variable: &str, at: usize, words: &[Word]) -> Option<Copy> {
        let number = |word| hexadecimal(&self.scope.value(word)?);
        let is = |word, text| self.scope.value(word).as_deref() == Some(text);
        let (width, source, destination, count) = match words {
            [mmc, read, destination, sector, count] if is(mmc, "mmc") && is(read, "read") => {
                let source = number(sector)?.checked_mul(SECTOR)?;
                (SECTOR, source, destination, count)
            }
            [command, source, destination, count] => {
                let width = match self.scope.value(command)?.as_str() {
                    "cp.b" => 1,
                    "cp.w" => 2,
                    "cp" | "cp.l" => 4,
                    "cp.q" => 8,
                    _ => return None,
                };
                (width, number(source)?, destination, count)
            }
            _ => return None,
        };
        Some(Copy {
            variable: variable.to_owned(),
            at,
            source,
            destination: number(destination)?,
            count: number(count)?,
            width,
        })
    }

    /// Where `bootm` finds the kernel, each time that it is said.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let mut starts = Vec::new();
        for script in self.scripts.values() {
            script.for_each(&mut |words| {
                if let [command, image, ..] = words
                    && self.scope.value(command).as_deref() == Some("bootm")
                    && let Some(image) = self.scope.value(image)
                {
                    // Behind the address there may be what of a FIT is meant.
                    let address = image.split(['#', ':']).next().unwrap_or_default();
                    starts.extend(hexadecimal(address));
                }
            });
        }
        starts
    }

    /// What the variables become if these copies get other counts.
    pub(crate) fn with_counts(&self, counts: &[(Copy, u64)]) -> BTreeMap<String, String> {
        let mut changed = BTreeMap::new();
        let mut scripts = self.scripts.clone();
        for (copy, count) in counts {
            let count = format!("{count:#x}");
            let Some(script) = scripts.get_mut(&copy.variable) else {
                continue;
            };
            let mut at = 0;
            script.for_each_mut(&mut |words| {
                if at == copy.at
                    && let Some(last) = words.last_mut()
                {
                    match own_variable(last).filter(|name| self.uses(name) == 1) {
                        Some(name) => drop(changed.insert(name.to_owned(), count.clone())),
                        None => *last = Word::plain(count.as_str()),
                    }
                }
                at += 1;
            });
            let text = script.to_string();
            if self.scripts.get(&copy.variable) != Some(script) {
                changed.insert(copy.variable.clone(), text);
            }
        }
        changed
    }

    /// What the variables become if no ramdisk is named to what starts the kernel.
    pub(crate) fn without_ramdisk(&self) -> BTreeMap<String, String> {
        let mut changed = BTreeMap::new();
        for (variable, script) in &self.scripts {
            let mut new = script.clone();
            new.for_each_mut(&mut |words| {
                if let [command, _, ramdisk, ..] = words.as_mut_slice()
                    && let Some("bootm" | "booti" | "bootz") = self.scope.value(command).as_deref()
                {
                    *ramdisk = Word::plain("-");
                }
            });
            if new != *script {
                changed.insert(variable.clone(), new.to_string());
            }
        }
        changed
    }

    /// How often the scripts use a variable.
    fn uses(&self, name: &str) -> usize {
        let mut uses = 0;
        for script in self.scripts.values() {
            script.for_each(&mut |words| {
                let pieces = words.iter().flat_map(|word| &word.0);
                uses += pieces
                    .filter(|p| matches!(p, Piece::Variable { name: n, .. } if n == name))
                    .count();
            });
        }
        uses
    }
}

/// The variable that is all of a word.
fn own_variable(word: &Word) -> Option<&str> {
    match word.0.as_slice() {
        [Piece::Variable { name, .. }] => Some(name),
        _ => None,
    }
}

/// A number as U-Boot's commands read it: hexadecimal, whether `0x` stands
/// before it or not.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    u64::from_str_radix(digits.unwrap_or(text), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = |(n, v): &(&str, &str)| ((*n).to_owned(), (*v).to_owned());
        variables.iter().map(own).collect()
    }

    #[test]
    fn copies_and_starts_are_found_wherever_they_are_written() {
        let environment = environment(&[
            (
                "bootcmd",
                "run load; if test -n \"${x}\"; then bootm ${addr}#conf-1; fi",
            ),
            (
                "load",
                "cp.b 4100000 ${addr} ${size}; cp 0x4200000 0x43000000 0x10",
            ),
            ("addr", "0x42000000"),
            ("size", "0x1000"),
            ("unused", "cp.b 1 2 3"),
        ]);
        let commands = Commands::of(&environment);
        let copies = commands.copies();
        assert_eq!(copies.len(), 2);
        let first = &copies[0];
        assert_eq!(
            (first.source, first.destination),
            (0x0410_0000, 0x4200_0000)
        );
        assert_eq!((first.bytes(), copies[1].bytes()), (0x1000, 0x40));
        assert_eq!(commands.starts(), [0x4200_0000]);
        // The variable that only this count uses, or else the word itself.
        let counts = [(copies[0].clone(), 0x800), (copies[1].clone(), 0x8)];
        let changed = commands.with_counts(&counts);
        let want = [
            (
                "load",
                "cp.b 4100000 ${addr} ${size}; cp 0x4200000 0x43000000 0x8",
            ),
            ("size", "0x800"),
        ];
        assert_eq!(changed, super::tests::environment(&want));
    }

    #[test]
    fn sectors_of_a_card_are_counted_in_bytes() {
        let environment = environment(&[("bootcmd", "mmc dev 0; mmc read 46000000 1000 0x6000")]);
        let commands = Commands::of(&environment);
        let copies = commands.copies();
        let [copy] = copies.as_slice() else {
            panic!("{copies:?}");
        };
        assert_eq!((copy.source, copy.destination), (0x20_0000, 0x4600_0000));
        assert_eq!(copy.bytes(), 0xc0_0000);
        let changed = commands.with_counts(&[(copy.clone(), 0x4000)]);
        assert_eq!(
            changed["bootcmd"],
            "mmc dev 0; mmc read 46000000 1000 0x4000"
        );
    }

    #[test]
    fn a_ramdisk_is_named_nowhere() {
        let environment = environment(&[
            ("bootcmd", "run start || bootm ${addr}#conf-1"),
            ("start", "bootm ${addr} ${addr}:ramdisk-1 ${fdtcontroladdr}"),
            ("addr", "0x42000000"),
        ]);
        let want = [("start", "bootm ${addr} - ${fdtcontroladdr}")];
        let changed = Commands::of(&environment).without_ramdisk();
        assert_eq!(changed, super::tests::environment(&want));
    }

    #[test]
    fn what_only_the_boot_knows_is_left_out() {
        let environment = environment(&[
            (
                "bootcmd",
                "setenv size 1; cp.b 1 2 ${size}; cp.b 1 2 ${filesize}; cp.b 1 2",
            ),
            ("size", "0x1000"),
        ]);
        assert!(Commands::of(&environment).copies().is_empty());
        assert!(Commands::of(&BTreeMap::new()).copies().is_empty());
    }
}
