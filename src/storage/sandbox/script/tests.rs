//! What a shell and Rust must agree on.

use super::*;
use crate::core::names;

#[test]
fn the_shell_knows_every_spelling_of_the_room_that_rust_knows() {
    let names = [
        ".kitbag",
        ".KITBAG",
        ".KitBag",
        ".\u{212a}itbag",
        ".k\u{131}tbag",
        ".K\u{130}TBAG",
        ".\u{212a}\u{131}tbag",
        ".kitbag.",
        ".kitbag. .",
        ".kitbag ",
        ".kitbag::$INDEX",
        ".kitbag:x",
        ".kitbag.:x",
        ".kit\u{200c}bag",
        "\u{feff}.kitbag",
        ".kitbag\u{ad}",
        ".kitbag\u{7f}",
        ".ki\u{e0041}tbag",
        "KITBAG~1",
        "kitbag~12",
        "KI1A2B~1",
        "kitbag~1.",
        "kitbag",
        "kitbag.md",
        ".kitbags",
        "x.kitbag",
        ".kitbag.json",
        ".kit",
        ".itbag",
        ".tbag",
        "kitbag~",
        "k~1",
        "ki~3",
        "kittens~1",
        "kitbag~x",
        "kitbag~1x",
        "kitbag~1~2",
        "kitchen~1",
        "ki12xy~1",
        ".git",
        "a b",
        "\u{65e5}\u{672c}",
        "-n",
        "-e",
        "%s",
        "*",
        "a\\b",
        "$x",
        "'",
        "",
    ];
    for name in names {
        let path = format!("/a/{name}/b");
        let body = "own \"$p\" && echo own || echo free";
        let text = script(&[("p", path.as_bytes())], body);
        let answer = std::process::Command::new("sh")
            .args(["-c", &text])
            .output();
        let told = answer.map(|output| output.stdout == b"own\n").ok();
        assert_eq!(told, Some(names::is_room(name)), "{name:?}");
    }
}
