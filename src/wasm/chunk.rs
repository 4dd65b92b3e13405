//! Chunks: parts of the module that are loaded when a class first needs them.
//!
//! The build splits the linked module at these points (`scripts/lib/wasm.mjs`): code that is
//! reachable only through [`chunk!`] moves into a separate file, which shares the memory and the
//! table of the primary module. Each chunk has one split point, which returns a table of the
//! chunk's functions. Builds without the feature `split` (tests, `--dev`) keep everything in one
//! module and access the table directly.
//!
//! A call into a chunk that is not loaded traps. The TypeScript side loads it first: every class
//! module names its chunk (`ts/core/chunk.ts`).

/// The exports of a chunk.
pub struct Table<F> {
    /// Its functions.
    pub functions: F,
    /// Panics in the chunk's own code, to test what a caller sees.
    #[cfg(feature = "testing")]
    pub panic: fn(),
}

/// Defines `chunk()`, which returns this chunk's functions. The splitter finds the two ends of a
/// split point by these names: the chunk's name and 32 hexadecimal digits, which are all zero
/// because each chunk has only one split point.
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

                // SAFETY: the splitter links `from_chunk` to `in_chunk`, which returns the address
                // of a static of this type.
                unsafe { &*from_chunk().cast::<$crate::wasm::chunk::Table<$functions>>() }
            }
        }

        // The tests find it among the exports of the primary, by this name.
        #[cfg(feature = "testing")]
        #[unsafe(export_name = concat!("panic_in_chunk_", $name))]
        extern "C" fn panic_in_chunk() {
            (table().panic)();
        }
    };
}

pub(crate) use chunk;
