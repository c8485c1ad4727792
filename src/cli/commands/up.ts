import { join } from "node:path";
import { Command } from "commander";
import type { LocalnetReady, LocalnetRunOptions } from "../../../daemons/localnet/main.ts";
import { accountNamed, CHAINS, DEFAULT_ROLES } from "../../localnet/accounts/chains.ts";
import { profileOption } from "../../localnet/cli/localnet-profile.ts";
import { LOCALNET_PARTS } from "../../localnet/network/localnet-options.ts";
import { onAbort, pause, raceAbort, withTimeout } from "../../platform/base/abort.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { LogLevel } from "../../platform/base/logger.ts";
import { type Service, supervise, throwFirst } from "../../platform/base/service.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withItsDurations } from "../../platform/cli/chain-clock.ts";
import { daemonContext } from "../../platform/cli/process-context.ts";
import type { LiveScreen } from "../../platform/cli/live-screen.ts";
import {
  accessOf,
  type AccessOptions,
  allowHostOption,
  blockTimeOption,
  keepBlocksOption,
  logLevelOption,
  portOffsetOption,
} from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";
import type { PublicLinks } from "../../platform/monitoring/alerts/links.ts";
import type { DaemonContext, DaemonEndpoint } from "../../platform/process/daemon-context.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import { localnetRelayerConfig } from "../../relayer/cli/relayer-config-options.ts";
import { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";
import { longestPollMs } from "../../watchdog/polling/freshness.ts";
import {
  addChainOptions,
  type ChainOptions,
  chosenContracts,
  chosenLocalnet,
  type ChosenLocalnet,
} from "./chain-options.ts";
import { watchedLocalnet } from "./watched-localnet.ts";
import { hasFirstResults, summaryLine, tryNext, upBlock, type UpParts, whatIsMissing } from "./up-state.ts";

interface Options extends AccessOptions, Omit<ChainOptions, "localValidators" | "remoteValidators"> {
  readonly keepBlocks?: number;
  readonly home?: string;
  readonly untilFirstResult?: true;
  readonly chainClock?: true;
  readonly logLevel: LogLevel;
}

const FIRST_RESULT_MS = 60_000;
const FIRST_RESULT_POLL_MS = 50;

export function upCommand(context: CliContext): Command {
  const command = new Command()
    .option(
      "--until-first-result",
      "exit with 0 once there is a proven result and a success rate, or with 1 after 60 s",
    )
    .option(
      "--home <dir>",
      "the directory for all state of the chains, the relayer and the watchdog; if unset, the state is discarded on exit",
    )
    .option(
      "--chain-clock",
      "make the relayer and the watchdog follow the chains' time, as set by localnet time",
    )
    .addOption(blockTimeOption())
    .addOption(keepBlocksOption())
    .addOption(profileOption())
    .addOption(allowHostOption())
    .addOption(portOffsetOption())
    .addOption(logLevelOption("warn"))
    .action((options: Options) => up(options, context));
  return addChainOptions(command);
}

/** Options for the user's own contracts on the local chain. */
type OwnContracts = Pick<LocalnetRunOptions, "contracts" | "watch" | "onContract">;

async function up(options: Options, context: CliContext): Promise<void> {
  const stop = new AbortController();
  const unwatch = onAbort(context.signal, (reason) => stop.abort(reason));
  const daemon = await daemonContext(context, options.logLevel);
  const own = { ...daemon, signal: stop.signal, portOption: "--port-offset" };
  const print = (line: string): void =>
    context.screen === undefined ? context.print(line) : context.screen.above(() => context.print(line));
  const net = await chosenLocalnet(options);
  const contracts: OwnContracts = {
    ...(await chosenContracts(options, print, net.chains?.local)),
    onContract: ({ label, address }) => print(`${`contract ${label}`.padEnd(24)} ${address}`),
  };
  const parts = createParts(options, own, { ...net, ...contracts }, print);
  const watcher: Service = {
    name: "up",
    run: async (signal) => {
      if (!options.untilFirstResult)
        return showState(parts.now, { net, portOffset: options.portOffset, print, context }, signal);
      await firstResult(parts.now, signal);
      print(summaryLine(parts.now(), context.isTerminal));
      stop.abort(DONE);
    },
  };
  try {
    throwFirst(await supervise([...parts.services, watcher], stop.signal, daemon.logger));
  } finally {
    unwatch();
    context.screen?.close();
  }
}

const DONE = new Error("the first results exist");

/** Creates a service for each daemon. The relayer and the watchdog start once the chains' servers are listening. */
function createParts(
  options: Options,
  daemon: DaemonContext,
  net: ChosenLocalnet & OwnContracts,
  print: (line: string) => void,
): { readonly services: readonly Service[]; readonly now: () => UpParts } {
  const { ports, chains = CHAINS, roles = DEFAULT_ROLES } = net;
  const access = accessOf(options);
  const stateDir = (name: string): string | undefined =>
    options.home === undefined ? undefined : join(options.home, name);
  const chainsUp = createDeferred<LocalnetReady>();
  const follower = async (signal: AbortSignal): Promise<DaemonContext> => {
    const { clock } = await raceAbort(chainsUp.promise, signal);
    return { ...daemon, ...(options.chainClock ? { clock } : {}), signal };
  };
  // This process serves all pages, so the pages can link to each other without configuration.
  const links: PublicLinks = {
    watchdog: addressOf(ports.watchdog),
    relayer: addressOf(ports.relayer),
    localnet: addressOf(ports.control),
  };
  const chainIds = { local: chains.local.chainId, remote: chains.remote.chainId };
  let state: UpParts = {
    chainIds,
    chains: {},
    ibcRelayer: undefined,
    relayer: undefined,
    watchdog: undefined,
  };
  const printEndpoints = (endpoints: readonly DaemonEndpoint[]): void => {
    for (const { name, url } of endpoints) print(`${name.padEnd(24)} ${url}`);
  };
  const localnet = async (signal: AbortSignal): Promise<void> => {
    const { runLocalnet } = await import("../../../daemons/localnet/main.ts");
    await runLocalnet(
      {
        parts: LOCALNET_PARTS,
        ...net,
        home: options.home,
        keepBlocks: options.keepBlocks,
        access,
        controlToken: controlToken(options.portOffset),
        links,
      },
      { ...daemon, signal },
      (ready) => {
        state = { ...state, chains: ready.chains, ibcRelayer: ready.ibcRelayer };
        printEndpoints(ready.endpoints);
        print(`${"control token in".padEnd(24)} ${controlTokenFile(options.portOffset)}`);
        chainsUp.resolve(ready);
      },
    );
  };
  const relayer = async (signal: AbortSignal): Promise<void> => {
    const context = await follower(signal);
    const { runIcqRelayer } = await import("../../../daemons/icq-relayer/main.ts");
    const { config: relayerConfig } = localnetRelayerConfig(ports, stateDir("relayer"), access, {
      chainIds,
      mnemonic: accountNamed(chains.local, roles.icqRelayer).mnemonic,
      prefix: chains.local.bech32Prefix,
      denom: chains.local.denom,
    });
    await runIcqRelayer({ ...relayerConfig, links }, context, (running, endpoints) => {
      state = { ...state, relayer: running };
      printEndpoints(endpoints);
    });
  };
  const watchdog = async (signal: AbortSignal): Promise<void> => {
    const context = await follower(signal);
    const clock = withItsDurations(context.clock, daemon.clock);
    const { runOracleWatchdog } = await import("../../../daemons/oracle-watchdog/main.ts");
    const { config } = localnetWatchdogConfig(
      options.portOffset,
      stateDir("watchdog"),
      watchedLocalnet(chains.local, ports),
      access.hosts,
    );
    await runOracleWatchdog(
      { ...config, notify: { ...config.notify, links } },
      { ...context, clock },
      (running, endpoints) => {
        state = { ...state, watchdog: running };
        printEndpoints(endpoints);
      },
    );
  };
  return {
    services: [
      { name: "localnet", run: localnet },
      { name: "relayer", run: relayer },
      { name: "watchdog", run: watchdog },
    ],
    now: () => state,
  };
}

async function firstResult(now: () => UpParts, signal: AbortSignal): Promise<void> {
  const found = await withTimeout(FIRST_RESULT_MS, systemClock, signal, async (inner) => {
    while (!hasFirstResults(now())) await systemClock.sleep(FIRST_RESULT_POLL_MS, inner);
    return true;
  });
  if (found === undefined) {
    const text = `no first result within ${FIRST_RESULT_MS / 1_000} s: ${whatIsMissing(now())}`;
    throw new CliError(EXIT.fatal, text);
  }
}

interface StateOutput {
  readonly net: Pick<ChosenLocalnet, "ports" | "chains">;
  readonly portOffset: number;
  /** Prints a line above the status block. */
  readonly print: (line: string) => void;
  readonly context: Pick<CliContext, "isTerminal" | "screen">;
}

const LINE_EVERY_MS = 2_000;
const BLOCK_EVERY_MS = 1_000;

/**
 * Shows the parts' state until the signal aborts, and suggests what to try after the first result. On a terminal, a block is
 * redrawn in place; elsewhere, each change prints a line.
 */
async function showState(now: () => UpParts, output: StateOutput, signal: AbortSignal): Promise<void> {
  const { context, portOffset, print } = output;
  const { ports } = output.net;
  const show = context.screen === undefined ? lines(output) : block(context.screen, output);
  const everyMs = context.screen === undefined ? LINE_EVERY_MS : BLOCK_EVERY_MS;
  let hasHinted = false;
  while (!signal.aborted) {
    const parts = now();
    if (!hasHinted && hasFirstResults(parts)) {
      for (const line of tryNext(commandName(), ports.localRest, portOffset)) print(line);
      hasHinted = true;
    }
    show(parts);
    await pause(everyMs, systemClock, signal);
  }
}

function lines({ print, context }: StateOutput): (parts: UpParts) => void {
  let last = "";
  return (parts) => {
    const line = summaryLine(parts, context.isTerminal);
    if (line !== last) print(line);
    last = line;
  };
}

function block(screen: LiveScreen, { net, portOffset }: StateOutput): (parts: UpParts) => void {
  const { ports, chains = CHAINS } = net;
  const startedAtMs = systemClock.nowMs();
  const watched = watchedLocalnet(chains.local, ports);
  const pollMs = longestPollMs(localnetWatchdogConfig(portOffset, undefined, watched).config);
  return (parts) => {
    const pages = {
      relayer: parts.relayer && addressOf(ports.relayer),
      watchdog: parts.watchdog && addressOf(ports.watchdog),
    };
    screen.show(upBlock(parts, { nowMs: systemClock.nowMs(), startedAtMs, pollMs, pages }));
  };
}

function addressOf(port: number): string {
  return `http://127.0.0.1:${port}/`;
}

/** Returns the command with which the user started the program, or an npm command if npm's variable for a running script is set. */
function commandName(): string {
  return process.env["npm_lifecycle_event"] === undefined ? "relaywatch" : "npm run -s relaywatch --";
}
