import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { until } from "../e2e/cli-process.ts";
import { programPath } from "./programs.ts";

/** How a command in the machine ended. */
interface Ended {
  readonly code: number;
  readonly output: string;
}

/** A booted systemd in namespaces of its own, with this machine's programs, an own network and `relaywatch` on its path. */
export interface SystemdMachine {
  /** Runs a shell command as root in it. */
  readonly run: (command: string) => Promise<Ended>;
  /** The same, and rejects with the output unless it exits 0. */
  readonly must: (command: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Units that would change the kernel of this machine, or wait for hardware. */
const MASKED = [
  "proc-sys-fs-binfmt_misc.automount",
  "systemd-binfmt.service",
  "systemd-modules-load.service",
  "systemd-random-seed.service",
  "systemd-remount-fs.service",
  "systemd-sysctl.service",
  "systemd-timesyncd.service",
  "systemd-udevd.service",
  "systemd-udev-trigger.service",
  "dev-hugepages.mount",
  "sys-fs-fuse-connections.mount",
  "sys-kernel-config.mount",
  "sys-kernel-debug.mount",
  "sys-kernel-tracing.mount",
];

/** What changes is in memory: an overlay over the file system of this machine. */
function bootScript(work: string, clones: Clones | undefined): string {
  return `
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs ${work}
mkdir ${work}/upper ${work}/work ${work}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${work}/upper,workdir=${work}/work ${work}/root
root=${work}/root
mount -t proc proc $root/proc
mount -t sysfs -o ro sysfs $root/sys
mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
mount -t tmpfs tmpfs $root/run
# Devices of its own: systemd removes the shared memory of users that have no process.
mount -t tmpfs -o mode=755 tmpfs $root/dev
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 $root/dev/\${device%:*} c 1 \${device#*:}; done
mknod -m 666 $root/dev/tty c 5 0
mkdir $root/dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts $root/dev/pts
ln -s pts/ptmx $root/dev/ptmx
ln -s /proc/self/fd $root/dev/fd
${clones === undefined ? installScript() : bindScript(clones)}
mount -t tmpfs tmpfs $root/tmp
for unit in ${MASKED.join(" ")}; do ln -sf /dev/null $root/etc/systemd/system/$unit; done
rm -rf $root/etc/systemd/system/*.wants
mkdir $root/run/before
cd $root
# A chroot could not create user namespaces.
pivot_root . run/before
umount -l run/before
# systemd does so itself where it is not in a container. It mounts credentials in a namespace that shares them with this one.
mount --make-rshared /
exec /usr/bin/env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  ${programPath("systemd")} --system --unit=basic.target
`;
}

/** This folder as `/opt/relaywatch`, and its command. */
function installScript(): string {
  const { bin }: { readonly bin: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync("package.json", "utf8"),
  );
  return `${bindScript({ relaywatch: resolve(".") })}
printf '#!/bin/sh\\nexec /usr/local/bin/relaywatch-node /opt/relaywatch/${bin["relaywatch"]} "$@"\\n' > $root/usr/local/bin/relaywatch
chmod 755 $root/usr/local/bin/relaywatch
cp ${process.execPath} $root/usr/local/bin/relaywatch-node`;
}

/** Folders of this machine by their name in `/opt`. */
type Clones = Readonly<Record<string, string>>;

function bindScript(clones: Clones): string {
  const binds = Object.entries(clones).map(
    ([name, path]) => `mkdir -p $root/opt/${name}; mount --bind ${path} $root/opt/${name}`,
  );
  return ["mkdir -p $root/usr/local/bin", ...binds].join("\n");
}

/** Mounted hierarchies in which a container's systemd finds its processes. */
function cgroupRoot(): string {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const found = mounts.map((line) => line.split(" ")).find(([, , type]) => type === "cgroup2")?.[1];
  if (found !== undefined) return found;
  throw new Error("no cgroup2 hierarchy is mounted: systemd cannot be booted here");
}

/**
 * Boots it. Needs root. Rejects when it is not running after the time of `until`. Without `clones`, this folder is installed; with them,
 * they are in `/opt`, and nothing is installed.
 */
export async function bootSystemd(clones?: Clones): Promise<SystemdMachine> {
  if (process.getuid?.() !== 0) throw new Error("booting systemd in namespaces needs root");
  const work = mkdtempSync(join(tmpdir(), "relaywatch-systemd-"));
  const group = join(cgroupRoot(), `relaywatch-test-${process.pid}`);
  mkdirSync(group);
  const namespaces = [
    "--mount",
    "--pid",
    "--uts",
    "--ipc",
    "--cgroup",
    "--net",
    "--fork",
    "--kill-child=SIGKILL",
  ];
  const command = `echo $$ > ${group}/cgroup.procs; exec unshare ${namespaces.join(" ")} bash -c "$0"`;
  const child = spawn("bash", ["-c", command, bootScript(work, clones)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let screen = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
    });
  const run = async (inner: string): Promise<Ended> => enter(await initOf(child), inner);
  const close = async (): Promise<void> => {
    const gone = new Promise((done) => child.on("close", done));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await gone;
    }
    await until("an empty control group", () => {
      rmTree(group);
      return true;
    });
    rmSync(work, { recursive: true, force: true });
  };
  try {
    await until(`systemd to run: ${screen}`, async () => {
      const { output } = await run("systemctl is-system-running");
      return /^(?:running|degraded)$/m.test(output) ? true : undefined;
    });
  } catch (error) {
    await close();
    throw new Error(`systemd does not run: ${screen}`, { cause: error });
  }
  return {
    run,
    must: async (inner) => {
      const { code, output } = await run(inner);
      if (code === 0) return output;
      const journal = await run("journalctl --no-pager -n 40 -o cat");
      throw new Error(`${inner} exits ${code}: ${output}\n${journal.output}`);
    },
    close,
  };
}

/** The process id of systemd outside of its namespace: the child of unshare. */
async function initOf(child: ChildProcess): Promise<number> {
  return until("the first process", () => {
    const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim());
    return pid > 0 ? pid : undefined;
  });
}

function enter(pid: number, command: string): Promise<Ended> {
  const path = "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const args = ["-t", String(pid), "-a", "-r", "-w", "sh", "-c", `${path}; ${command}`];
  return new Promise((done) => {
    execFile("nsenter", args, { env: {}, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      done({ code, output: `${stdout}${stderr}` });
    });
  });
}

/** Groups are removed from the leaves on; each is empty of processes then. */
function rmTree(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) rmTree(join(group, entry.name));
  rmdirSync(group);
}
