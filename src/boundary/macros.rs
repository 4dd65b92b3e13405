//! The macros that describe what crosses. Each gives a type its decoder, and in tests the description
//! that is printed for TypeScript.

/// Makes an enum readable, by the words that TypeScript has for its variants.
macro_rules! words {
    ($type:ty { $first:ident = $head:literal $(, $variant:ident = $word:literal)* $(,)? }) => {
        impl $crate::boundary::Field for $type {
            fn read(reader: &mut $crate::boundary::Reader<'_>) -> $type {
                reader.word(&[<$type>::$first $(, <$type>::$variant)*], <$type>::$first)
            }

            #[cfg(test)]
            fn kind() -> $crate::boundary::printed::Node {
                $crate::boundary::printed::Node::words(&[$head $(, $word)*])
            }
        }
    };
}

/// Defines a struct whose fields cross in their order. Behind a type are the default (`= "files"`) and,
/// in brackets, what TypeScript needs to know besides: `own` for a value that does not come from an
/// option of the same name, and the limits and texts that `ts/core/given.ts` lists.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($field:ident: $type:ty $(= $usual:literal)? $([$($rule:ident $($value:literal)?),*])?),*
            $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the options are documented where users find them")]
        pub struct $name {
            $(pub $field: $type),*
        }

        impl $crate::boundary::Field for $name {
            fn read(reader: &mut $crate::boundary::Reader<'_>) -> $name {
                $(let $field = <$type as $crate::boundary::Field>::read(reader);)*
                $name { $($field),* }
            }

            #[cfg(test)]
            fn kind() -> $crate::boundary::printed::Node {
                use $crate::boundary::printed::Node;
                Node::kind("group").with("fields", Node::name(stringify!($name)))
            }
        }

        #[cfg(test)]
        impl $name {
            /// What TypeScript knows of it.
            pub fn printed() -> $crate::boundary::printed::Table {
                use $crate::boundary::printed::{Node, Table};
                let fields = Node::object()
                    $(.with(
                        stringify!($field),
                        <$type as $crate::boundary::Field>::kind()
                            $(.with("usual", Node::from($usual)))?
                            $($(.with(
                                stringify!($rule),
                                Node::flag() $(.or($value))?,
                            ))*)?,
                    ))*;
                Table::new(stringify!($name), fields)
            }
        }
    };
}

/// Defines the calls of one kind of object; each is a struct of arguments behind its number. A value that
/// has several forms is described in the same way.
macro_rules! calls {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$call_about:meta])* $call:ident { $($field:ident: $type:ty),* $(,)? }),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the methods are documented where users find them")]
        pub enum $name {
            $($(#[$call_about])* $call { $($field: $type),* }),*
        }

        impl $crate::boundary::Field for $name {
            fn read(reader: &mut $crate::boundary::Reader<'_>) -> $name {
                let number = reader.number();
                let mut place = 0;
                $(
                    if number == place {
                        $(let $field = <$type as $crate::boundary::Field>::read(reader);)*
                        return $name::$call { $($field),* };
                    }
                    place += 1;
                )*
                let _ = place;
                reader.fail($crate::core::error::Error::internal("There is no such call"));
                $crate::boundary::macros::first!(reader $name $($call { $($field: $type),* })*)
            }

            #[cfg(test)]
            fn kind() -> $crate::boundary::printed::Node {
                $crate::boundary::printed::Node::kind("call")
            }
        }

        #[cfg(test)]
        impl $name {
            /// What TypeScript knows of them.
            pub fn printed() -> $crate::boundary::printed::Table {
                use $crate::boundary::printed::{Node, Table};
                let calls = [$((
                    stringify!($call),
                    Node::object()
                        $(.with(
                            stringify!($field),
                            <$type as $crate::boundary::Field>::kind(),
                        ))*,
                )),*];
                Table::calls(stringify!($name), calls)
            }
        }
    };
}

/// The first of some calls, with what is read behind a failure.
macro_rules! first {
    ($reader:ident $name:ident $call:ident { $($field:ident: $type:ty),* } $($rest:tt)*) => {
        $name::$call {
            $($field: <$type as $crate::boundary::Field>::read($reader)),*
        }
    };
}

pub(crate) use {calls, first, options, words};
