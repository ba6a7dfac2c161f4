//! Which of this machine's processes are the engine: those that listen on its port, and their children. It is found
//! out so that the work of others can be told from the engine's; no name and no number leaves this module's callers.
//!
//! Run on real machines (Linux) and against a fabricated `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::files::{numbered, text};

/// Programs that listen for others: behind them the engine's processes cannot be seen.
const FORWARDERS: [&str; 12] = [
    "docker-proxy",
    "rootlessport",
    "slirp4netns",
    "pasta",
    "conmon",
    "ssh",
    "sshd",
    "socat",
    "nginx",
    "haproxy",
    "caddy",
    "envoy",
];

/// A look at all processes is repeated this often at most.
const SEARCH_EVERY: Duration = Duration::from_secs(30);

/// The first number of a user who is a person; below are those that services run under.
const FIRST_PERSON: u32 = 1_000;

/// The engine's processes.
#[derive(Debug)]
pub struct EngineProcesses {
    proc: PathBuf,
    port: u16,
    roots: BTreeSet<u32>,
    /// The roots and all their descendants.
    family: BTreeSet<u32>,
    searched: Instant,
}

impl EngineProcesses {
    /// Looks for whoever listens on `port`, below `root` (`/` on a real machine).
    pub fn find(root: &Path, port: u16) -> Self {
        let proc = root.join("proc");
        let roots = search(&proc, port);
        let mut found = Self { proc, port, roots, family: BTreeSet::new(), searched: Instant::now() };
        found.family = found.descendants();
        found
    }

    /// The engine's processes; empty when they are not known.
    pub fn family(&self) -> &BTreeSet<u32> {
        &self.family
    }

    /// Follows an engine that started workers, or was started again.
    pub fn refresh(&mut self) {
        let all_live = self.roots.iter().all(|pid| self.proc.join(pid.to_string()).exists());
        if (self.roots.is_empty() || !all_live) && self.searched.elapsed() >= SEARCH_EVERY {
            self.roots = search(&self.proc, self.port);
            self.searched = Instant::now();
        }
        self.family = self.descendants();
    }

    fn descendants(&self) -> BTreeSet<u32> {
        let mut family = BTreeSet::new();
        let mut next: Vec<u32> = self.roots.iter().copied().collect();
        while let Some(pid) = next.pop() {
            let folder = self.proc.join(pid.to_string());
            if !folder.exists() || !family.insert(pid) {
                continue;
            }
            for task in numbered(&folder.join("task"), "") {
                let children = text(&task.join("children")).unwrap_or_default();
                next.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            }
        }
        family
    }
}

/// A socket that listens.
#[derive(Debug, PartialEq, Eq)]
struct Listener {
    inode: u64,
    user: u32,
}

/// Processes that hold a socket listening on the port. Where the socket belongs to a user whose processes cannot be
/// looked into, and who is no person (`ollama` of a package), all processes of that user.
fn search(proc: &Path, port: u16) -> BTreeSet<u32> {
    let listeners: Vec<Listener> = ["net/tcp", "net/tcp6"]
        .into_iter()
        .filter_map(|file| text(&proc.join(file)))
        .flat_map(|table| listeners(&table, port))
        .collect();
    if listeners.is_empty() {
        return BTreeSet::new();
    }
    let mut holders: BTreeSet<u32> = BTreeSet::new();
    let mut of_service: BTreeSet<u32> = BTreeSet::new();
    for folder in numbered(proc, "") {
        let Some(pid) = folder.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        if listeners.iter().any(|listener| holds(&folder, listener.inode)) {
            holders.insert(pid);
        }
        let service = |listener: &Listener| {
            (1..FIRST_PERSON).contains(&listener.user) && runs_under(&folder, listener.user)
        };
        if listeners.iter().any(service) {
            of_service.insert(pid);
        }
    }
    let found = if holders.is_empty() { of_service } else { holders };
    let forwards = |pid: &u32| {
        text(&proc.join(pid.to_string()).join("comm")).is_some_and(|name| FORWARDERS.contains(&name.as_str()))
    };
    if found.iter().any(forwards) { BTreeSet::new() } else { found }
}

/// The listening sockets of a port, of a table such as `/proc/net/tcp`.
fn listeners(table: &str, port: u16) -> Vec<Listener> {
    const LISTENING: &str = "0A";
    let listener = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let matches = u16::from_str_radix(local_port, 16).ok()? == port && *fields.get(3)? == LISTENING;
        let listener = Listener { user: fields.get(7)?.parse().ok()?, inode: fields.get(9)?.parse().ok()? };
        matches.then_some(listener)
    };
    table.lines().skip(1).filter_map(listener).collect()
}

fn holds(process: &Path, inode: u64) -> bool {
    let socket = format!("socket:[{inode}]");
    let entries = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    entries
        .map(|entry| fs::read_link(entry.path()))
        .any(|link| link.is_ok_and(|to| to.as_os_str() == socket.as_str()))
}

fn runs_under(process: &Path, user: u32) -> bool {
    let status = text(&process.join("status")).unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().nth(1));
    effective.and_then(|id| id.parse().ok()) == Some(user)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::super::files::testing::Tree;
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 52801 1 0000000000000000 100 0 0 10 0\n   \
        1: 0100007F:1F90 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000   998        0 52999 1 0000000000000000 20 4 30 10 -1\n   \
        2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11111 1 0000000000000000 100 0 0 10 0";

    fn process(tree: &Tree, pid: u32, children: &str, socket: Option<u64>) {
        tree.write(&format!("proc/{pid}/comm"), "llama-server");
        tree.write(&format!("proc/{pid}/status"), "Name:\tx\nUid:\t998\t998\t998\t998");
        tree.write(&format!("proc/{pid}/task/{pid}/children"), children);
        fs::create_dir_all(tree.path().join(format!("proc/{pid}/fd"))).unwrap();
        if let Some(inode) = socket {
            let link = tree.path().join(format!("proc/{pid}/fd/3"));
            std::os::unix::fs::symlink(format!("socket:[{inode}]"), link).unwrap();
        }
    }

    #[test]
    fn only_a_listening_socket_of_the_port_counts() {
        assert_eq!(listeners(TCP, 8_080), [Listener { inode: 52_801, user: 998 }]);
        assert_eq!(listeners(TCP, 41_394), []);
        assert_eq!(listeners("", 8_080), []);
    }

    #[test]
    fn the_engine_is_who_listens_with_all_descendants_and_nobody_else() {
        let tree = Tree::new();
        tree.write("proc/net/tcp", TCP);
        process(&tree, 10, "11 12", Some(52_801));
        process(&tree, 11, "", None);
        process(&tree, 12, "13", None);
        process(&tree, 13, "", None);
        process(&tree, 77, "", Some(11_111));
        let mut engine = EngineProcesses::find(tree.path(), 8_080);
        assert_eq!(engine.family(), &BTreeSet::from([10, 11, 12, 13]));
        process(&tree, 14, "", None);
        tree.write("proc/13/task/13/children", "14");
        engine.refresh();
        assert_eq!(engine.family(), &BTreeSet::from([10, 11, 12, 13, 14]));
    }

    #[test]
    fn a_service_that_cannot_be_looked_into_is_known_by_its_user() {
        let tree = Tree::new();
        tree.write("proc/net/tcp", TCP);
        process(&tree, 10, "", None);
        process(&tree, 77, "", None);
        tree.write("proc/77/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000");
        assert_eq!(EngineProcesses::find(tree.path(), 8_080).family(), &BTreeSet::from([10]));
        tree.write("proc/net/tcp", &TCP.replace("998", "1000"));
        assert_eq!(EngineProcesses::find(tree.path(), 8_080).family(), &BTreeSet::new());
    }

    #[test]
    fn behind_a_forwarder_the_engine_is_unknown() {
        let tree = Tree::new();
        tree.write("proc/net/tcp", TCP);
        process(&tree, 10, "", Some(52_801));
        tree.write("proc/10/comm", "docker-proxy");
        assert!(EngineProcesses::find(tree.path(), 8_080).family().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_found_by_the_port_it_listens_on() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = EngineProcesses::find(Path::new("/"), socket.local_addr().unwrap().port());
        assert!(found.family().contains(&std::process::id()), "{found:?}");
    }
}
