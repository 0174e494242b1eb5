//! `mock`: the stand-in for the API as a server on loopback.

use std::io::Write;
use std::sync::Arc;

use tokio::sync::watch;

use super::{CliError, Context, Exit, args, signals};
use crate::clock::SystemClock;
use crate::engine::Stop;
use crate::standin::{Script, Standin};

/// Where a script's form is described.
const HELP: &str = "`offpeak mock --help` shows a script";

/// Serves until a signal.
pub fn run(context: &Context, args: &args::Mock, out: &mut dyn Write) -> Result<Exit, CliError> {
    let script = match &args.script {
        None => Script::default(),
        Some(path) => {
            let path = context.path(path);
            let text = std::fs::read_to_string(&path).map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })?;
            Script::from_yaml(&text).map_err(|source| CliError::Refused {
                what: format!("{}: {source}", path.display()),
                help: HELP.to_owned(),
            })?
        }
    };
    context.block_on(serve(args, script, out))
}

async fn serve(args: &args::Mock, script: Script, out: &mut dyn Write) -> Result<Exit, CliError> {
    let mut stops = signals::Stops::listen()?;
    let standin = Standin::start_on(args.port, script, Arc::new(SystemClock::new()), args.seed)
        .map_err(CliError::Listen)?;
    let url = standin.base_url();
    // One write: a reader that takes the first line and goes must not end the server.
    let words = format!(
        "listening on {url}\nput `upstream: {{ base_url: \"{url}\" }}` into offpeak.yaml; any key will do\n"
    );
    out.write_all(words.as_bytes())?;
    out.flush()?;
    let (stop, _) = watch::channel(Stop::Running);
    stops.next(&stop).await;
    Ok(Exit::Done)
}
