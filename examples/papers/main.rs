//! Writes what the packages have beside the program: `cargo run --example papers -- DIRECTORY TARGET`.
//!
//! Man pages and completions come from the command line's definition, the licences and the list of components from what the target
//! links in, README and docs from the sources.

mod documents;
mod licences;
mod sbom;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use boardbridge::cli::Cli;
use clap::CommandFactory;
use clap_complete::{Shell, generate_to};

const PROGRAM: &str = "boardbridge";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (Some(directory), Some(target)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: papers DIRECTORY TARGET");
        return ExitCode::from(2);
    };
    match write(&PathBuf::from(directory), &target) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("papers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &Path, target: &str) -> Result<(), Box<dyn Error>> {
    let man = directory.join("man");
    let completions = directory.join("completions");
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(Cli::command(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut Cli::command(), PROGRAM, &completions)?;
    }
    fs::write(directory.join("licences"), licences::text(target)?)?;
    fs::write(
        directory.join("sbom.json"),
        format!("{:#}\n", sbom::json(target)?),
    )?;
    documents::write(Path::new("."), &directory.join("doc"))?;
    Ok(())
}
