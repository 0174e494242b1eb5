//! A builder for command line tests: files in, stdout, stderr and exit code out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A working folder and the program.
pub struct Scenario {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What a command did.
pub struct Done {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
}

impl Scenario {
    /// An empty working folder and an empty environment.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// The working folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a file.
    pub fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Adds or replaces a file.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the working folder.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Every file below a folder of the working folder, as relative paths in order.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let root = self.folder.path();
        let mut found = Vec::new();
        let mut open = vec![root.join(folder)];
        while let Some(folder) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }

    /// Adds a job that fires at 05:00 JST and writes a file.
    pub fn job(self, name: &str, cron: &str) -> Self {
        let text = format!(
            "cron: \"{cron}\"\ntimezone: Asia/Tokyo\nprompt: {{ text: \"Say hello on {{{{ date }}}}.\" }}\n\
             output: {{ file: \"out/{name}/{{{{ date }}}}.md\" }}\n"
        );
        self.file(&format!("jobs/{name}.yaml"), &text)
    }

    /// Sets a variable of the program's environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The command, with nothing inherited from this process.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offpeak"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .args(args)
            .stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().unwrap().into()
    }

    /// Runs a command that must end; one that goes on, as a daemon that ought to be refused, is killed after a minute.
    pub fn run_for_a_minute(&self, args: &[&str]) -> Done {
        let running = self.start(args);
        let id = running.id().to_string();
        let (ended, has_ended) = std::sync::mpsc::channel::<()>();
        let guard = std::thread::spawn(move || {
            let minute = std::time::Duration::from_mins(1);
            if has_ended.recv_timeout(minute) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        let done = running.wait();
        drop(ended);
        guard.join().unwrap();
        done
    }

    /// Starts a command that goes on; end it through [`Running`].
    pub fn start(&self, args: &[&str]) -> Running {
        Running::spawn(&mut self.command(args))
    }
}

impl Running {
    /// Starts a command whose output is read.
    pub fn spawn(command: &mut Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child: Some(child) }
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

impl Done {
    /// Asserts the exit code, and shows everything if it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }

    /// Asserts that standard output holds a text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "no {text:?} in:\n{}",
            self.stdout
        );
        self
    }

    /// Asserts that standard error holds a text.
    #[track_caller]
    pub fn complains(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in:\n{}",
            self.stderr
        );
        self
    }
}

/// A command that goes on; killed when dropped.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal by name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.id().to_string())
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Done {
        self.child
            .take()
            .unwrap()
            .wait_with_output()
            .unwrap()
            .into()
    }

    /// The child's standard output, to read while it runs.
    pub fn stdout(&mut self) -> std::process::ChildStdout {
        self.child.as_mut().unwrap().stdout.take().unwrap()
    }

    /// The child's standard error, to read while it runs.
    pub fn stderr(&mut self) -> std::process::ChildStderr {
        self.child.as_mut().unwrap().stderr.take().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Programs that would outlive their test; killed when dropped, however the test ends.
pub struct Ends(Vec<String>);

impl Ends {
    /// Their ids, one a line.
    pub fn of(ids: &str) -> Self {
        Self(ids.lines().map(str::to_owned).collect())
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        // Those that have ended are no fault.
        let _ = Command::new("kill")
            .arg("-KILL")
            .args(&self.0)
            .stderr(Stdio::null())
            .status();
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
