use super::*;

#[test]
fn all_words_together_cost_at_most_1200_tokens() {
    let usual = TABLE.iter().filter(|one| one.is_usual);
    let usual: Vec<Tool> = usual.map(|one| one.tool).collect();
    let mut whole = prompt(&usual).len();
    let mut words = whole;
    for tool in usual {
        whole += tool.name().len() + tool.about().description.len() + tool.schema().len();
        words += tool.about().description.len();
        let schema: serde_json::Value = serde_json::from_str(&tool.schema()).expect("json");
        for property in schema["properties"]
            .as_object()
            .expect("properties")
            .values()
        {
            words += property["description"].as_str().unwrap_or_default().len();
        }
    }
    println!(
        "descriptions and prompt: {} tokens; with the schemas whole: {} tokens",
        words / 4,
        whole / 4
    );
    assert!(whole / 4 <= 1200, "{} tokens", whole / 4);
}

#[test]
fn schemas_keep_to_what_all_providers_accept() {
    for About { tool, .. } in TABLE {
        let parsed: serde_json::Value = serde_json::from_str(&tool.schema()).expect("json");
        for name in parsed.as_object().expect("an object").keys() {
            assert!(["type", "properties", "required"].contains(&name.as_str()));
        }
        let properties = parsed["properties"].as_object().expect("properties");
        for required in parsed["required"].as_array().into_iter().flatten() {
            assert!(properties.contains_key(required.as_str().expect("a name")));
        }
        for property in properties.values() {
            for name in property.as_object().expect("a property").keys() {
                assert!(["type", "description", "enum"].contains(&name.as_str()));
            }
        }
        assert_eq!(Tool::named(tool.name()), Some(tool));
        assert_eq!(tool.about().tool, tool);
    }
    assert_eq!(Tool::named("rm"), None);
}

#[test]
fn each_tool_has_a_title_and_an_effect_of_its_own_kind() {
    for one in &TABLE {
        assert!(!one.title.is_empty(), "{}", one.name);
        let reads = [Tool::Ls, Tool::ReadFile, Tool::Glob, Tool::Grep].contains(&one.tool);
        assert_eq!(one.effect == Effect::Reads, reads, "{}", one.name);
        assert_eq!(one.effect == Effect::Runs, one.tool == Tool::Execute);
    }
}

#[test]
fn typescript_has_this_table() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ts/tool/table.ts");
    let table = typescript();
    if std::env::var_os("KITBAG_WRITE").is_some() {
        std::fs::write(PATH, &table).expect("the file can be written");
    }
    let found = std::fs::read_to_string(PATH).expect("the file exists");
    assert_eq!(
        found, table,
        "KITBAG_WRITE=1 cargo test typescript_has_this_table"
    );
}

/// `ts/tool/table.ts`, as the formatter leaves it.
fn typescript() -> String {
    let row = |one: &About| {
        format!(
            "  {{ name: \"{}\", title: \"{}\", effect: \"{}\", isUsual: {} }},\n",
            one.name,
            one.title,
            format!("{:?}", one.effect).to_lowercase(),
            one.is_usual
        )
    };
    let rows: String = TABLE.iter().map(row).collect();
    let name = |one: &About| format!("  | \"{}\"\n", one.name);
    let names: String = TABLE.iter().map(name).collect();
    let names = names.trim_end();
    format!(
        "// What is known of each tool before it is called. Written from `src/tool/schema.rs` by\n\
         // `KITBAG_WRITE=1 cargo test typescript_has_this_table`; the same test compares them.\n\n\
         /** The names of the tools. */\nexport type FileToolName =\n{names};\n\n\
         /** A tool. */\n\
         export interface About {{\n  \
           /** The name that models use. */\n  name: FileToolName;\n  \
           /** The name that people read. */\n  title: string;\n  \
           /** What a call can do. */\n  effect: \"reads\" | \"changes\" | \"destroys\" | \"runs\";\n  \
           /** Whether it is offered without being named. */\n  isUsual: boolean;\n}}\n\n\
         /** All tools, in the order in which they are offered. */\n\
         export const TABLE: readonly About[] = [\n{rows}];\n\n\
         /** Limits of the tools, where the options have no others. */\n\
         export const LIMITS = {{\n  \
           /** Tokens of a result. */\n  \
           toolTokenLimitBeforeEvict: {RESULT_TOKENS},\n  \
           /** Tokens of a user's message. */\n  \
           humanMessageTokenLimitBeforeEvict: {MESSAGE_TOKENS},\n  \
           /** Seconds of a command. */\n  \
           maxExecuteTimeout: {EXECUTE_SECONDS},\n}};\n"
    )
}
