import type { Command } from "commander";
import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import type { CliContext } from "../../src/platform/cli/cli-context.ts";
import { toExit } from "../../src/platform/cli/run-process.ts";
import { createProgram } from "../../src/cli/program.ts";
import { CHAINS } from "../../src/localnet/accounts/chains.ts";
import { BENCH_CHAINS } from "./bench-chain.ts";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { createGasProfiles } from "../../src/workbench/profile/profile-tx.ts";
import { createLocalnet } from "../../src/localnet/network/create-localnet.ts";

/** Output and exit of a command line that ran in this process. */
export interface CliResult {
  readonly out: string;
  readonly exitCode: number;
  readonly message: string | undefined;
  /** What the parser of the command line wrote to stderr: what is wrong with the words. */
  readonly usage: string;
}

/** A running local chain with a few blocks, and a command line in this process. */
export interface CliChain {
  /** Value for `--node`: the RPC of `local-1`. */
  readonly url: string;
  /** The RPC of `remote-1`. */
  readonly remoteUrl: string;
  readonly run: (...args: readonly string[]) => Promise<CliResult>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts both chains of a localnet on free ports, without sidecar and relayer. `hasBench`: the local one has the modules of the workbench.
 */
export async function startCliChain({ hasBench = false } = {}): Promise<CliChain> {
  const stop = new AbortController();
  const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const chain = { rpc: free, validatorPowers: [10n] };
  const localnet = createLocalnet(
    {
      chains: { local: chain, remote: chain },
      profiles: hasBench ? BENCH_CHAINS : CHAINS,
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    {
      clock: systemClock,
      logger: silentLogger,
      extension: () => ({ ...createGasProfiles(), modules: WORKBENCH_MODULES }),
    },
  );
  const done = localnet.run(stop.signal);
  done.catch(() => {});
  const running = await localnet.ready;
  running.chains.local?.control.produce(3);
  return {
    url: `tcp://127.0.0.1:${running.chains.local?.ports.get("rpc")}`,
    remoteUrl: `http://127.0.0.1:${running.chains.remote?.ports.get("rpc")}`,
    run: (...args) => runCommand(args, stop.signal),
    stop: async () => {
      stop.abort(new Error("test over"));
      await done;
    },
  };
}

/** Runs a command line in this process: of `relaywatch`, or of another program. */
export async function runCommand(
  args: readonly string[],
  signal: AbortSignal,
  create = createProgram,
): Promise<CliResult> {
  const lines: string[] = [];
  const usage: string[] = [];
  const written = () => ({ out: lines.join("\n"), usage: usage.join("") });
  const context: CliContext = {
    words: args,
    print: (line) => void lines.push(line),
    signal,
    logger: async () => silentLogger,
    isTerminal: false,
  };
  try {
    await quiet(await create(context), usage).parseAsync([...args], { from: "user" });
    return { ...written(), exitCode: 0, message: undefined };
  } catch (error) {
    return { ...written(), ...toExit(error) };
  }
}

/** Commander writes help and errors by itself; the tests need only the exit. */
function quiet(command: Command, errors: string[]): Command {
  command.configureOutput({ writeErr: (text) => void errors.push(text), writeOut: () => {} });
  for (const inner of command.commands) quiet(inner, errors);
  return command;
}
