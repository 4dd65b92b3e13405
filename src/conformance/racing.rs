//! Concurrent calls.

use super::words::*;
use super::*;

pub(super) fn racing() -> Vec<Case> {
    vec![
        case!(
            one_of_many_creators_wins,
            |c| c.writable && c.create != Reach::Never,
            |it| {
                let texts: Vec<String> = (0..8).map(|n| format!("writer {n}")).collect();
                let answers =
                    join_all(texts.iter().map(|text| it.try_write("/race.txt", text))).await;
                let mut winner = None;
                for (answer, text) in answers.into_iter().zip(&texts) {
                    match answer? {
                        Ok(()) if winner.is_none() => winner = Some(text.clone()),
                        Ok(()) => return Err(String::from("two writers created the file")),
                        Err(error) => same("loser", error.kind(), Kind::AlreadyExists)?,
                    }
                }
                same("content", Some(it.text("/race.txt").await?), winner)?;
            }
        ),
        case!(
            no_edit_is_lost,
            |c| c.writable && c.update != Reach::Never,
            |it| {
                it.write("/count.txt", "end").await?;
                let lines: Vec<String> = (0..20).map(|n| format!("<{n}>end")).collect();
                let answers = join_all(
                    lines
                        .iter()
                        .map(|line| it.try_edit("/count.txt", "end", line, false)),
                )
                .await;
                for answer in answers {
                    answer?.map_err(|error| format!("{error:?}"))?;
                }
                let text = it.text("/count.txt").await?;
                for n in 0..20 {
                    same(
                        &format!("edit {n} in {text}"),
                        text.contains(&format!("<{n}>")),
                        true,
                    )?;
                }
            }
        ),
    ]
}
