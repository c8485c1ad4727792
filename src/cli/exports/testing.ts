import { once } from "node:events";
import { createServer } from "node:net";
import type { LocalnetReady } from "../../../daemons/localnet/main.ts";
import { accountNamed, CHAINS } from "../../localnet/accounts/chains.ts";
import { createFaucet } from "../../localnet/control/control-routes.ts";
import { mineBlocks } from "../../localnet/control/chain-clock.ts";
import { createSnapshots } from "../../localnet/control/snapshots.ts";
import type { RunningNode } from "../../localnet/node/create-node.ts";
import { withDeadline } from "../../platform/base/abort.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { DEFAULT_PORTS, type Ports } from "../../platform/base/localnet-defaults.ts";
import { silentLogger } from "../../platform/base/logger.ts";
import { type Service, supervise, throwFirst } from "../../platform/base/service.ts";
import { withItsDurations } from "../../platform/cli/chain-clock.ts";
import { readBuildInfo } from "../../platform/process/build-info.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import { localnetRelayerConfig } from "../../relayer/cli/relayer-config-options.ts";
import type { Relayer } from "../../relayer/create-relayer.ts";
import { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";
import { watchedLocalnet } from "../commands/watched-localnet.ts";

export interface TestLocalnetOptions {
  /** If true (the default), runs the interchain-query relayer. */
  readonly relayer?: boolean;
  /** If true (the default), runs the price sidecar and the oracle watchdog. */
  readonly watchdog?: boolean;
  /** If true, runs the IBC relayer, which is off by default. */
  readonly ibcRelayer?: boolean;
  /** Voting power of each validator, per chain; by default, one validator. */
  readonly validators?: { readonly local?: readonly bigint[]; readonly remote?: readonly bigint[] };
  /** Behaviour of the chains where the deployed chain deviates from the specification; "specification" by default. */
  readonly profile?: "specification" | "deployed";
}

/** Base URLs of a chain's servers; `grpc` has no scheme. */
export interface TestChain {
  readonly id: string;
  readonly rpc: string;
  readonly rest: string;
  readonly grpc: string;
}

/**
 * A localnet in this process: the chains `local-1` and `remote-1`, the relayer and the watchdog. Chain time and height advance only
 * through this interface's functions.
 */
export interface TestLocalnet {
  readonly local: TestChain;
  readonly remote: TestChain;
  /** URLs of the daemons' pages and APIs, undefined for a daemon that is not running. */
  readonly relayer: string | undefined;
  readonly watchdog: string | undefined;
  /**
   * Returns the address and mnemonic of a funded local-chain account such as `alice`, `bob` or `operator`. Never use the mnemonics on
   * a real network, because they are PUBLIC TEST KEYS.
   */
  readonly account: (name: string) => { readonly address: string; readonly mnemonic: string };
  readonly heights: () => { readonly local: bigint; readonly remote: bigint };
  /** Makes `count` (default: 1) blocks on both chains, and advances time by `intervalMs` (default: 1000) before each block. */
  readonly mine: (count?: number, intervalMs?: number) => Promise<void>;
  /** Makes blocks until `isDone` returns true. Rejects if this takes more than `deadlineMs` (default: 60,000) of real time. */
  readonly mineUntil: (isDone: () => boolean | Promise<boolean>, deadlineMs?: number) => Promise<void>;
  /** Current chain time, in ms since the Unix epoch. */
  readonly now: () => number;
  /** Advances both chains' time without making blocks. */
  readonly advance: (ms: number) => void;
  /** Sends coins of the native denomination to an address on the local chain, where they arrive in the next block. */
  readonly faucet: (address: string, amount: bigint) => Promise<void>;
  /** Returns the number of results that the relayer has submitted for this interchain query. */
  readonly results: (queryId: bigint) => number;
  /** Takes a snapshot of both chains' current state and returns the snapshot's number. */
  readonly snapshot: () => number;
  readonly revert: (snapshot: number) => void;
  /** Stops all parts, and rejects with the error of a part that has failed. */
  readonly stop: () => Promise<void>;
}

/** Block interval that keeps a chain from making blocks on its own: the longest delay that a timer supports. */
const NEVER_MS = 2 ** 31 - 1;
const START_MS = 120_000;
const BLOCK_MS = 1_000;
/** Real time that `mineUntil` waits between blocks, so that the daemons can do their work. */
const PAUSE_MS = 10;

/** Starts a localnet on free loopback ports, with its state in memory. */
export async function startLocalnet(options: TestLocalnetOptions = {}): Promise<TestLocalnet> {
  const stop = new AbortController();
  const ports = await freePorts();
  const parts = createParts(options, ports);
  const done = supervise(parts.services, stop.signal, silentLogger);
  const failed = done.then((errors) => {
    throwFirst(errors);
    throw new Error("the localnet has ended");
  });
  // Ignore the rejection here, because `stop` rejects with the same error.
  failed.catch(() => {});
  const end = async (): Promise<void> => {
    stop.abort(new Error("the test is over"));
    throwFirst(await done);
  };
  try {
    const ready = withDeadline("the localnet", START_MS, stop.signal, () => parts.ready);
    const { chains, clock, relayer } = await Promise.race([ready, failed]);
    const { local, remote } = chains;
    if (local === undefined || remote === undefined) return unreachable("a localnet without chains");
    const nodes = [remote, local];
    clock.setRate(0);
    for (const { control } of nodes) control.halt();
    const snapshots = createSnapshots(nodes, clock, undefined);
    const faucet = createFaucet(CHAINS.local);
    const vote = async (): Promise<void> =>
      void (await Promise.all(nodes.map(({ control }) => control.vote(stop.signal))));
    const mine = (count = 1, intervalMs = BLOCK_MS): Promise<void> =>
      mineBlocks(nodes, clock, { count, everyMs: intervalMs, beforeEach: vote });
    return {
      local: chainAt("local", ports),
      remote: chainAt("remote", ports),
      relayer: relayer && urlAt(ports.relayer),
      watchdog: options.watchdog === false ? undefined : urlAt(ports.watchdog),
      account: accountOf,
      heights: () => ({ local: heightOf(local), remote: heightOf(remote) }),
      mine,
      mineUntil: (isDone, deadlineMs = 60_000) =>
        withDeadline("the condition that the test waits for", deadlineMs, stop.signal, async (signal) => {
          while (!(await isDone())) {
            await mine();
            await systemClock.sleep(PAUSE_MS, signal);
          }
        }),
      now: clock.nowMs,
      advance: (ms) => clock.set(clock.nowMs() + ms),
      faucet: async (address, amount) => void (await faucet.send(local.view, address, amount)),
      results: (queryId) => relayer?.status().queries.find(({ id }) => id === queryId)?.results ?? 0,
      snapshot: () => snapshots.take().id,
      revert: (id) => void snapshots.revert(id),
      stop: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function heightOf({ view }: RunningNode): bigint {
  return view.status().latestHeight;
}

function accountOf(name: string): { readonly address: string; readonly mnemonic: string } {
  const { address, mnemonic } = accountNamed(CHAINS.local, name);
  return { address, mnemonic };
}

function urlAt(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function chainAt(part: "local" | "remote", ports: Ports): TestChain {
  return {
    id: CHAINS[part].chainId,
    rpc: urlAt(ports[`${part}Rpc`]),
    rest: urlAt(ports[`${part}Rest`]),
    grpc: `127.0.0.1:${ports[`${part}Grpc`]}`,
  };
}

interface Ready extends LocalnetReady {
  readonly relayer: Relayer | undefined;
}

/** Creates a service for each daemon, and a promise `ready` that resolves once all daemons are listening. */
function createParts(
  options: TestLocalnetOptions,
  ports: Ports,
): { readonly services: readonly Service[]; readonly ready: Promise<Ready> } {
  const {
    relayer: hasRelayer = true,
    watchdog: hasWatchdog = true,
    ibcRelayer = false,
    profile,
    validators,
  } = options;
  const up = createDeferred<LocalnetReady>();
  const relayerUp = createDeferred<Relayer | undefined>();
  const watchdogUp = createDeferred<undefined>();
  const context = { logger: silentLogger, clock: systemClock, random: Math.random, build: readBuildInfo() };
  const localnet = async (signal: AbortSignal): Promise<void> => {
    const { runLocalnet } = await import("../../../daemons/localnet/main.ts");
    await runLocalnet(
      {
        parts: [
          "local",
          "remote",
          ...(hasWatchdog ? ["sidecar" as const] : []),
          ...(ibcRelayer ? ["ibc-relayer" as const] : []),
        ],
        ports,
        home: undefined,
        keepBlocks: undefined,
        blockTimeMs: NEVER_MS,
        validators: { local: validators?.local ?? [10n], remote: validators?.remote ?? [10n] },
        profile,
        access: { hosts: [], origins: [] },
        controlToken: undefined,
      },
      { ...context, signal },
      up.resolve,
    );
  };
  const relayer = async (signal: AbortSignal): Promise<void> => {
    const { runIcqRelayer } = await import("../../../daemons/icq-relayer/main.ts");
    const { clock } = await up.promise;
    const { config } = localnetRelayerConfig(ports, undefined);
    await runIcqRelayer(config, { ...context, clock, signal }, relayerUp.resolve);
  };
  const watchdog = async (signal: AbortSignal): Promise<void> => {
    const { runOracleWatchdog } = await import("../../../daemons/oracle-watchdog/main.ts");
    const { clock } = await up.promise;
    const { config } = localnetWatchdogConfig(undefined, undefined, watchedLocalnet(CHAINS.local, ports));
    const own = { ...context, clock: withItsDurations(clock, systemClock), signal };
    await runOracleWatchdog(config, own, () => watchdogUp.resolve(undefined));
  };
  if (!hasRelayer) relayerUp.resolve(undefined);
  if (!hasWatchdog) watchdogUp.resolve(undefined);
  return {
    services: [
      { name: "localnet", run: localnet },
      ...(hasRelayer ? [{ name: "relayer", run: relayer }] : []),
      ...(hasWatchdog ? [{ name: "watchdog", run: watchdog }] : []),
    ],
    ready: Promise.all([up.promise, relayerUp.promise, watchdogUp.promise]).then(([ready, running]) => ({
      ...ready,
      relayer: running,
    })),
  };
}

/** Returns a currently free port for each server. If another process takes a port before startup, the startup fails. */
async function freePorts(): Promise<Ports> {
  const servers = Object.keys(DEFAULT_PORTS).map((name) => ({
    name,
    server: createServer().listen(0, "127.0.0.1"),
  }));
  await Promise.all(servers.map(({ server }) => once(server, "listening")));
  const ports = servers.map(({ name, server }) => {
    const address = server.address();
    return [name, typeof address === "object" && address !== null ? address.port : 0] as const;
  });
  await Promise.all(servers.map(async ({ server }) => once(server.close(), "close")));
  return { ...DEFAULT_PORTS, ...Object.fromEntries(ports) };
}
