//! Chunks: parts of the module that are loaded when a class that needs them is used.
//!
//! The build cuts the linked module at these points (`scripts/lib/wasm.mjs`): what is reachable
//! only through [`chunk!`] moves into a file of its own, which shares the primary's memory and
//! table. One point a chunk: it answers with a table of the chunk's functions. Builds without the
//! feature `split` (tests, `--dev`) hold everything in one module and look the table up directly.
//!
//! A call into a chunk that is not loaded traps. The TypeScript side loads it first: every class
//! module names its chunk (`pkg-template/src/core/chunk.ts`).

/// What a chunk exports.
pub struct Table<F> {
    /// Its functions.
    pub functions: F,
    /// Panics in the chunk's own code, so that a test can see what a caller sees.
    #[cfg(feature = "testing")]
    pub panic: fn(),
}

/// Defines `chunk()`, which gives this chunk's functions. The splitter finds the two ends of the
/// cut by the names here: the chunk's, and 32 hexadecimal digits, which are all zero since no
/// chunk has a second point.
macro_rules! chunk {
    ($name:literal, $functions:ty = $table:expr) => {
        fn chunk() -> &'static $functions {
            &table().functions
        }

        fn table() -> &'static $crate::wasm::chunk::Table<$functions> {
            static TABLE: $crate::wasm::chunk::Table<$functions> = $crate::wasm::chunk::Table {
                functions: $table,
                #[cfg(feature = "testing")]
                panic: panic_inside,
            };

            #[cfg(feature = "testing")]
            fn panic_inside() {
                panic!(concat!("a deliberate panic in the chunk ", $name));
            }

            #[cfg(not(feature = "split"))]
            return &TABLE;

            #[cfg(feature = "split")]
            {
                #[link(wasm_import_module = "__wasm_split_placeholder__")]
                unsafe extern "C" {
                    #[link_name = concat!(
                                                "__wasm_split_00",
                                                $name,
                                                "00_import_00000000000000000000000000000000_table"
                                            )]
                    fn from_chunk() -> *const std::ffi::c_void;
                }

                #[unsafe(export_name = concat!(
                                            "__wasm_split_00",
                                            $name,
                                            "00_export_00000000000000000000000000000000_table"
                                        ))]
                extern "C" fn in_chunk() -> *const std::ffi::c_void {
                    (&raw const TABLE).cast()
                }

                // SAFETY: the splitter binds `from_chunk` to `in_chunk`, which answers with the
                // address of a static of this type.
                unsafe { &*from_chunk().cast::<$crate::wasm::chunk::Table<$functions>>() }
            }
        }

        /// Panics inside the chunk.
        #[cfg(feature = "testing")]
        pub fn panic_in_chunk() {
            (table().panic)();
        }
    };
}

pub(crate) use chunk;
