//! What is known of a target without booting it: its command line and its
//! configurations.
//!
//! Users give these as files of their own, a target knows some, and a boot log
//! tells the rest; rules do not care from where.

use std::collections::BTreeMap;

use bootlap_artefact::barebox_env::BareboxEnv;
use bootlap_artefact::uboot_env::UbootEnv;
use bootlap_kbuild::dot_config::DotConfig;
use bootlap_model::{Timeline, TrackKind};
use bootlap_product::{Parts, Target};
use memchr::memmem::Finder;

/// What is known without a boot; `None` where nothing is.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The kernel's command line.
    pub cmdline: Option<String>,
    /// The kernel's `.config`.
    pub kernel_config: Option<DotConfig>,
    /// U-Boot's `.config`.
    pub uboot_config: Option<DotConfig>,
    /// U-Boot's environment.
    pub environment: Option<UbootEnv>,
    /// barebox's environment.
    pub barebox: Option<BareboxEnv>,
    /// What U-Boot counted down from on a console without times, seconds.
    pub countdown_s: Option<u32>,
    /// Of initcalls, the option without which each would not be there and that a
    /// menu offers to switch off, without `CONFIG_`.
    pub initcall_options: BTreeMap<String, String>,
}

impl Facts {
    /// What a target says of itself.
    pub fn of_target(target: &Target, parts: &Parts) -> Self {
        let spec = &target.spec;
        let environment = spec.bootloader.as_ref().map(|b| {
            let mut environment = UbootEnv::new();
            for (name, value) in &b.environment {
                // What cannot be in an environment was refused with the target.
                let _ = environment.set(name, value);
            }
            environment
        });
        Self {
            cmdline: spec.kernel.as_ref().map(|k| k.cmdline.clone()),
            kernel_config: parts.kernel_config.clone(),
            environment,
            ..Self::default()
        }
    }

    /// What a boot's log says: the command line.
    pub fn of_boot(timeline: &Timeline) -> Self {
        let says = Finder::new("ernel command line: ");
        let console = timeline.spans_of(TrackKind::Console);
        let mut said = console.filter_map(|line| {
            let text = timeline.text(line.name);
            let at = says.find(text.as_bytes())? + says.needle().len();
            Some(text[at..].trim().to_owned())
        });
        Self {
            cmdline: said.next(),
            ..Self::default()
        }
    }

    /// These facts, and where nothing is known, the `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            cmdline: self.cmdline.or(others.cmdline),
            kernel_config: self.kernel_config.or(others.kernel_config),
            uboot_config: self.uboot_config.or(others.uboot_config),
            environment: self.environment.or(others.environment),
            barebox: self.barebox.or(others.barebox),
            countdown_s: self.countdown_s.or(others.countdown_s),
            initcall_options: match self.initcall_options.is_empty() {
                true => others.initcall_options,
                false => self.initcall_options,
            },
        }
    }
}
