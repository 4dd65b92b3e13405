//! A description as TypeScript, in the form in which the formatter leaves it.

/// The longest line that the formatter leaves as it is.
const WIDTH: usize = 100;

/// A value of TypeScript.
#[derive(Clone, Debug)]
pub enum Node {
    /// As it is written.
    Raw(String),
    /// An object.
    Object(Vec<(String, Node)>),
    /// An array.
    List(Vec<Node>),
}

impl From<&str> for Node {
    fn from(text: &str) -> Node {
        let quote = if text.contains('"') { '\'' } else { '"' };
        Node::Raw(format!("{quote}{text}{quote}"))
    }
}

impl From<bool> for Node {
    fn from(flag: bool) -> Node {
        Node::Raw(flag.to_string())
    }
}

impl From<u64> for Node {
    fn from(number: u64) -> Node {
        Node::Raw(number.to_string())
    }
}

impl Node {
    /// An object without fields.
    pub fn object() -> Node {
        Node::Object(Vec::new())
    }

    /// A kind of value.
    pub fn kind(name: &str) -> Node {
        Node::object().with("kind", Node::from(name))
    }

    /// One of several words.
    pub fn words(all: &[&str]) -> Node {
        let all = all.iter().map(|word| Node::from(*word)).collect();
        Node::kind("words").with("words", Node::List(all))
    }

    /// Something that is defined under this name.
    pub fn name(name: &str) -> Node {
        Node::Raw(name.to_owned())
    }

    /// A rule without a value.
    pub fn flag() -> Node {
        Node::from(true)
    }

    /// The value of a rule that has one.
    pub fn or(self, value: impl Into<Node>) -> Node {
        value.into()
    }

    /// With one more field, whose name is one of Rust.
    pub fn with(mut self, name: &str, value: Node) -> Node {
        if let Node::Object(fields) = &mut self {
            fields.push((camel(name), value));
        }
        self
    }

    /// In one line.
    fn short(&self) -> String {
        match self {
            Node::Raw(text) => text.clone(),
            Node::Object(fields) if fields.is_empty() => "{}".to_owned(),
            Node::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.short()));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            Node::List(all) => {
                let all = all.iter().map(Node::short);
                format!("[{}]", all.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// In several lines, where one would be too long. `before` is what is in front of it in its line.
    fn print(&self, indent: usize, before: usize) -> String {
        let short = self.short();
        if before + short.len() < WIDTH {
            return short;
        }
        self.long(indent)
    }

    fn long(&self, indent: usize) -> String {
        let inner = " ".repeat(indent + 2);
        let end = " ".repeat(indent);
        match self {
            Node::Raw(text) => text.clone(),
            Node::Object(fields) => {
                let line = |(name, value): &(String, Node)| {
                    let head = format!("{inner}{name}: ");
                    let value = value.print(indent + 2, head.len());
                    match head.len() + value.len() < WIDTH || value.contains('\n') {
                        true => format!("{head}{value},\n"),
                        // The formatter moves a text that is too long to a line of its own.
                        false => format!("{inner}{name}:\n{inner}  {value},\n"),
                    }
                };
                format!("{{\n{}{end}}}", fields.iter().map(line).collect::<String>())
            }
            Node::List(all) => {
                let line = |value: &Node| format!("{inner}{},\n", value.print(indent + 2, indent));
                format!("[\n{}{end}]", all.iter().map(line).collect::<String>())
            }
        }
    }
}

/// `write_mode` as `writeMode`.
fn camel(name: &str) -> String {
    let mut words = name.trim_start_matches("r#").split('_');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        out.push_str(&first.to_uppercase());
        out.push_str(rest);
    }
    out
}

/// Something that is described, under its name.
pub struct Table {
    name: &'static str,
    node: Node,
}

impl Table {
    /// The fields of a struct.
    pub fn new(name: &'static str, node: Node) -> Table {
        Table { name, node }
    }

    /// Calls, each by its number and its arguments.
    pub fn calls<const N: usize>(name: &'static str, calls: [(&str, Node); N]) -> Table {
        let mut node = Node::object();
        for (number, (call, fields)) in (0u64..).zip(calls) {
            let (first, rest) = call.split_at(1);
            let call = format!("{}{rest}", first.to_lowercase());
            let one = Node::object()
                .with("call", Node::from(number))
                .with("fields", fields);
            node = node.with(&call, one);
        }
        Table { name, node }
    }

    /// As TypeScript defines it.
    pub fn print(&self) -> String {
        format!(
            "export const {} = {} as const;\n",
            self.name,
            self.node.long(0)
        )
    }
}

mod tests {
    use super::*;

    #[test]
    fn long_values_are_printed_in_several_lines() {
        let words = ["a word that is quite long"; 5];
        let node = Node::object().with("some_name", Node::words(&words));
        let printed = node.long(0);
        assert!(
            printed.starts_with(
                "{\n  someName: {\n    kind: \"words\",\n    words: [\n      \"a word"
            ),
            "{printed}"
        );
        let longest = printed.lines().map(str::len).max().unwrap_or_default();
        assert!(longest <= WIDTH, "{printed}");
    }
}
