import { execFileSync, type ExecFileSyncOptions } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program from outside npm that a test runs. */
interface Program {
  /** Name of the executable. */
  readonly name: string;
  readonly debianPackage: string;
  /** Directories besides those of PATH; `*` is any name. */
  readonly places: readonly string[];
}

const PROGRAMS = [
  { name: "initdb", debianPackage: "postgresql", places: ["/usr/lib/postgresql/*/bin"] },
  { name: "postgres", debianPackage: "postgresql", places: ["/usr/lib/postgresql/*/bin"] },
  { name: "pg_dump", debianPackage: "postgresql", places: ["/usr/lib/postgresql/*/bin"] },
  { name: "pg_restore", debianPackage: "postgresql", places: ["/usr/lib/postgresql/*/bin"] },
  { name: "sqlite3", debianPackage: "sqlite3", places: [] },
  { name: "script", debianPackage: "bsdutils", places: [] },
  { name: "chromium", debianPackage: "chromium", places: [] },
  { name: "prometheus", debianPackage: "prometheus", places: [] },
  { name: "prometheus-alertmanager", debianPackage: "prometheus-alertmanager", places: [] },
  { name: "promtool", debianPackage: "prometheus", places: [] },
  { name: "systemd", debianPackage: "systemd", places: ["/lib/systemd", "/usr/lib/systemd"] },
  { name: "systemd-analyze", debianPackage: "systemd", places: [] },
  { name: "dbus-daemon", debianPackage: "dbus", places: [] },
  { name: "logrotate", debianPackage: "logrotate", places: ["/usr/sbin"] },
  { name: "softhsm2-util", debianPackage: "softhsm2", places: [] },
  { name: "pkcs11-tool", debianPackage: "opensc", places: [] },
  { name: "amtool", debianPackage: "prometheus-alertmanager", places: [] },
] as const satisfies readonly Program[];

/** Returns the path of a program that `requirePrograms` has found. */
export function programPath(name: (typeof PROGRAMS)[number]["name"]): string {
  const program = PROGRAMS.find((one) => one.name === name);
  const path = program === undefined ? undefined : find(program);
  if (path === undefined) throw new Error(`${name} is missing: run the tests with npm run test:stack`);
  return path;
}

/** Installs the programs that are missing, or throws with the command that does. Prints path and version of each. */
export function requirePrograms(): void {
  const missing = [...new Set(missingPrograms().map(({ debianPackage }) => debianPackage))];
  if (missing.length > 0) install(missing);
  const left = missingPrograms();
  if (left.length > 0)
    throw new Error(`still missing after the installation: ${left.map(({ name }) => name).join(", ")}`);
  for (const program of PROGRAMS) {
    const path = programPath(program.name);
    // The only one without the option. Its package has one version for all its programs.
    const isTool = program.name === "pkcs11-tool";
    const asked = isTool ? path.replace(/pkcs11-tool$/, "opensc-tool") : path;
    const version = execFileSync(asked, [isTool ? "--info" : "--version"], { encoding: "utf8" }).trim();
    process.stdout.write(`test:stack uses ${path}: ${version}\n`);
  }
}

function missingPrograms(): readonly Program[] {
  return PROGRAMS.filter((program) => find(program) === undefined);
}

function install(packages: readonly string[]): void {
  const command = `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || onPath("apt-get") === undefined)
    throw new Error(
      `test:stack needs programs of the Debian packages ${packages.join(", ")}. Install them, for example with: sudo ${command}`,
    );
  process.stdout.write(`test:stack installs: ${command}\n`);
  const options: ExecFileSyncOptions = {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  execFileSync("apt-get", ["update"], options);
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...packages], options);
}

function find({ name, places }: Program): string | undefined {
  return (
    places
      .flatMap(directories)
      .map((directory) => join(directory, name))
      .findLast(existsSync) ?? onPath(name)
  );
}

function onPath(name: string): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  return path.map((directory) => join(directory, name)).find(existsSync);
}

/** Resolves one `*`, in ascending order. */
function directories(pattern: string): readonly string[] {
  const [before = "", after] = pattern.split("*");
  if (after === undefined) return [pattern];
  if (!existsSync(before)) return [];
  const byVersion = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });
  return readdirSync(before)
    .toSorted(byVersion)
    .map((name) => `${before}${name}${after}`);
}
