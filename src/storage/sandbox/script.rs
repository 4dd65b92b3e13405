//! The shell scripts of a sandbox. They need POSIX `sh` and common tools, for which busybox is
//! enough: `base64`, `sha256sum`, `find`, `grep`, `head`, `tail`, `stat`. Every argument is set to a
//! variable, which is used only in double quotes ([`set`]).
//!
//! Replacing a file requires a lock first: a symbolic link in the same directory, named after the
//! version to be replaced, which only one process can create. Its target is the id of its process,
//! so that the lock of a dead process is skipped by trying the next number. So is what is no such link,
//! and one that is older than ten minutes, because its number may be that of another process by now.

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::core::file::Mode;
use crate::protocol::Transfer;
use crate::storage::sandbox::wire::word;

/// The common part of all scripts.
const PRELUDE: &str = r#"
LC_ALL=C; export LC_ALL
s() { stat -L -c '%s %Y %a' "$1" || stat -L -f '%z %m %Lp' "$1"; }
sum() { sha256sum | { read -r a b; printf %s "$a"; }; }
v() { sum < "$1"; }
alive() { kill -0 "$1" || [ -d "/proc/$1" ]; }
claim() {
  g=0
  while [ "$g" -lt 1000 ]; do
    if [ ! -e "$1-$g" ] && [ ! -L "$1-$g" ]; then ln -s "$$" "$1-$g" && return 0; fi
    if [ -L "$1-$g" ]; then
      o=$(readlink "$1-$g") || return 1
      case "$o" in *[!0-9]*) ;; *)
        if alive "$o" && [ -z "$(find "$1-$g" -prune -mmin +10)" ]; then return 1; fi
      esac
    elif [ ! -e "$1-$g" ]; then return 1; fi
    g=$((g + 1))
  done
  return 1
}
follow() {
  _a=$1; _b=
  while [ -n "$_a" ] && [ ! -e "$_a" ] && [ ! -L "$_a" ]; do _b="/${_a##*/}$_b"; _a=${_a%/*}; done
  _t=$(readlink -f "${_a:-/}" && printf x) || return 1
  _t=${_t%??}
  [ "$_t" != / ] || _t=
  _t=$_t$_b
}
linked() {
  _a=$1
  while [ -n "$_a" ]; do [ ! -L "$_a" ] || return 0; _a=${_a%/*}; done
  return 1
}
own() {
  _l=$(printf %s/ "$1" | tr 'A-Z ' 'a-z.')
  _o=$(printf %s "$_l" | tr -d '\177-\377')
  [ "$_l" = "$_o" ] && _l=
  _o=$(printf %s "$_o" | tr -s .)
  while [ -n "$_o" ]; do
    _s=${_o%%/*}; _s=${_s%%:*}; _s=${_s%.}; _o=${_o#*/}
    case "$_s" in
      .kitbag) return 0 ;;
      .itbag | .ktbag | .tbag) [ -z "$_l" ] || return 0 ;;
      *~ | *~*[!0-9]*) ;;
      kitbag~* | ki[0-9a-f][0-9a-f][0-9a-f][0-9a-f]~*) return 0 ;;
    esac
  done
  return 1
}
place() {
  _p=${1%/}
  [ -n "$r$h" ] || linked "$_p" || return 0
  follow "$r" || return 1
  _r=$_t
  follow "$_p" || return 1
  [ "$_t" != "$_r${_p#"$r"}" ] || return 0
  [ -z "$h" ] || return 1
  case "$_t/" in "$_r/"*) ;; *) return 1 ;; esac
  own "${_p#"$r"}" || ! own "${_t#"$_r"}"
}
release() { while [ "$g" -ge 0 ]; do rm -f "$1-$g"; g=$((g - 1)); done; }
"#;

/// Sets what `place` checks: whether a path is inside `root`, whether a symbolic link leads to the
/// library's own files, and, if links are refused, whether it leads through one. `follow` resolves the
/// part of a path that exists. `own` knows the spellings of `names::is_room`; behind a link it also
/// takes a name for one of them that has any letter beyond ASCII in between, which a shell cannot tell
/// from those that nobody sees.
pub fn rules(root: &str, no_links: bool) -> String {
    let h = if no_links { "1" } else { "" };
    format!("{}h={h}\n", set("r", root.as_bytes()))
}

/// The prefix of kitbag's own file names; files with it are hidden.
pub const RESERVED: &str = ".~kitbag-";

/// Virtual file systems, which may be endless.
const PRUNED: &str = r#"\( -path /proc -o -path /sys -o -path /dev \) -prune -o"#;

fn script(arguments: &[(&str, &[u8])], body: &str) -> String {
    let mut text = String::from(PRELUDE);
    for (name, value) in arguments {
        text.push_str(&set(name, value));
    }
    text.push_str(body);
    text
}

/// The line that sets a variable to any bytes. Most paths and versions consist of characters that no
/// shell and no transport changes between single quotes; they need no process to be decoded. All other
/// values are base64.
fn set(name: &str, value: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~ ".contains(byte);
    match std::str::from_utf8(value) {
        Ok(text) if value.iter().all(plain) => format!("{name}='{text}'\n"),
        _ => format!("{name}=$(printf %s {} | base64 -d)\n", quoted(value)),
    }
}

fn quoted(value: &[u8]) -> String {
    format!("'{}'", word(value))
}

/// Prints what exists at a path: `N` for nothing, `D` for a directory, `O` for another type, `X`
/// for an unreadable file, `L` for a link that may not be followed, or `F` for a file, with its size and time.
pub fn stat(path: &str) -> String {
    script(&[("p", path.as_bytes())], &format!("{LOOK}\n{TELL}"))
}

const LOOK: &str = r#"k=F
if ! place "$p"; then k=L; elif [ -d "$p" ]; then k=D; elif [ ! -e "$p" ]; then k=N; elif [ ! -f "$p" ]; then k=O; elif [ ! -r "$p" ]; then k=X; fi"#;
const TELL: &str = r#"if [ $k = F ]; then printf 'F %s\n' "$(s "$p")"; else echo $k; fi"#;

/// Prints the same, followed by the first bytes of the file in base64.
pub fn head(path: &str, count: usize) -> String {
    let body = format!("{LOOK}\n{TELL}\nif [ $k = F ]; then head -c {count} \"$p\" | base64; fi");
    script(&[("p", path.as_bytes())], &body)
}

/// Prints up to `count` bytes of a file from `offset` on.
pub fn part(path: &str, offset: usize, count: usize) -> String {
    let from = offset.saturating_add(1);
    script(
        &[("p", path.as_bytes())],
        &format!("place \"$p\" && tail -c +{from} \"$p\" | head -c {count} | base64"),
    )
}

/// The heads of several files in sequence, each with a line about the file.
pub fn heads(paths: &[String], count: usize) -> String {
    let mut text = String::from(PRELUDE);
    for path in paths {
        text.push_str(&format!(
            "{}{LOOK}\n{TELL}\nif [ $k = F ]; then head -c {count} \"$p\" | base64 | tr -d '\\n'; fi\necho\n",
            set("p", path.as_bytes())
        ));
    }
    text
}

/// Appends bytes to a temporary file.
pub fn append(aside: &str, chunk: &[u8]) -> String {
    let body = format!(
        "if ! place \"${{t%/*}}\"; then echo L; else mkdir -p \"${{t%/*}}\"\nprintf %s {} | base64 -d >> \"$t\" && echo K || echo E; fi",
        quoted(chunk)
    );
    script(&[("t", aside.as_bytes())], &body)
}

/// The condition of the last step of a put.
pub enum Finish<'a> {
    /// Only if the file does not exist.
    Create,
    /// Unconditionally.
    Overwrite,
    /// Only if the file has this version.
    Update(&'a str),
}

/// Moves a temporary file, or content in the script, to its final name. Prints `K` for success, `A`
/// if the file exists already, `C` if it has changed, `B` if another process is changing it, `D`
/// for a directory, `O` for another type, `P` if the parent is not a directory, or `E` for another
/// error.
pub fn finish(
    path: &str,
    aside: &str,
    content: Option<&[u8]>,
    finish: &Finish<'_>,
    permissions: Option<Mode>,
) -> String {
    let fill = match content {
        Some(content) => format!("printf %s {} | base64 -d > \"$t\"", quoted(content)),
        None => String::from("[ -f \"$t\" ]"),
    };
    let permissions = permissions.map_or_else(String::new, |mode| format!("{:o}", mode.bits()));
    let (mode, version) = match finish {
        Finish::Create => ("create", ""),
        Finish::Overwrite => ("overwrite", ""),
        Finish::Update(version) => ("update", *version),
    };
    let body = format!(
        r#"mode={mode}
permit() {{ [ -z "$m" ] || chmod "$m" "$1"; }}
put() {{
  if [ $mode = create ]; then q=${{p%/*}}; else q=$p; fi
  if ! place "$q"; then echo L; return; fi
  if [ -d "$p" ]; then echo D; return; fi
  if [ $mode = create ] && {{ [ -e "$p" ] || [ -L "$p" ]; }}; then echo A; return; fi
  if [ -L "$p" ]; then p=$(readlink -f "$p"); fi
  if [ -e "$p" ] && [ ! -f "$p" ]; then echo O; return; fi
  if ! mkdir -p "${{p%/*}}/"; then echo P; return; fi
  if ! {fill}; then echo E; return; fi
  if [ ! -e "$p" ]; then
    if [ $mode = update ]; then echo C; return; fi
    permit "$t"
    if ln "$t" "$p"; then :
    elif [ -e "$p" ] || [ -L "$p" ]; then
      if [ $mode = create ]; then echo A; else echo B; fi
      return
    elif ( set -C; cat "$t" > "$p" ); then permit "$p"
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
            ("m", permissions.as_bytes()),
        ],
        &body,
    )
}

/// Prints `K` if the directory of a temporary file may be used, or `L`.
pub fn admit(aside: &str) -> String {
    let body = "place \"${t%/*}\" && echo K || echo L";
    script(&[("t", aside.as_bytes())], body)
}

/// Removes a temporary file.
pub fn discard(aside: &str) -> String {
    script(&[("t", aside.as_bytes())], "rm -f \"$t\"\necho K")
}

/// Removes one file; with a version, only if the file still has it. Prints `K` for success, `N` if
/// there is no file, `B` if another process is changing it, `C` if the file does not have that
/// version, or `E` for another error.
pub fn remove(path: &str, version: Option<&str>) -> String {
    let body = format!(
        r#"del() {{
  if ! place "${{p%/*}}"; then echo L; return; fi
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

/// Moves or copies one file. A move gives the file a second name and then removes the first, while the
/// version is locked. Prints `K` for success, `N` if there is no file, `A` if the new path has one,
/// `D` if that is a directory, `B` if another process is changing one of them, `L` for a link that may
/// not be followed, `S` if the old name could not be removed, `U` if the file must be read and
/// written, or `E` for another error.
pub fn transfer(from: &str, to: &str, aside: &str, asked: &Transfer) -> String {
    let flag = |set: bool| if set { "1" } else { "" };
    let (keeps, over) = (flag(asked.keeps), flag(asked.overwrite));
    let body = format!(
        r#"keeps={keeps}
over={over}
lock() {{ c="${{1%/*}}/{RESERVED}c-$(printf %s "${{1##*/}}" | sum | head -c 16)-$2"; }}
onto() {{
  if [ ! -e "$q" ] && [ ! -L "$q" ]; then
    if ln "$t" "$q"; then o=K; elif [ -e "$q" ]; then o=B; else o=U; fi
    return
  fi
  k=$(v "$q")
  lock "$q" "$k"
  if ! claim "$c"; then o=B; return; fi
  if [ "$(v "$q")" != "$k" ]; then o=B
  else
    if [ -n "$keeps" ]; then set -- $(s "$q"); chmod "$3" "$t"; fi
    if mv -f "$t" "$q"; then o=K; else o=E; fi
  fi
  release "$c"
}}
go() {{
  if ! place "${{p%/*}}" || ! place "${{q%/*}}"; then o=L; return; fi
  if [ -L "$p" ] || [ -d "$p" ]; then o=U; return; fi
  if [ ! -e "$p" ]; then o=N; return; fi
  if [ ! -f "$p" ] || [ ! -r "$p" ]; then o=U; return; fi
  if [ -d "$q" ]; then o=D; return; fi
  if [ -e "$q" ] || [ -L "$q" ]; then
    if [ -z "$over" ]; then o=A; return; fi
    if [ -L "$q" ] || [ ! -f "$q" ]; then o=U; return; fi
  fi
  if ! mkdir -p "${{q%/*}}/"; then o=U; return; fi
  n=$(v "$p")
  if [ -n "$keeps" ]; then
    if ! cp "$p" "$t"; then o=U; return; fi
    if [ "$(v "$t")" = "$n" ]; then onto; else o=B; fi
    return
  fi
  lock "$p" "$n"
  if ! claim "$c"; then o=B; return; fi
  x=$c; y=$g
  if [ "$(v "$p")" != "$n" ]; then o=B
  elif ! ln "$p" "$t"; then o=U
  else
    onto
    if [ $o = K ] && ! rm -f "$p"; then o=S; fi
  fi
  g=$y; release "$x"
}}
go
rm -f "$t"
echo $o"#
    );
    script(
        &[
            ("p", from.as_bytes()),
            ("q", to.as_bytes()),
            ("t", aside.as_bytes()),
        ],
        &body,
    )
}

/// Moves a directory by one rename, if nothing is at the new path. Prints `K` if it was moved.
pub fn move_tree(from: &str, to: &str) -> String {
    let body = r#"on() { stat -c %d "$1" || stat -f %d "$1"; }
go() {
  place "${p%/*}" && place "${q%/*}" || return
  [ -d "$p" ] && [ ! -L "$p" ] && [ ! -e "$q" ] && [ ! -L "$q" ] || return
  mkdir -p "${q%/*}/" || return
  [ "$(on "$p")" = "$(on "${q%/*}/")" ] || return
  mv -T "$p" "$q" && echo K
}
go
echo N"#;
    script(&[("p", from.as_bytes()), ("q", to.as_bytes())], body)
}

/// Removes a directory with everything beneath it. Prints `K` for success, `N` if there is no such
/// directory, or `E` for an error.
pub fn remove_tree(path: &str) -> String {
    script(
        &[("p", path.as_bytes())],
        "if ! place \"${p%/*}\"; then echo L; elif [ -L \"$p\" ] || [ ! -d \"$p\" ]; then echo N; elif rm -rf \"$p\"; then echo K; else echo E; fi",
    )
}

/// Removes the empty directories at and beneath a path; `rmdir` refuses the others.
pub fn prune(path: &str) -> String {
    script(
        &[("p", path.as_bytes())],
        "if place \"$p\" && [ ! -L \"$p\" ] && [ -d \"$p\" ]; then find \"$p\" -depth -type d -exec rmdir {} \\;; fi 2> /dev/null\necho K",
    )
}

/// Names with a line break are not valid paths, and their parts must not be parsed as rows.
const ONE_LINE: &str = r#"nl=$(printf '\nx'); nl=${nl%x}"#;

/// The direct entries of a directory: type, size, time and path, one row each.
pub fn level(dir: &str, cap: usize) -> String {
    let body = format!(
        r#"{ONE_LINE}
rows() {{
  [ "$p" = / ] || p="$p/."
  find "$p" -mindepth 1 -maxdepth 1 ! -type l ! -name "*$nl*" ! -name '{RESERVED}*' -exec stat -c '%F|%s|%Y|%n' {{}} +
  [ -n "$h" ] || find "$p" -mindepth 1 -maxdepth 1 -type l ! -name "*$nl*" ! -name '{RESERVED}*' | while IFS= read -r f; do
    place "$f" && stat -L -c '%F|%s|%Y|%n' "$f"
  done
}}
if place "$p"; then rows | head -c {cap}; else echo L; fi"#
    );
    script(&[("p", dir.as_bytes())], &body)
}

/// Every file beneath a directory, linked ones too: size, time and path, one row each. With a literal, only files
/// that contain it.
pub fn files(dir: &str, literal: Option<&[u8]>, cap: usize) -> String {
    let (narrow, then, has) = match literal {
        Some(_) => (
            "-exec grep -lF -e \"$l\" {} +",
            "| while IFS= read -r f; do printf '%s|%s\\n' \"$(stat -c '%s|%Y' \"$f\")\" \"$f\"; done",
            "grep -qF -e \"$l\" \"$f\" && ",
        ),
        None => ("-exec stat -c '%s|%Y|%n' {} +", "", ""),
    };
    let body = format!(
        r#"{ONE_LINE}
place "$p" || {{ echo L; exit 0; }}
[ -d "$p" ] || exit 0
rows() {{
  find "$p" {PRUNED} -type f ! -path "*$nl*" ! -name '{RESERVED}*' {narrow} {then}
  [ -n "$h" ] || find "$p" {PRUNED} -type l ! -path "*$nl*" ! -name '{RESERVED}*' | while IFS= read -r f; do
    place "$f" && [ -f "$f" ] && [ -r "$f" ] && {has}printf '%s|%s\n' "$(stat -L -c '%s|%Y' "$f")" "$f"
  done
}}
rows | head -c {cap}"#
    );
    // A subshell, so that the closing marker is printed even after an early exit.
    format!(
        "(\n{}\n)",
        script(
            &[("p", dir.as_bytes()), ("l", literal.unwrap_or_default()),],
            &body
        )
    )
}

/// Prints the version of a file, in the format of `checksum`.
pub fn version(path: &str) -> String {
    script(&[("p", path.as_bytes())], "place \"$p\" && v \"$p\"\necho")
}
