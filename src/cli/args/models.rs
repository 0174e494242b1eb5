//! The arguments of what asks the API beside the messages.

use clap::Args as ClapArgs;

/// Arguments of `models`.
#[derive(Debug, ClapArgs)]
pub struct Models {
    /// Only this key; those that jobs use if not given.
    #[arg(long, value_name = "NAME")]
    pub key: Option<String>,
}
