//! `bootlap import`: makes a target of a disk image.

use bootlap_engine::import::{Request, Wish, import};
use bootlap_engine::{Exit, Failure, Progress, TOOL};
use bootlap_model::shell_word;
use bootlap_product::Cache;
use bootlap_report::imported;

use crate::args::{Import, cache};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Import, ui: &Ui) -> Result<Exit, Failure> {
    let wish = match args.user_space {
        true => Some(Wish::UserSpace),
        false => args.firmware,
    };
    let cache = Cache::at(cache(args.cache.as_deref()));
    let request = Request {
        image: &args.image,
        out: &args.out,
        wish,
        kernel: args.kernel.as_deref(),
        initramfs: args.initramfs.as_deref(),
        cache: &cache,
    };
    let found = import(&request, ui)?;
    match args.json {
        true => ui.document(imported::json(&found, TOOL))?,
        false => ui.print(&imported::text(&found, &ui::style())),
    }
    ui.note(&format!(
        "{} describes it; next: bootlap boot {}",
        shell_word(&found.target),
        shell_word(args.out.display())
    ));
    Ok(Exit::Ok)
}
