import { type ChildProcess, spawn } from "node:child_process";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { errorText } from "../../../src/platform/base/errors.ts";
import { loadDaemonConfig } from "../../../src/platform/config/daemon-config.ts";
import { chainConfigKind } from "../../../src/localnet/cli/chain-config.ts";

export interface RunOptions {
  /** Folder of the installed suite. */
  readonly dir: string;
  readonly portOffset: number;
  readonly blockTimeMs: number;
  /** Longest time of one file. */
  readonly deadlineMs: number;
  /** Only the tests with this text in their name. */
  readonly test: string | undefined;
  /** Default: a temporary folder. */
  readonly logDir: string | undefined;
  readonly signal: AbortSignal;
}

/** The result of one file. */
export interface FileRun {
  readonly file: string;
  readonly passed: number;
  /** Tests that ran or were skipped. */
  readonly total: number;
  readonly failures: readonly string[];
  /** Why the file did not run to its end. */
  readonly problem: string | undefined;
  readonly seconds: number;
  /** Processor time of the chains and the IBC relayer for a block of the local chain. */
  readonly cpuPerBlockMs: number | undefined;
}

const CHAINS = "config/localnet-suite.example.yaml";
const PROGRAM = "dist/program/relaywatch.js";
/** The suite's replacement of docker sends this token to the control API. */
const TOKEN = "suite";
/** The suite waits for no container and starts none. */
const NO_SETUP =
  "NO_DOCKER NO_WAIT_CHANNEL1 NO_WAIT_HTTP2 NO_WAIT_CHANNEL2 NO_WAIT_DELAY NO_PRINT_VERSIONS".split(" ");
/** Blocks before the first search of a TX query. The relayer of the suite searches from the first block on. */
const WHOLE_CHAIN = 1_000_000;
/** Deadline for the chains with their transfer channel, and then for the relayer. */
const START_MS = 180_000;
/** Time between the request to stop and the end by force. */
const STOP_MS = 10_000;
const POLL_MS = 500;

/** Runs one file of the suite on fresh chains with a query relayer and an IBC relayer. Stops all of them afterwards, also on abort. */
export async function runFile(file: string, options: RunOptions): Promise<FileRun> {
  const startedAt = Date.now();
  const name = file.slice(file.lastIndexOf("/") + 1);
  const logs = options.logDir ?? mkdtempSync(join(tmpdir(), "relaywatch-suite-"));
  mkdirSync(logs, { recursive: true });
  const net = describeNet(options.portOffset);
  const world: World = {
    ...options,
    net,
    logs,
    name,
    state: mkdtempSync(join(tmpdir(), "relaywatch-suite-")),
  };
  const running: ChildProcess[] = [];
  let output = "";
  let problem: string | undefined;
  let cost: number | undefined;
  const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(options.deadlineMs)]);
  try {
    running.push(startChains(world));
    await until("the chains and their transfer channel", () => hasChannel(net), running, deadline);
    running.push(startRelayer(world));
    await until("the query relayer", () => isUp(`${net.relayer}/metrics`), running, deadline);
    const suite = startSuite(world, file, (text) => {
      output += text;
    });
    running.push(suite);
    await ended(suite, running.slice(0, -1), deadline);
    cost = await readCost(net);
  } catch (error) {
    problem = options.signal.aborted ? "interrupted" : errorText(error);
  }
  await Promise.all(running.toReversed().map(stop));
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const found = countTests(output);
  const logged = found.total === 0 || problem !== undefined ? `; logs in ${logs}` : "";
  const reason = problem ?? (found.total === 0 ? "the suite ran no test" : undefined);
  return {
    file,
    ...found,
    problem: reason === undefined ? undefined : `${reason}${logged}`,
    seconds,
    cpuPerBlockMs: cost,
  };
}

interface World extends RunOptions {
  readonly net: Net;
  readonly logs: string;
  readonly name: string;
  readonly state: string;
}

/** URLs and names of the chains in the chain file. */
interface Net {
  readonly localRpc: string;
  readonly localRest: string;
  readonly remoteRpc: string;
  readonly remoteRest: string;
  readonly control: string;
  readonly relayer: string;
  readonly relayerPort: number;
  readonly chainIds: Readonly<Record<"local" | "remote", string>>;
  readonly mnemonic: string;
}

function describeNet(offset: number): Net {
  const { config } = loadDaemonConfig(chainConfigKind, CHAINS, {});
  const url = (key: string): string => `http://127.0.0.1:${portOf(key)}`;
  const portOf = (key: string): number => Number(config.ports[key]) + offset;
  const signer = config.local.accounts.find(({ name }) => name === config.relayers.icq);
  return {
    localRpc: url("local_rpc"),
    localRest: url("local_rest"),
    remoteRpc: url("remote_rpc"),
    remoteRest: url("remote_rest"),
    control: url("control"),
    relayer: url("relayer"),
    relayerPort: portOf("relayer"),
    chainIds: { local: config.local.chain_id, remote: config.remote.chain_id },
    mnemonic: signer?.mnemonic ?? "",
  };
}

function startChains(world: World): ChildProcess {
  const { dir, portOffset, blockTimeMs, state } = world;
  const folder = join(state, "relaywatch", `localnet-${portOffset}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "control-token"), TOKEN, { mode: 0o600 });
  const words = ["localnet", "start", "--ibc-relayer", "--chain-config", CHAINS, "--chain-dir", dir];
  const numbers = ["--port-offset", `${portOffset}`, "--block-time", `${blockTimeMs}`, "--log-level", "warn"];
  return start("chains", world, [process.execPath, PROGRAM, ...words, ...numbers], { XDG_STATE_HOME: state });
}

function startRelayer(world: World): ChildProcess {
  const { net, state } = world;
  const file = join(state, "relayer.yaml");
  writeFileSync(
    file,
    `chain: { id: ${net.chainIds.local}, rpc: ["${net.localRpc}"] }
signer: { mnemonic: { env: SUITE_RELAYER } }
connections:
  - { id: connection-0, chain_id: ${net.chainIds.remote}, rpc: ["${net.remoteRpc}"] }
queries: { tx_lookback_blocks: "${WHOLE_CHAIN}" }
http: { listen: "127.0.0.1:${net.relayerPort}" }
`,
  );
  const words = [process.execPath, PROGRAM, "relayer", "start", "--config", file, "--log-level", "warn"];
  return start("relayer", world, words, { SUITE_RELAYER: net.mnemonic });
}

/** Runs the suite's vitest on one file, with its own version of Node.js and its replacement of docker. */
function startSuite(world: World, file: string, onOutput: (text: string) => void): ChildProcess {
  const { dir, net, test } = world;
  const node = readFileSync(join(dir, "node22"), "utf8").trim();
  const chosen = test === undefined ? [] : ["-t", test];
  const words = ["node_modules/.bin/vitest", "--run", `src/testcases/${file}.test.ts`, ...chosen];
  const child = start("suite", world, [node, ...words, "--no-file-parallelism", "--reporter=verbose"], {
    PATH: [join(dir, "shim"), dirname(node), process.env["PATH"] ?? ""].join(delimiter),
    NODE_OPTIONS: `--import ${pathToFileURL(join(dir, "retry-fetch.mjs")).href}`,
    ...Object.fromEntries(NO_SETUP.map((name) => [name, "1"])),
    WALLETS: process.env["WALLETS"] ?? `${walletsOf(dir, file)}`,
    WALLETS_SIGN_METHOD: "secp256k1",
    CONTRACTS_PATH: contractFolders(world),
    NODE1_RPC: net.localRpc,
    NODE1_URL: net.localRest,
    NODE2_RPC: net.remoteRpc,
    NODE2_URL: net.remoteRest,
    ICQ_WEB_HOST: net.relayer,
    CONTROL: net.control,
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    cwd: join(dir, "suite"),
  });
  child.stdout?.on("data", (bytes: Buffer) => onOutput(bytes.toString("utf8")));
  return child;
}

/**
 * Links the folders that the suite reads contracts from. It names some of them by `../contracts_thirdparty/NAME`; here all are in one
 * folder. Returns the path of its main folder.
 */
function contractFolders({ dir, state }: World): string {
  const names = ["contracts", "contracts_thirdparty", "contracts_tge_migration"];
  for (const name of names) symlinkSync(join(dir, "wasm"), join(state, name), "dir");
  return join(state, "contracts");
}

/**
 * Returns how many wallets must be funded: the suite gives each file of a folder 20 of them, in the order of the names. Each takes
 * a tenth of a second.
 */
function walletsOf(dir: string, file: string): number {
  const path = join(dir, "suite/src/testcases", `${file}.test.ts`);
  const names = readdirSync(dirname(path), { withFileTypes: true }).filter((entry) => entry.isFile());
  const position = names
    .map(({ name }) => name)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .indexOf(basename(path));
  return 20 * (position + 1);
}

/** Each program has a process group of its own, so that a stop reaches the processes that it started. */
function start(
  part: string,
  { logs, name }: World,
  [command = "", ...words]: readonly string[],
  { cwd, ...variables }: Readonly<Record<string, string>>,
): ChildProcess {
  const log = createWriteStream(join(logs, `${name}.${part}.log`));
  const child = spawn(command, words, {
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  child.on("error", (error) => log.write(`${errorText(error)}\n`));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  return child;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function until(
  what: string,
  isReady: () => Promise<boolean>,
  running: readonly ChildProcess[],
  signal: AbortSignal,
): Promise<void> {
  const end = Date.now() + START_MS;
  while (!(await isReady())) {
    signal.throwIfAborted();
    if (running.some(hasEnded)) throw new Error(`a program ended before ${what} were ready`);
    if (Date.now() > end) throw new Error(`${what} not ready within ${START_MS / 1000} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Waits for the end of the suite. Rejects when a program that it needs ends, at the deadline, and on abort. */
async function ended(
  suite: ChildProcess,
  needed: readonly ChildProcess[],
  signal: AbortSignal,
): Promise<void> {
  while (!hasEnded(suite)) {
    if (signal.aborted) throw new Error("not finished in time");
    if (needed.some(hasEnded)) throw new Error("the chains or the relayer ended");
    await sleep(POLL_MS);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const signal = (kind: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, kind);
    } catch {
      // All processes of the group have ended.
    }
  };
  signal("SIGTERM");
  const end = Date.now() + STOP_MS;
  while (!hasEnded(child) && Date.now() < end) await sleep(50);
  signal("SIGKILL");
}

const channels = z.object({ channels: z.array(z.object({ state: z.string() })) });

async function hasChannel({ localRest, remoteRest }: Net): Promise<boolean> {
  const states = await Promise.all(
    [localRest, remoteRest].map(async (rest) => {
      const page = channels.safeParse(await getJson(`${rest}/ibc/core/channel/v1/channels`));
      return page.success && page.data.channels.some(({ state }) => state === "STATE_OPEN");
    }),
  );
  return states.every(Boolean);
}

async function isUp(url: string): Promise<boolean> {
  return (await getText(url)) !== undefined;
}

async function getJson(url: string): Promise<unknown> {
  const text = await getText(url);
  return text === undefined ? undefined : JSON.parse(text);
}

async function getText(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    const text = await response.text();
    return response.ok ? text : undefined;
  } catch {
    return undefined;
  }
}

const heights = z.object({ chains: z.array(z.object({ height: z.coerce.number() })) });

/** Processor time of the process with both chains, in ms, for a block of the local chain. Undefined if the chains do not answer. */
async function readCost({ control }: Net): Promise<number | undefined> {
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec((await getText(`${control}/metrics`)) ?? "")?.[1];
  const chains = heights.safeParse(await getJson(`${control}/chains`));
  const height = chains.success ? chains.data.chains[0]?.height : undefined;
  if (seconds === undefined || height === undefined || height === 0) return undefined;
  return Math.round((Number(seconds) * 1000) / height);
}

/** Reads the summary and the failed tests of vitest's verbose output. */
export function countTests(output: string): Pick<FileRun, "passed" | "total" | "failures"> {
  const summary = /^\s*Tests\s+(.+)$/m.exec(output)?.[1] ?? "";
  const passed = Number(/(\d+) passed/.exec(summary)?.[1] ?? 0);
  const total = Number(/\((\d+)\)/.exec(summary)?.[1] ?? 0);
  // A test that failed, or a group whose preparation did.
  const failures = [...output.matchAll(/^\s*(?:×|FAIL )\s*\S+\.test\.ts > (.+?)(?: \d+ms)?$/gm)].map(
    ([, text = ""]) => text,
  );
  return { passed, total, failures: [...new Set(failures)] };
}
