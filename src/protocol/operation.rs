//! The operations, each named once. The JavaScript side numbers them in the same order
//! (`ts/core/operations.ts`); a test compares the two lists.

use crate::core::running;

/// Whether an operation reads files, changes them, or runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Changes files.
    Writes,
    /// Runs a command, which may do anything.
    Runs,
}

macro_rules! operations {
    ($($operation:ident $name:literal $effect:ident)*) => {
        /// An operation that an agent can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $(
                #[doc = concat!("`", $name, "`")]
                $operation,
            )*
        }

        impl Operation {
            /// All operations, in the order of their numbers.
            pub const ALL: &'static [Operation] = &[$(Operation::$operation),*];

            /// The name of its JavaScript method, which is its name everywhere.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$operation => $name),* }
            }

            /// What it does.
            pub const fn effect(self) -> Effect {
                match self { $(Operation::$operation => Effect::$effect),* }
            }
        }
    };
}

operations! {
    Ls "ls" Reads
    Read "read" Reads
    ReadRaw "readRaw" Reads
    Grep "grep" Reads
    Glob "glob" Reads
    Write "write" Writes
    Edit "edit" Writes
    Delete "delete" Writes
    UploadFiles "uploadFiles" Writes
    DownloadFiles "downloadFiles" Reads
    Execute "execute" Runs
    Move "move" Writes
    Copy "copy" Writes
    Append "append" Writes
}

impl Operation {
    /// The tool or the method that was called, if it is not the one of this operation: `edit_file` for
    /// the `readRaw` that it begins with, `copy` for an `uploadFiles` into another mount.
    pub fn called(self) -> Option<&'static str> {
        running::called().filter(|name| *name != self.name())
    }

    /// Its name in a refusal: that of the method that was called. A tool has the name of what it does,
    /// but for what no tool is about.
    pub fn spoken(self) -> &'static str {
        let apart = matches!(
            self,
            Operation::ReadRaw | Operation::UploadFiles | Operation::DownloadFiles
        );
        running::called()
            .filter(|called| apart || Operation::named(called).is_some())
            .unwrap_or(self.name())
    }

    /// The operation with a number.
    pub fn numbered(number: u8) -> Option<Operation> {
        Operation::ALL.get(usize::from(number)).copied()
    }

    /// The operation with a name.
    pub fn named(name: &str) -> Option<Operation> {
        let mut all = Operation::ALL.iter().copied();
        all.find(|operation| operation.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typescript_numbers_the_same_operations() {
        let source = include_str!("../../ts/core/operations.ts");
        let list = source
            .split_once("OPERATIONS = [")
            .and_then(|(_, rest)| rest.split_once(']'))
            .map(|(list, _)| list)
            .expect("the list");
        let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        let ours: Vec<&str> = Operation::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names, ours);
    }

    #[test]
    fn a_number_and_a_name_lead_back_to_the_operation() {
        for (number, operation) in (0u8..).zip(Operation::ALL) {
            assert_eq!(Operation::numbered(number), Some(*operation));
            assert_eq!(Operation::named(operation.name()), Some(*operation));
        }
        assert_eq!(Operation::numbered(Operation::ALL.len() as u8), None);
        assert_eq!(Operation::named("upload"), None);
    }
}
