//! What can be asked of a history, and of what is kept with one. The JavaScript side has the same numbers
//! (`ts/core/questions.ts`); a test compares the two lists.

macro_rules! questions {
    ($($name:ident = $number:literal $about:literal)*) => {
        $(
            #[doc = $about]
            pub const $name: u8 = $number;
        )*

        #[cfg(test)]
        const ALL: &[(&str, u8)] = &[$((stringify!($name), $number)),*];
    };
}

questions! {
    LOG = 0 "The newest changes of a path."
    DIFF = 1 "What was changed from one moment to another; an empty second one is now."
    RESTORE = 2 "Gives a path what it held at a moment."
    WHY = 3 "The calls that made a file what it is."
    PRUNE = 4 "Drops what is not kept."
    KEPT_TURNS = 5 "The turns that are kept in a directory of a backend."
    PIN = 6 "Names the state of all files."
    UNPIN = 7 "Lets a pin go."
    PINS = 8 "All pins."
    VERIFY = 9 "Whether a pin or, without one, every pin is whole."
    LABEL = 10 "Gives a pin a label."
    LABELLED = 11 "The pin that has a label."
    CHANGED = 12 "The next changes of a turn that is kept."
    SHOWING = 13 "Those of some files, in lines, that show through a turn that is kept."
}

#[cfg(test)]
mod tests {
    #[test]
    fn javascript_has_the_same_numbers() {
        let source = include_str!("../../../ts/core/questions.ts");
        let lines = source
            .lines()
            .filter_map(|line| line.strip_prefix("export const "));
        let expected = super::ALL.iter();
        let expected = expected.map(|(name, number)| format!("{name} = {number};"));
        assert_eq!(lines.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
