//! Which spellings of a name a storage takes for one and the same.

/// What a storage does not distinguish in names, and which names may be new. The default is an exact
/// storage without deceptive names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Upper and lower case, as on Windows.
    pub case: bool,
    /// Composed and decomposed letters (NFC and NFD), as on macOS.
    pub composition: bool,
    /// Whether a file may be created with characters in its name that nobody sees, or that reorder others.
    pub deceptive: bool,
}

impl Names {
    /// Whether any two spellings are one name.
    pub fn folds(self) -> bool {
        self.case || self.composition
    }

    /// What two storages in one tree fold, and both allow, together.
    pub fn and(self, other: Names) -> Names {
        Names {
            case: self.case || other.case,
            composition: self.composition || other.composition,
            deceptive: self.deceptive && other.deceptive,
        }
    }

    /// What a capability of the host says; `None` for any other text.
    pub fn of(text: &str) -> Option<Names> {
        let (case, composition) = match text {
            "exact" => (false, false),
            "case" => (true, false),
            "composition" => (false, true),
            "case and composition" => (true, true),
            _ => return None,
        };
        Some(Names {
            case,
            composition,
            ..Names::default()
        })
    }
}
