//! `execute`: runs a command, if the backend supports it. The tool set moves large output into a
//! file, as for any tool from elsewhere.

use std::time::Duration;

use crate::core::error::{Error, Kind, Result};
use crate::protocol::{Backend, BackendExt, ExecuteOptions, ExecuteResult};
use crate::tool::input::{Input, Name, plain};
use crate::tool::{Answer, ToolSet};

const COMMAND: Name = Name {
    real: "command",
    aliases: &["cmd", "script"],
};

/// Runs `command`.
pub async fn run(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let command = input.text(&COMMAND)?;
    if command.trim().is_empty() {
        return Err(Error::new(Kind::InvalidArgument, "'command' is empty"));
    }
    let most = set.options.max_execute_timeout;
    let timeout = input.count(&plain("timeout"))?;
    if let Some(seconds) = timeout
        && seconds > most
    {
        return Err(Error::new(
            Kind::InvalidArgument,
            format!("'timeout' is {seconds} seconds, over the limit of {most}"),
        ));
    }
    let options = ExecuteOptions {
        timeout: timeout.map(|seconds| Duration::from_secs(seconds as u64)),
    };
    let ran = backend.execute(command, options).await?;
    Ok(Answer {
        is_error: ran.exit_code.is_some_and(|code| code != 0),
        ..Answer::text(told(&ran))
    })
}

fn told(ran: &ExecuteResult) -> String {
    let mut text = ran.output.clone();
    if text.is_empty() {
        text.push_str("[no output]");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&match ran.exit_code {
        Some(code) => format!("[exit code {code}]"),
        None => String::from("[exit code unknown]"),
    });
    if ran.truncated {
        text.push_str("\n[The output was cut by the host; there was more]");
    }
    text
}
