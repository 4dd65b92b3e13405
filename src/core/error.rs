//! The only error type. It has a stable code for programs, a message for people, and the path as a
//! separate value, so that a composite can rewrite the path without changing the text around it. An
//! error thrown by the host is kept as the source.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::core::path::{InvalidPath, VPath};
use crate::core::visible::visible;

/// The kind of an error, with a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// There is no such file.
    NotFound,
    /// The file exists, and the operation only creates files.
    AlreadyExists,
    /// The text to replace occurs more than once.
    AmbiguousEdit,
    /// The text to replace does not occur.
    NoMatch,
    /// Other writers changed the file, and the bounded retries failed.
    Conflict,
    /// The given text is not a valid path.
    InvalidPath,
    /// A glob or regular expression cannot be parsed.
    InvalidPattern,
    /// Another argument has the wrong type or value.
    InvalidArgument,
    /// A rule or the storage does not allow the operation.
    PermissionDenied,
    /// The path is a directory, but a file was expected.
    IsDirectory,
    /// A file or request exceeds a size limit.
    TooLarge,
    /// The storage quota is exceeded.
    QuotaExceeded,
    /// Too many operations in too short a time.
    RateLimited,
    /// This backend does not support the operation.
    Unsupported,
    /// The operation timed out.
    Timeout,
    /// The storage cannot be reached, or it failed.
    Unavailable,
    /// A bug in this library.
    Internal,
}

/// Defines the code of every kind, once.
macro_rules! codes {
    ($($kind:ident => $code:literal,)+) => {
        /// Every kind.
        const ALL: &[Kind] = &[$(Kind::$kind),+];

        /// The code that callers see in `code`.
        pub fn code(self) -> &'static str {
            match self {
                $(Kind::$kind => $code,)+
            }
        }
    };
}

impl Kind {
    codes! {
        NotFound => "not_found",
        AlreadyExists => "already_exists",
        AmbiguousEdit => "ambiguous_edit",
        NoMatch => "no_match",
        Conflict => "conflict",
        InvalidPath => "invalid_path",
        InvalidPattern => "invalid_pattern",
        InvalidArgument => "invalid_argument",
        PermissionDenied => "permission_denied",
        IsDirectory => "is_directory",
        TooLarge => "too_large",
        QuotaExceeded => "quota_exceeded",
        RateLimited => "rate_limited",
        Unsupported => "unsupported",
        Timeout => "timeout",
        Unavailable => "unavailable",
        Internal => "internal",
    }

    /// The kind for a code, for errors that foreign backends report.
    pub fn from_code(code: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// The error code of `uploadFiles` and `downloadFiles`.
    pub fn file_operation_error(self) -> &'static str {
        match self {
            Kind::NotFound => "file_not_found",
            Kind::IsDirectory => "is_directory",
            Kind::InvalidPath | Kind::InvalidArgument => "invalid_path",
            _ => "permission_denied",
        }
    }
}

/// A refusal or failure, ready to be shown.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: Kind,
    before: Cow<'static, str>,
    path: Option<VPath>,
    after: Cow<'static, str>,
    source: Option<Rc<dyn std::error::Error>>,
    retry_after: Option<Duration>,
    by_rule: bool,
    rule: Option<Cow<'static, str>>,
    target: Option<Target>,
}

/// Where the path really is, if it leads through a symbolic link.
#[derive(Clone)]
struct Target {
    path: VPath,
    /// Whether the rules around the storage let callers know.
    is_shown: bool,
}

/// What a message says before the place where a link leads; `)` ends it.
pub const RESOLVES: &str = " (resolves to ";

/// The result of anything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error without a path.
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(Inner {
            kind,
            before: message.into(),
            path: None,
            after: Cow::Borrowed(""),
            source: None,
            retry_after: None,
            by_rule: false,
            rule: None,
            target: None,
        }))
    }

    /// An error with somebody else's message. If that names `path`, it is about the path, so that a router can put
    /// another in its place.
    pub fn naming(kind: Kind, message: &str, path: Option<&VPath>) -> Error {
        let split = path.filter(|path| !path.is_root()).and_then(|path| {
            let (before, after) = message.split_once(path.as_str())?;
            // Beyond ASCII every character counts as a letter, with which another path goes on.
            let goes_on =
                |next: char| next.is_ascii_alphanumeric() || !next.is_ascii() || next == '/';
            let is_whole = !after.chars().next().is_some_and(goes_on);
            is_whole.then(|| Error::at(kind, before.to_owned(), path, after.to_owned()))
        });
        split.unwrap_or_else(|| Error::new(kind, message.to_owned()))
    }

    /// An error about `path`; the message is `before`, the path, `after`.
    pub fn at(
        kind: Kind,
        before: impl Into<Cow<'static, str>>,
        path: &VPath,
        after: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error(Box::new(Inner {
            kind,
            before: before.into(),
            path: Some(path.clone()),
            after: after.into(),
            source: None,
            retry_after: None,
            by_rule: false,
            rule: None,
            target: None,
        }))
    }

    /// An option has a text that it cannot have. The text is not shown: it may be a secret in the wrong
    /// option.
    pub fn option(name: &str, wanted: &str, given: &str) -> Error {
        let given = if given.is_empty() { "\"\"" } else { "a string" };
        Error::new(
            Kind::InvalidArgument,
            format!("option \"{name}\" must be {wanted}, not {given}"),
        )
    }

    /// `File '/x' not found`, the message of `read`.
    pub fn not_found(path: &VPath) -> Error {
        Error::at(Kind::NotFound, "File '", path, "' not found")
    }

    /// The same where a directory is, which is no file.
    pub fn not_a_file(path: &VPath) -> Error {
        let why = "' not found: it is a directory. List it with ls, or name a file below it";
        Error::at(Kind::IsDirectory, "File '", path, why)
    }

    /// `Error: File '/x' not found`, the message of `edit` and `delete`.
    pub fn nothing_there(path: &VPath) -> Error {
        Error::at(Kind::NotFound, "Error: File '", path, "' not found")
    }

    /// Whether a read failed because there is no file at the path: nothing, or a directory.
    pub fn is_no_file(&self) -> bool {
        matches!(self.kind(), Kind::NotFound | Kind::IsDirectory)
    }

    /// Whether nobody answered the question: this says nothing about what was asked for.
    pub fn is_no_answer(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Timeout | Kind::Unavailable | Kind::Internal
        )
    }

    /// The error for a directory where a file is expected.
    pub fn is_directory(path: &VPath) -> Error {
        Error::at(Kind::IsDirectory, "'", path, "' is a directory, not a file")
    }

    /// The error of a create if the file exists.
    pub fn already_exists(path: &VPath) -> Error {
        Error::at(
            Kind::AlreadyExists,
            "Cannot write to ",
            path,
            " because it already exists. Read and then make an edit, or write to a new path. \
             A backend with the option writeMode: \"overwrite\" replaces it.",
        )
    }

    /// The error for a version that is no longer current.
    pub fn conflict(path: &VPath) -> Error {
        Error::at(
            Kind::Conflict,
            "'",
            path,
            "' was changed by another writer at the same time. Read it again and repeat the change.",
        )
    }

    /// A bug in this library, reported as an error instead of a panic.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Kind::Internal, message)
    }

    /// The same error, with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: Rc<dyn std::error::Error>) -> Error {
        self.0.source = Some(source);
        self
    }

    /// The same error, with the time after which a retry can succeed.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Error {
        self.0.retry_after = Some(wait);
        self
    }

    /// The same error, marked as the decision of a rule and not a failure of a storage.
    #[must_use]
    pub fn by_rule(mut self) -> Error {
        self.0.by_rule = true;
        self
    }

    /// The same error, with the option of the policy that decided it, or the name of its rule; the first
    /// one named stays.
    #[must_use]
    pub fn decided_by(mut self, rule: impl Into<Cow<'static, str>>) -> Error {
        self.0.rule.get_or_insert_with(|| rule.into());
        self
    }

    /// The same error, with its paths replaced by what `rewrite` returns for them.
    #[must_use]
    pub fn map_path(mut self, rewrite: impl Fn(&VPath) -> VPath) -> Error {
        if let Some(path) = &mut self.0.path {
            *path = rewrite(path);
        }
        if let Some(target) = &mut self.0.target {
            target.path = rewrite(&target.path);
        }
        self
    }

    /// The same error, with the place where the links of its path lead. Nobody is told before the rules about
    /// paths were asked.
    #[must_use]
    pub fn leading_to(mut self, path: VPath) -> Error {
        self.0.target = Some(Target {
            path,
            is_shown: false,
        });
        self
    }

    /// The same error as rules about paths let it be seen: with the place where its path leads only if they
    /// show that.
    #[must_use]
    pub fn seen_by(mut self, shows: impl FnOnce(&VPath) -> bool) -> Error {
        match &mut self.0.target {
            Some(target) if shows(&target.path) => target.is_shown = true,
            _ => self.0.target = None,
        }
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The code that callers see in `code`.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The option of a policy that decided it, or the name of its rule, if one did.
    pub fn rule(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// Whether a rule decided it.
    pub fn is_by_rule(&self) -> bool {
        self.0.by_rule
    }

    /// The path it is about.
    pub fn path(&self) -> Option<&VPath> {
        self.0.path.as_ref()
    }

    /// What caused it.
    pub fn cause(&self) -> Option<&Rc<dyn std::error::Error>> {
        self.0.source.as_ref()
    }

    /// The time after which a retry can succeed.
    pub fn wait(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut put = |text: &str| f.write_str(&visible(text));
        put(&self.0.before)?;
        if let Some(path) = &self.0.path {
            put(path.as_str())?;
        }
        put(&self.0.after)?;
        match &self.0.target {
            Some(target) if target.is_shown => put(&format!("{RESOLVES}{})", target.path)),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.code())
    }
}

impl std::error::Error for Error {}

impl From<InvalidPath> for Error {
    fn from(error: InvalidPath) -> Error {
        Error::new(Kind::InvalidPath, String::from(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewritten_path_leaves_the_sentence_around_it_alone() {
        let path = VPath::parse("/a.txt").expect("a path");
        let error = Error::not_found(&path);
        assert_eq!(error.to_string(), "File '/a.txt' not found");
        let mounted = error.map_path(|_| VPath::parse("/memories/a.txt").expect("a path"));
        assert_eq!(mounted.to_string(), "File '/memories/a.txt' not found");
        assert_eq!(mounted.code(), "not_found");
    }

    #[test]
    fn a_message_is_about_the_path_that_it_names_whole() {
        let path = VPath::parse("/a.txt").expect("a path");
        let other = || VPath::parse("/m/b").expect("a path");
        for (message, mapped) in [
            ("no '/a.txt' here", "no '/m/b' here"),
            ("no /a.txt", "no /m/b"),
            ("no /a.txt.", "no /m/b."),
            ("no /a.txt2", "no /a.txt2"),
            ("no /a.txt/x", "no /a.txt/x"),
            ("no /a.txt\u{e4}", "no /a.txt\u{e4}"),
            ("nothing", "nothing"),
        ] {
            let error = Error::naming(Kind::NotFound, message, Some(&path));
            assert_eq!(error.to_string(), message);
            assert_eq!(error.map_path(|_| other()).to_string(), mapped);
        }
        let root = Error::naming(Kind::NotFound, "no / here", Some(&VPath::root()));
        assert_eq!(root.map_path(|_| other()).to_string(), "no / here");
    }

    #[test]
    fn where_a_link_leads_is_told_only_if_all_rules_show_it() {
        let path = |text: &str| VPath::parse(text).expect("a path");
        let error = || Error::not_found(&path("/l")).leading_to(path("/t"));
        let plain = "File '/l' not found";
        let told = "File '/l' not found (resolves to /t)";
        assert_eq!(error().to_string(), plain);
        assert_eq!(error().seen_by(|_| false).to_string(), plain);
        assert_eq!(error().seen_by(|_| true).to_string(), told);
        let outer = |shows: bool| error().seen_by(|_| true).seen_by(|_| shows).to_string();
        assert_eq!([outer(true), outer(false)], [told, plain]);
        // What one policy hides, no other one shows.
        let hidden = error().seen_by(|_| false).seen_by(|_| true);
        assert_eq!(hidden.to_string(), plain);
        let mounted = error().map_path(|path| {
            path.rebase(&VPath::root(), &VPath::parse("/m").expect("a path"))
                .expect("a path")
        });
        let seen = mounted.seen_by(|path| path.as_str() == "/m/t");
        assert_eq!(seen.to_string(), "File '/m/l' not found (resolves to /m/t)");
    }

    #[test]
    fn every_code_leads_back_to_its_kind() {
        let mut codes: Vec<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(*kind));
        }
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), 17);
        assert_eq!(Kind::from_code("nonsense"), None);
    }
}
