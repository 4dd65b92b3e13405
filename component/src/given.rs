//! What a caller gives, as the crate takes it.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::file::Format;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::files::{FilesOptions, WriteMode};
use kitbag::layer::policy::{Covers, Limits, Mode, Policy, Rate, Rates, Rule, Rules, Touch};
use kitbag::layer::provenance::LabelFile;
use kitbag::protocol::{
    Capability, Content, Directories, ExecuteResult, GlobQuery, GrepQuery, Names, Reach,
    SharedBackend,
};
use kitbag::side::{Key, Room};

use crate::backends::Held;
use crate::bindings::exports::kitbag::files::backends as wit;
use crate::bindings::kitbag::files::types;
use crate::callbacks;

/// An error of the host, with its kind.
pub fn error(given: types::Error) -> Error {
    let error = Error::new(kind(given.code), given.message);
    match given.retry_after_ms {
        Some(millis) => error.retry_after(Duration::from_millis(millis)),
        None => error,
    }
}

fn kind(code: types::ErrorCode) -> Kind {
    use types::ErrorCode;
    match code {
        ErrorCode::NotFound => Kind::NotFound,
        ErrorCode::AlreadyExists => Kind::AlreadyExists,
        ErrorCode::AmbiguousEdit => Kind::AmbiguousEdit,
        ErrorCode::NoMatch => Kind::NoMatch,
        ErrorCode::Conflict => Kind::Conflict,
        ErrorCode::InvalidPath => Kind::InvalidPath,
        ErrorCode::InvalidPattern => Kind::InvalidPattern,
        ErrorCode::InvalidArgument => Kind::InvalidArgument,
        ErrorCode::PermissionDenied => Kind::PermissionDenied,
        ErrorCode::IsDirectory => Kind::IsDirectory,
        ErrorCode::TooLarge => Kind::TooLarge,
        ErrorCode::QuotaExceeded => Kind::QuotaExceeded,
        ErrorCode::RateLimited => Kind::RateLimited,
        ErrorCode::Unsupported => Kind::Unsupported,
        ErrorCode::Timeout => Kind::Timeout,
        ErrorCode::Unavailable => Kind::Unavailable,
        ErrorCode::Internal => Kind::Internal,
    }
}

/// A time.
pub fn time(given: types::Timestamp) -> Time {
    Time::from_micros(given)
}

/// A format.
pub fn format(given: types::FileFormat) -> Format {
    match given {
        types::FileFormat::V1 => Format::V1,
        types::FileFormat::V2 => Format::V2,
    }
}

/// A number of lines or matches.
pub fn count(given: u32) -> usize {
    usize::try_from(given).unwrap_or(usize::MAX)
}

/// A refusal of an option.
pub fn wrong(what: impl Into<String>) -> Error {
    Error::new(Kind::InvalidArgument, what.into())
}

/// Options for writing.
pub fn files(
    write_mode: wit::WriteMode,
    file_format: types::FileFormat,
    max_file_bytes: Option<u64>,
) -> FilesOptions {
    FilesOptions {
        write_mode: match write_mode {
            wit::WriteMode::Create => WriteMode::Create,
            wit::WriteMode::Overwrite => WriteMode::Overwrite,
        },
        format: format(file_format),
        max_file_bytes,
    }
}

/// The content of a write.
pub fn content(given: types::Content) -> Content {
    match given {
        types::Content::Text(text) => Content::Text(Bytes::from(text)),
        types::Content::Bytes(bytes) => Content::Raw(Bytes::from(bytes), None),
    }
}

/// The path of a file or directory; the root if there is none.
pub fn path(given: Option<&str>) -> Result<VPath> {
    match given {
        Some(path) => Ok(VPath::parse(path)?),
        None => Ok(VPath::root()),
    }
}

/// A place for what is kept beside the files of a backend.
pub fn room(files: &SharedBackend, given: &wit::Place<'_>, usual: &str) -> Result<Room> {
    let dir = given.path.as_deref().unwrap_or(usual);
    // The text is not shown: it may be a secret in the wrong option.
    let dir = VPath::own(dir).map_err(|_| {
        wrong("The path of a place must be a directory such as '/notes', without '..' or '\\'")
    })?;
    let at = elsewhere(files, given)?;
    Ok(Room::new(at, dir, key(given)?))
}

/// A file for labels.
pub fn label_file(files: &SharedBackend, given: &wit::Place<'_>, usual: &str) -> Result<LabelFile> {
    let path = VPath::own_file(given.path.as_deref().unwrap_or(usual))?;
    Ok(LabelFile {
        room: Room::new(elsewhere(files, given)?, path.parent(), key(given)?),
        name: path.name().into(),
    })
}

/// The backend of a place, which must not be that of the files.
fn elsewhere(files: &SharedBackend, given: &wit::Place<'_>) -> Result<SharedBackend> {
    let at = given.backend.get::<Held>().0.clone();
    match Rc::ptr_eq(files, &at) {
        true => Err(wrong(
            "The backend of a place must be another one than that of the files",
        )),
        false => Ok(at),
    }
}

fn key(given: &wit::Place<'_>) -> Result<Option<Rc<Key>>> {
    given.key.as_deref().map(Key::of).transpose()
}

/// A search in contents.
pub fn grep(given: wit::GrepQuery) -> Result<GrepQuery> {
    Ok(GrepQuery {
        path: path(given.path.as_deref())?,
        pattern: given.pattern.into(),
        glob: given.glob.map(Into::into),
        max_count: given.max_count.map(count),
        max_per_file: given.max_per_file.map(count),
        before: count(given.before),
        after: count(given.after),
        regex: given.switches.contains(wit::GrepSwitches::REGEX),
        ignore_case: given.switches.contains(wit::GrepSwitches::IGNORE_CASE),
        stats: false,
        sieve: None,
    })
}

/// A search for names.
pub fn glob(pattern: String, at: Option<String>) -> Result<GlobQuery> {
    Ok(GlobQuery::new(pattern, path(at.as_deref())?))
}

/// What a command of the host printed.
pub fn execution(given: types::Execution) -> ExecuteResult {
    ExecuteResult {
        output: given.output,
        exit_code: given.exit_code,
        truncated: given.truncated,
    }
}

/// What a volume guarantees.
pub fn capability(given: types::Capability) -> Capability {
    use types::Promises;
    let reach = |reach| match reach {
        types::Reach::Storage => Reach::Storage,
        types::Reach::Instance => Reach::Instance,
        types::Reach::Never => Reach::Never,
    };
    let has = |promise| given.promises.contains(promise);
    Capability {
        create: reach(given.create),
        update: reach(given.update),
        directories: match given.directories {
            types::Directories::Implied => Directories::Implied,
            types::Directories::Real => Directories::Real,
        },
        names: Names {
            case: has(Promises::FOLDS_CASE),
            composition: has(Promises::FOLDS_COMPOSITION),
            ..Names::default()
        },
        keeps_created: has(Promises::KEEPS_CREATED),
        keeps_mime: has(Promises::KEEPS_MIME_TYPE),
        keeps_format: has(Promises::KEEPS_FORMAT),
        keeps_modes: has(Promises::KEEPS_MODES),
        keeps_binary: has(Promises::KEEPS_BINARY),
        writable: has(Promises::WRITABLE),
        max_file_bytes: given.max_file_bytes,
        notes: given.notes.into_iter().map(Into::into).collect(),
        ..Capability::full()
    }
}

/// Rules around a backend.
pub fn policy(given: wit::Policy) -> Result<Policy> {
    let is = |switch| given.switches.contains(switch);
    let allows = !is(wit::PolicySwitches::DENY_BY_DEFAULT);
    let prefixes = given.read_only_prefixes.iter();
    let prefixes = prefixes.map(|prefix| Ok(VPath::parse(prefix)?));
    let asks = given
        .permissions
        .iter()
        .any(|rule| matches!(rule.mode, wit::Mode::Ask));
    let rules = given.permissions.into_iter().map(rule);
    let rules: Vec<Rule> = rules.collect::<Result<_>>()?;
    let rates = given.rates.into_iter().map(rate);
    let rates: Vec<Rate> = rates.collect::<Result<_>>()?;

    let switched = [wit::PolicySwitches::INSPECTS, wit::PolicySwitches::AUDITS];
    let host: Rc<str> = match given.host {
        Some(name) => name.into(),
        None if asks || switched.iter().any(|one| is(*one)) => {
            return Err(wrong(
                "Rules that ask, inspect or audit need the name of their host",
            ));
        }
        None => "".into(),
    };
    Ok(Policy {
        ask: asks.then(|| callbacks::asking(host.clone())),
        inspect: is(wit::PolicySwitches::INSPECTS).then(|| callbacks::inspecting(host.clone())),
        audit: is(wit::PolicySwitches::AUDITS).then(|| callbacks::auditing(host.clone())),
        read_only: is(wit::PolicySwitches::READ_ONLY),
        allow_execute: is(wit::PolicySwitches::ALLOW_EXECUTE).then_some(true),
        hidden_characters: is(wit::PolicySwitches::ALLOW_HIDDEN_CHARACTERS),
        deny_prefixes: prefixes.collect::<Result<_>>()?,
        permissions: (!rules.is_empty() || !allows).then(|| Rules::new(rules, allows)),
        rates: Rates::new(rates),
        quota: given.quota.map(|quota| Limits {
            max_bytes: quota.max_bytes,
            max_files: quota.max_files,
            max_file_bytes: quota.max_file_bytes,
        }),
        ..Policy::default()
    })
}

fn rule(given: wit::Rule) -> Result<Rule> {
    if given.paths.is_empty() {
        return Err(wrong("A rule must have a path at least"));
    }
    let mut touches = Vec::new();
    for (flag, touch) in [
        (wit::Touches::READ, Touch::Read),
        (wit::Touches::WRITE, Touch::Write),
    ] {
        if given.operations.contains(flag) {
            touches.push(touch);
        }
    }
    if touches.is_empty() {
        return Err(wrong("A rule must be about reading, writing or both"));
    }
    let mode = match given.mode {
        wit::Mode::Allow => Mode::Allow,
        wit::Mode::Deny => Mode::Deny,
        wit::Mode::Ask => Mode::Ask,
    };
    let rule = Rule::new(&touches, mode, given.paths.iter().map(String::as_str))?;
    Ok(match given.name {
        Some(name) => rule.named(&name),
        None => rule,
    })
}

fn rate(given: wit::Rate) -> Result<Rate> {
    if given.per_ms == 0 {
        return Err(wrong("The period of a rate must be a millisecond at least"));
    }
    Ok(Rate {
        covers: match given.kind {
            wit::RateKind::All => Covers::Everything,
            wit::RateKind::Reads => Covers::Reads,
            wit::RateKind::Writes => Covers::Writes,
        },
        operations: count(given.operations),
        per: Duration::from_millis(given.per_ms),
    })
}
