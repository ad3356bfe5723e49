//! `tabiya config check|schema|init`

use std::io::{self, Write};

use anyhow::Result;

use crate::{
    DONE,
    args::Config,
    config_file::{self, DEFAULT_TEXT, Purpose},
};

/// Prints the configuration in one of its forms.
pub(crate) fn run(command: Config) -> Result<u8> {
    let mut out = io::stdout();
    match command {
        Config::Check { source, json } => {
            let loaded = config_file::load(Some(&source.config), &source.set, Purpose::Run)?;
            for warning in &loaded.warnings {
                eprintln!("warning: {warning}");
            }
            if json {
                writeln!(out, "{}", serde_json::to_string_pretty(&loaded.config)?)?;
            } else {
                write!(out, "{}", toml::to_string(&loaded.config)?)?;
            }
        }
        Config::Schema => writeln!(out, "{:#}", config_file::schema::of_config())?,
        Config::Init => write!(out, "{DEFAULT_TEXT}")?,
    }
    Ok(DONE)
}
