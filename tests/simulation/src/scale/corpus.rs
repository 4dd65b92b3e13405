//! Files that look like source code: words of a vocabulary that grows with the corpus, a word that is in
//! one file of five thousand, and one that is in a tenth of them.

use kitbag_simulation::rng::Rng;

/// In one file of five thousand.
pub const RARE: &str = "retry_budget";
/// In one file of a hundred thousand.
pub const RAREST: &str = "quota_jitter";
/// Likewise, another one.
pub const OTHER: &str = "zeta_window";
/// In one file of ten.
pub const COMMON: &str = "deadline_exceeded";

const SYLLABLES: &[&str] = &[
    "ac", "bel", "con", "dir", "ex", "file", "get", "hand", "in", "join", "key", "list", "map",
    "node", "open", "path", "query", "read", "set", "time", "user", "val", "write", "zip",
];

fn word(rng: &mut Rng) -> String {
    let mut word = String::new();
    for _ in 0..rng.range(1, 3) {
        word.push_str(rng.pick::<&str>(SYLLABLES));
    }
    word
}

/// The text of a file.
pub fn text(at: usize) -> String {
    let mut rng = Rng::new(at as u64);
    let bytes = rng.range(300, 1_500) as usize;
    let mut text = String::new();
    while text.len() < bytes {
        let (name, call, of) = (word(&mut rng), word(&mut rng), word(&mut rng));
        text.push_str(&format!(
            "const {name} = {call}({of}, {});\n",
            rng.below(100)
        ));
    }
    if at % 5_000 == 17 {
        text.push_str(&format!("let {RARE} = 3;\n"));
    }
    if at % 100_000 == 29 {
        text.push_str(&format!("let {RAREST} = {OTHER};\n"));
    }
    if at % 10 == 3 {
        text.push_str(&format!("throw {COMMON};\n"));
    }
    text
}

/// The key of a file.
pub fn key(at: usize) -> String {
    format!("src/p{}/m{}/file{at}.ts", at / 1_000, at / 50 % 20)
}
