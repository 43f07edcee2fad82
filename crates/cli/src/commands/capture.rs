//! `bootlap capture`: records a console as it comes.

use bootlap_model::shell_word;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bootlap_engine::Progress;
use bootlap_engine::{Exit, Failure};
use bootlap_lab::capture::{Pin, Plan, Sending, capture};
use bootlap_lab::port::{Address, Flow, LineFormat, Settings};
use bootlap_lab::{Manifest, Mode, Outcome, Run, RunError};
use regex::bytes::Regex;

use crate::args::{Capture, FlowArg, PinArg};
use crate::live::{History, Keyboard, Live, Shown};
use crate::signals::stop_flag;
use crate::ui::Ui;

pub(crate) fn run(args: &Capture, ui: &Ui) -> Result<Exit, Failure> {
    let (plan, history) = plan(args)?;
    let stop = stop_flag()?;
    let shown = match args {
        Capture { json: true, .. } => Shown::Json,
        Capture { raw: true, .. } => Shown::Raw,
        Capture {
            grabserial: true, ..
        } => Shown::Grabserial,
        _ => Shown::Lines,
    };
    let mut live = Live::new(shown, args.boots, ui.quiet(), history);
    let keyboard = match plan.port {
        Address::Stdin => None,
        _ => Keyboard::take(),
    };
    let typed = keyboard.as_ref().map(|k| &k.typed);
    let result = capture(&plan, typed, &stop, &mut |told| live.hear(&told));
    drop(keyboard);
    if !live.done(stop.load(Ordering::Relaxed)) && result.is_ok() {
        ui.note("bootlap: not all could be shown, but all of it is in the run");
    }
    let recorded = result.map_err(|e| match &e {
        bootlap_lab::LabError::Run(RunError::Io { .. }) if plan.dir.exists() => {
            let dir = shell_word(plan.dir.display());
            Failure::from(e).hint(format!(
                "what had been written until then is kept: bootlap show {dir}"
            ))
        }
        _ => Failure::from(e),
    })?;
    if let Some(why) = recorded.failed {
        return Err(Failure::new(Exit::MachineFailed, why));
    }
    let unready = recorded
        .runs
        .iter()
        .find_map(|run| match &run.manifest.outcome {
            Some(Outcome::NeverReady(why)) => Some((run, why)),
            _ => None,
        });
    if let Some((run, why)) = unready {
        let pattern = &run.manifest.ready_pattern;
        let failure = Failure::new(Exit::NeverReady, format!("`{pattern}` was not met: {why}"));
        return Err(failure.hint(format!("look at {}", run.dir.join("console").display())));
    }
    Ok(Exit::Ok)
}

fn usage(text: impl ToString) -> Failure {
    Failure::new(Exit::Usage, text)
}

fn plan(args: &Capture) -> Result<(Plan, History), Failure> {
    let port = match (&args.device, &args.exec) {
        (_, Some(command)) => Address::parse(&format!("exec:{command}"))?,
        (Some(device), None) => Address::parse(device)?,
        (None, None) => return Err(usage("name a device, or a command with --exec")),
    };
    let from = pattern("--from", args.from.as_deref())?;
    let until = pattern("--until", args.until.as_deref())?;
    let ready = pattern("--ready", args.ready.as_deref())?;
    let marks = args.mark.iter().map(|m| mark(m));
    let marks = marks.collect::<Result<Vec<_>, _>>()?;
    let send = args.send.iter().map(|s| sending(s));
    let send = send.collect::<Result<Vec<_>, _>>()?;
    let powers = args.power_cmd.is_some() || [args.dtr, args.rts].contains(&Some(PinArg::Pulse));
    if args.power_off_cmd.is_some() && args.power_cmd.is_none() {
        return Err(usage("--power-off-cmd goes with --power-cmd"));
    }
    let ends = until.is_some() || ready.is_some();
    if args.boots > 1 && powers && !ends && args.seconds.is_none() && args.idle.is_none() {
        return Err(usage(
            "each of several boots needs an end: --until, --ready, --for or --idle",
        ));
    }
    let ready_pattern = args.ready.as_ref().or(args.until.as_ref());
    let ready_pattern = ready_pattern.cloned().unwrap_or_default();
    let name = args.name.clone().unwrap_or_else(|| port.short_name());
    let (dir, family) = folders(args, &name)?;
    let history = History::read(&family, &ready_pattern);
    let pin = |pin: Option<PinArg>| pin.map(Pin::from);
    let level = |pin: Option<PinArg>| match pin {
        Some(PinArg::On) => Some(true),
        Some(PinArg::Off | PinArg::Pulse) => Some(false),
        None => None,
    };
    let plan = Plan {
        manifest: manifest(args, &port, name, ready_pattern),
        settings: Settings {
            baud: args.baud,
            format: LineFormat::parse(&args.line)?,
            flow: match args.flow {
                FlowArg::None => Flow::None,
                FlowArg::Xonxoff => Flow::XonXoff,
                FlowArg::Rtscts => Flow::RtsCts,
            },
            dtr: level(args.dtr),
            rts: level(args.rts),
            ..Settings::default()
        },
        port,
        from,
        until,
        ready,
        marks,
        longest: args.seconds.map(Duration::from_secs_f64),
        idle: args.idle.map(Duration::from_secs_f64),
        patience: Duration::from_secs_f64(args.gone),
        power_cmd: args.power_cmd.clone(),
        power_off_cmd: args.power_off_cmd.clone(),
        off: Duration::from_secs_f64(args.off),
        dtr: pin(args.dtr),
        rts: pin(args.rts),
        send,
        boots: args.boots,
        dir,
    };
    Ok((plan, history))
}

/// Where to record, and where earlier runs are.
fn folders(args: &Capture, name: &str) -> Result<(PathBuf, PathBuf), Failure> {
    let Some(out) = &args.out else {
        let family = args.runs.join(name);
        return Ok((bootlap_engine::lab::new_session(&family), family));
    };
    let taken = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if taken || Run::is_run(out) {
        let failure = usage(format!("{} is there already", out.display()));
        return Err(failure.hint("name a folder that is not, or leave --out away"));
    }
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty());
    let family = parent.map_or_else(|| PathBuf::from("."), PathBuf::from);
    Ok((out.clone(), family))
}

fn manifest(args: &Capture, port: &Address, name: String, ready_pattern: String) -> Manifest {
    let marks = args.mark.iter().filter_map(|m| m.split_once('='));
    Manifest {
        target_path: port.to_string(),
        ready_pattern,
        marks: marks.map(|(n, p)| (n.to_owned(), p.to_owned())).collect(),
        ..Manifest::new(&name, Mode::Board)
    }
}

fn pattern(option: &str, text: Option<&str>) -> Result<Option<Regex>, Failure> {
    let Some(text) = text else { return Ok(None) };
    if text.is_empty() {
        return Err(usage(format!(
            "{option}: an empty pattern meets everything"
        )));
    }
    let compiled = Regex::new(text).map_err(|e| usage(format!("{option}: {e}")))?;
    Ok(Some(compiled))
}

/// `kernel=Linux version`
fn mark(text: &str) -> Result<(String, Regex), Failure> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, text) = parts.ok_or_else(|| usage(format!("--mark {text}: write NAME=REGEX")))?;
    let compiled = pattern("--mark", Some(text))?;
    let compiled = compiled.ok_or_else(|| usage("--mark: no pattern"))?;
    Ok((name.to_owned(), compiled))
}

/// `root\r`, or `login: =root\r`
fn sending(text: &str) -> Result<Sending, Failure> {
    let (when, text) = match text.split_once('=') {
        Some((when, text)) => (Some(when).filter(|w| !w.is_empty()), text),
        None => (None, text),
    };
    let bytes = unescape(text).ok_or_else(|| {
        usage(format!(
            "--send {text}: after a backslash comes r, n, t, e, 0, \\ or xHH"
        ))
    })?;
    Ok(Sending {
        when: pattern("--send", when)?,
        bytes,
    })
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next()? {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'e' => 0x1b,
            b'0' => 0,
            b'\\' => b'\\',
            b'x' => {
                let digit = |b: u8| char::from(b).to_digit(16);
                let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                u8::try_from(high << 4 | low).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

impl From<PinArg> for Pin {
    fn from(pin: PinArg) -> Self {
        match pin {
            PinArg::On => Pin::On,
            PinArg::Off => Pin::Off,
            PinArg::Pulse => Pin::Pulse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_written_with_backslashes() {
        let bytes = |text: &str| sending(text).map(|s| s.bytes).ok();
        assert_eq!(bytes("root\\r"), Some(b"root\r".to_vec()));
        assert_eq!(bytes("\\x03\\e\\0\\\\"), Some(vec![3, 0x1b, 0, b'\\']));
        assert_eq!(bytes("\\q"), None);
        assert_eq!(bytes("\\x1"), None);
        let on = sending("login: =root\\r").unwrap();
        assert_eq!(on.when.unwrap().as_str(), "login: ");
        let with_equals = sending("=setenv a=b\\r").unwrap();
        assert!(with_equals.when.is_none());
        assert_eq!(with_equals.bytes, b"setenv a=b\r");
    }
}
