//! The guide's page about rules, as the program needs it.

use std::collections::BTreeMap;

/// The page: `## layer`, then `### rule` and what it is about.
const GUIDE: &str = include_str!("../../../../docs/rules.md");

/// What a rule is about, in the order in which the references work: what lies
/// nearest to the product and costs least risk comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The application and what it is made of.
    Application,
    /// Start-up scripts, service managers, daemons.
    Userspace,
    /// The root filesystem and how it is stored.
    Filesystem,
    /// The initramfs.
    Initramfs,
    /// The kernel, its configuration and command line.
    Kernel,
    /// The boot loader.
    Bootloader,
    /// What runs before the boot loader.
    Firmware,
}

impl Layer {
    const ALL: [Layer; 7] = [
        Layer::Application,
        Layer::Userspace,
        Layer::Filesystem,
        Layer::Initramfs,
        Layer::Kernel,
        Layer::Bootloader,
        Layer::Firmware,
    ];

    /// The word that people see.
    pub fn text(self) -> &'static str {
        match self {
            Layer::Application => "application",
            Layer::Userspace => "user space",
            Layer::Filesystem => "filesystem",
            Layer::Initramfs => "initramfs",
            Layer::Kernel => "kernel",
            Layer::Bootloader => "boot loader",
            Layer::Firmware => "firmware",
        }
    }
}

/// What the guide says of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// What it is about.
    pub layer: Layer,
    /// All of it, in Markdown; its first sentence says what the rule looks for.
    pub text: &'static str,
}

impl Page {
    /// What the rule looks for, in one line.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.strip_suffix('.').unwrap_or(first)
    }

    /// The same as findings have it, which begin like a part of a sentence.
    pub(super) fn finding_title(&self) -> String {
        let title = self.title();
        let first = title.split(' ').next().unwrap_or_default();
        // `U-Boot`, `SELinux's`: names stay as they are.
        match first.chars().skip(1).any(char::is_uppercase) {
            true => title.to_owned(),
            false => lower(title),
        }
    }

    /// What to do: the first sentence of its fix.
    pub(super) fn fix(&self) -> String {
        let text = self.paragraph("Fix");
        let first = text.split(". ").next().unwrap_or_default();
        lower(first.strip_suffix('.').unwrap_or(first))
    }

    /// What can go wrong with that: all of it.
    pub fn risk(&self) -> String {
        self.paragraph("Risk")
    }

    /// The paragraph that begins with this word, on one line.
    fn paragraph(&self, name: &str) -> String {
        let head = format!("**{name}.** ");
        let mut paragraphs = self.text.split("\n\n");
        let found = paragraphs.find_map(|p| p.strip_prefix(&*head));
        found.unwrap_or_default().replace('\n', " ")
    }
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    first.chain(chars).collect()
}

/// The pages by the names of their rules.
pub(super) fn all() -> BTreeMap<&'static str, Page> {
    let mut pages = BTreeMap::new();
    for section in GUIDE.split("\n## ").skip(1) {
        let (heading, rules) = section.split_once('\n').unwrap_or((section, ""));
        let Some(layer) = Layer::ALL.into_iter().find(|l| l.text() == heading) else {
            continue;
        };
        for rule in rules.split("\n### ").skip(1) {
            let (name, text) = rule.split_once("\n\n").unwrap_or((rule, ""));
            let text = text.trim_end();
            pages.insert(name, Page { layer, text });
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_begin_like_a_part_of_a_sentence_and_fixes_are_one() {
        let page = |text| Page {
            layer: Layer::Kernel,
            text,
        };
        let cpu = page(
            "The CPU starts slowly.\n\n**Fix.** Raise its\nclock. Or wait.\n\n**Risk.** None.",
        );
        assert_eq!(cpu.finding_title(), "the CPU starts slowly");
        assert_eq!(cpu.fix(), "raise its clock");
        let loader = page("U-Boot waits.");
        assert_eq!(loader.finding_title(), "U-Boot waits");
    }
}
