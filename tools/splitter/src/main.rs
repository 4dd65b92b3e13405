//! Build steps. The first and the last are in no published program; the second is wasm-bindgen's own, whose
//! command line also has a test runner and so takes longer to compile than the rest of this program:
//!
//! - `kitbag-splitter split INPUT DIRECTORY` splits a module that was linked with `--emit-relocs`
//!   into a primary module and chunks that share its memory and table. It prints one line for each
//!   group: its name and the files it needs, in load order.
//! - `kitbag-splitter bind INPUT DIRECTORY NAME [lean]` writes the glue and the module without its descriptions:
//!   `NAME.js`, `NAME.d.ts`, `NAME_bg.wasm`. `lean` leaves out the names of functions.
//! - `kitbag-splitter pack INPUT OUTPUT [DICTIONARY]` compresses a module for embedding in JavaScript
//!   text: four bytes of length, then LZMA with the parameters that `tools/unpack` expects. Code that
//!   is like code of the dictionary costs less. `pack-quickly` takes a tenth of the time, for modules that nobody
//!   downloads.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use lzma_rust2::{LzmaOptions, LzmaWriter};
use wasm_bindgen_cli_support::Bindgen;
use wasm_split_cli_support::{Options, transform};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    match (command.to_str(), paths.as_slice()) {
        (Some("split"), [input, directory]) => split(input, directory),
        (Some("bind"), [input, directory, name]) => bind(input, directory, name, false),
        (Some("bind"), [input, directory, name, how]) if how.as_os_str() == "lean" => {
            bind(input, directory, name, true)
        }
        (Some(how @ ("pack" | "pack-quickly")), [input, output, dictionary @ ..])
            if dictionary.len() < 2 =>
        {
            pack(input, output, dictionary.first(), how == "pack-quickly")
        }
        _ => Err(
            "usage: kitbag-splitter split INPUT DIRECTORY | bind INPUT DIRECTORY NAME [lean] \
             | pack INPUT OUTPUT [DICTIONARY] | pack-quickly INPUT OUTPUT [DICTIONARY]"
                .into(),
        ),
    }
}

fn split(input: &Path, directory: &Path) -> Outcome {
    let wasm = std::fs::read(input)?;
    let primary = directory.join("primary.wasm");
    let mut options = Options::new(&wasm);
    options.output_dir = directory;
    options.main_out_path = &primary;
    let done = transform(options)?;
    for (group, files) in done.prefetch_map.into_iter().collect::<BTreeMap<_, _>>() {
        println!("{group} {}", files.join(" "));
    }
    Ok(())
}

fn bind(input: &Path, directory: &Path, name: &Path, lean: bool) -> Outcome {
    let name = name.to_str().ok_or("the name is not UTF-8")?;
    Bindgen::new()
        .input_path(input)
        .out_name(name)
        .web(true)?
        .typescript(true)
        .keep_lld_exports(true)
        .remove_name_section(lean)
        .remove_producers_section(true)
        .generate(directory)?;
    Ok(())
}

fn pack(input: &Path, output: &Path, dictionary: Option<&PathBuf>, quickly: bool) -> Outcome {
    let bytes = std::fs::read(input)?;
    let mut options = LzmaOptions::with_preset(if quickly { 0 } else { 9 });
    // WebAssembly is a byte stream without alignment.
    (options.lc, options.lp, options.pb) = (3, 0, 0);
    if !quickly {
        options.nice_len = 273;
    }
    options.preset_dict = match dictionary {
        Some(path) => Some(std::fs::read(path)?.into()),
        None => None,
    };
    let mut packed = u32::try_from(bytes.len())?.to_le_bytes().to_vec();
    let mut writer = LzmaWriter::new_no_header(&mut packed, &options, false)?;
    writer.write_all(&bytes)?;
    writer.finish()?;
    std::fs::write(output, packed)?;
    Ok(())
}
