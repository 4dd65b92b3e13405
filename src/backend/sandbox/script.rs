//! The shell scripts of a sandbox. POSIX `sh` with the usual small tools, busybox included:
//! `base64`, `sha256sum`, `find`, `grep`, `head`, `tail`, `stat`. Every argument is a base64 word
//! that is decoded into a variable and only ever used in double quotes.
//!
//! Replacing a file takes a claim first: a link beside it, named after the state that is to go,
//! which only one process can make. It names its maker, so that one left behind by a process
//! that died is passed over with the next number.

use crate::backend::sandbox::wire::word;

/// What all scripts share.
const PRELUDE: &str = r#"
LC_ALL=C; export LC_ALL
d() { printf %s "$1" | base64 -d; }
s() { stat -L -c '%s %Y %a' "$1" || stat -L -f '%z %m %Lp' "$1"; }
sum() { sha256sum | { read -r a b; printf %s "$a"; }; }
v() { sum < "$1"; }
alive() { kill -0 "$1" || [ -d "/proc/$1" ]; }
claim() {
  g=0
  while [ "$g" -lt 1000 ]; do
    ln -s "$$" "$1-$g" && return 0
    o=$(readlink "$1-$g") || return 1
    alive "$o" && return 1
    g=$((g + 1))
  done
  return 1
}
release() { while [ "$g" -ge 0 ]; do rm -f "$1-$g"; g=$((g - 1)); done; }
"#;

/// Names of kitbag's own beside a user's files.
pub const RESERVED: &str = ".~kitbag-";

/// Places that a system makes up and that never end.
const PRUNED: &str = r#"\( -path /proc -o -path /sys -o -path /dev \) -prune -o"#;

fn script(arguments: &[(&str, &[u8])], body: &str) -> String {
    let mut text = String::from(PRELUDE);
    for (name, value) in arguments {
        text.push_str(&format!("{name}=$(d {})\n", quoted(value)));
    }
    text.push_str(body);
    text
}

fn quoted(value: &[u8]) -> String {
    format!("'{}'", word(value))
}

/// Tells what stands at a path: `N`othing, a `D`irectory, something `O`ther, unreadable `X`, or
/// a `F`ile with its size and time.
pub fn stat(path: &str) -> String {
    script(&[("p", path.as_bytes())], &format!("{LOOK}\n{TELL}"))
}

const LOOK: &str = r#"k=F
if [ -d "$p" ]; then k=D; elif [ ! -e "$p" ]; then k=N; elif [ ! -f "$p" ]; then k=O; elif [ ! -r "$p" ]; then k=X; fi"#;
const TELL: &str = r#"if [ $k = F ]; then printf 'F %s\n' "$(s "$p")"; else echo $k; fi"#;

/// The same, and the first bytes of the file.
pub fn head(path: &str, count: usize) -> String {
    let body = format!("{LOOK}\n{TELL}\nif [ $k = F ]; then head -c {count} \"$p\" | base64; fi");
    script(&[("p", path.as_bytes())], &body)
}

/// Some bytes of a file from `offset` on.
pub fn part(path: &str, offset: usize, count: usize) -> String {
    let from = offset.saturating_add(1);
    script(
        &[("p", path.as_bytes())],
        &format!("tail -c +{from} \"$p\" | head -c {count} | base64"),
    )
}

/// The heads of several files, one behind the other, each with a line about it.
pub fn heads(paths: &[String], count: usize) -> String {
    let mut text = String::from(PRELUDE);
    for path in paths {
        text.push_str(&format!(
            "p=$(d {})\n{LOOK}\n{TELL}\nif [ $k = F ]; then head -c {count} \"$p\" | base64 | tr -d '\\n'; fi\necho\n",
            quoted(path.as_bytes())
        ));
    }
    text
}

/// Adds bytes to a file that is being written aside.
pub fn append(aside: &str, chunk: &[u8]) -> String {
    let body = format!(
        "mkdir -p \"${{t%/*}}\"\nprintf %s {} | base64 -d >> \"$t\" && echo K || echo E",
        quoted(chunk)
    );
    script(&[("t", aside.as_bytes())], &body)
}

/// What the last step of a put does.
pub enum Finish<'a> {
    /// Only where nothing is.
    Create,
    /// Whatever is there.
    Overwrite,
    /// Only over this state.
    Update(&'a str),
}

/// Brings content that was written aside, or comes with it, to its name: `K` with the time,
/// `A`lready there, `C`hanged, `B`usy, a `D`irectory, something `O`ther, `P`arent is no
/// directory, or an `E`rror.
pub fn finish(path: &str, aside: &str, content: Option<&[u8]>, finish: &Finish<'_>) -> String {
    let fill = match content {
        Some(content) => format!("printf %s {} | base64 -d > \"$t\"", quoted(content)),
        None => String::from("[ -f \"$t\" ]"),
    };
    let (mode, version) = match finish {
        Finish::Create => ("create", ""),
        Finish::Overwrite => ("overwrite", ""),
        Finish::Update(version) => ("update", *version),
    };
    let body = format!(
        r#"mode={mode}
put() {{
  if [ -d "$p" ]; then echo D; return; fi
  if [ $mode = create ] && {{ [ -e "$p" ] || [ -L "$p" ]; }}; then echo A; return; fi
  if [ -L "$p" ]; then p=$(readlink -f "$p"); fi
  if [ -e "$p" ] && [ ! -f "$p" ]; then echo O; return; fi
  if ! mkdir -p "${{p%/*}}/"; then echo P; return; fi
  if ! {fill}; then echo E; return; fi
  if [ ! -e "$p" ]; then
    if [ $mode = update ]; then echo C; return; fi
    if ln "$t" "$p"; then :
    elif [ -e "$p" ] || [ -L "$p" ]; then
      if [ $mode = create ]; then echo A; else echo B; fi
      return
    elif ( set -C; cat "$t" > "$p" ); then :
    else echo E; return; fi
  else
    if [ $mode = create ]; then echo A; return; fi
    n=$(v "$p")
    if [ $mode = update ] && [ "$n" != "$w" ]; then echo C; return; fi
    c="${{p%/*}}/{RESERVED}c-$(printf %s "${{p##*/}}" | sum | head -c 16)-$n"
    if ! claim "$c"; then echo B; return; fi
    if [ "$(v "$p")" != "$n" ]; then release "$c"; echo C; return; fi
    set -- $(s "$p"); chmod "$3" "$t"
    if mv -f "$t" "$p"; then release "$c"; else release "$c"; echo E; return; fi
  fi
  printf 'K %s\n' "$(s "$p")"
}}
put
rm -f "$t""#
    );
    script(
        &[
            ("p", path.as_bytes()),
            ("t", aside.as_bytes()),
            ("w", version.as_bytes()),
        ],
        &body,
    )
}

/// Removes a file that was written aside.
pub fn discard(aside: &str) -> String {
    script(&[("t", aside.as_bytes())], "rm -f \"$t\"\necho K")
}

/// Removes one file: `K`, `N`othing there, `B`usy, `C`hanged, or an `E`rror. With a version,
/// only that state.
pub fn remove(path: &str, version: Option<&str>) -> String {
    let body = format!(
        r#"del() {{
  if [ -L "$p" ]; then rm -f "$p" && echo K || echo E; return; fi
  if [ ! -f "$p" ]; then echo N; return; fi
  n=$(v "$p")
  if [ -n "$w" ] && [ "$n" != "$w" ]; then echo C; return; fi
  c="${{p%/*}}/{RESERVED}c-$(printf %s "${{p##*/}}" | sum | head -c 16)-$n"
  if ! claim "$c"; then echo B; return; fi
  if [ "$(v "$p")" != "$n" ]; then release "$c"; echo B; return; fi
  if rm -f "$p"; then release "$c"; echo K; else release "$c"; echo E; fi
}}
del"#
    );
    let version = version.unwrap_or_default();
    script(&[("p", path.as_bytes()), ("w", version.as_bytes())], &body)
}

/// Removes a directory with all beneath it: `K`, `N`othing of the sort there, or an `E`rror.
pub fn remove_tree(path: &str) -> String {
    script(
        &[("p", path.as_bytes())],
        "if [ -L \"$p\" ] || [ ! -d \"$p\" ]; then echo N; elif rm -rf \"$p\"; then echo K; else echo E; fi",
    )
}

/// A name with a line break has no path, and its parts must not be taken for rows.
const ONE_LINE: &str = r#"nl=$(printf '\nx'); nl=${nl%x}"#;

/// What stands directly inside a directory: type, size, time and path, a row each.
pub fn level(dir: &str, cap: usize) -> String {
    let body = format!(
        r#"{ONE_LINE}
[ "$p" = / ] || p="$p/."
find "$p" -mindepth 1 -maxdepth 1 ! -name "*$nl*" ! -name '{RESERVED}*' -exec stat -L -c '%F|%s|%Y|%n' {{}} + | head -c {cap}"#
    );
    script(&[("p", dir.as_bytes())], &body)
}

/// Every file beneath a directory: size, time and path, a row each. With a text, only those that
/// contain it.
pub fn files(dir: &str, literal: Option<&[u8]>, cap: usize) -> String {
    let (narrow, then) = match literal {
        Some(_) => (
            "-exec grep -lF -e \"$l\" {} +",
            "| while IFS= read -r f; do printf '%s|%s\\n' \"$(stat -c '%s|%Y' \"$f\")\" \"$f\"; done",
        ),
        None => ("-exec stat -c '%s|%Y|%n' {} +", ""),
    };
    let body = format!(
        r#"{ONE_LINE}
[ -d "$p" ] || exit 0
find "$p" {PRUNED} -type f ! -path "*$nl*" ! -name '{RESERVED}*' {narrow} {then} | head -c {cap}"#
    );
    // A subshell, so that leaving it early still prints the closing mark.
    format!(
        "(\n{}\n)",
        script(
            &[("p", dir.as_bytes()), ("l", literal.unwrap_or_default()),],
            &body
        )
    )
}

/// Which state of a file stands at a path, in the words of `checksum`.
pub fn version(path: &str) -> String {
    script(&[("p", path.as_bytes())], "v \"$p\"\necho")
}
