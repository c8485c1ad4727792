import { setFlagsFromString } from "node:v8";
import { createChainClient, type PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { answerOf } from "../../cosmos/client/answers.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { silentObserver } from "../../cosmos/client/rpc-caller.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { silentLogger } from "../../platform/base/logger.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import type { ConnectionOptions } from "./connection-options.ts";

/** Runs `work` with a client for the selected chain. Throws `CliError` if the chain cannot be reached. */
export async function withChain<T>(
  options: ConnectionOptions,
  context: CliContext,
  work: (client: PooledChainClient) => Promise<T>,
): Promise<T> {
  delayOptimization();
  const url = options.node ?? `http://127.0.0.1:${portsAt(options.portOffset).localRpc}`;
  const client = createChainClient(
    { endpoints: [{ url }], chainId: options.chainId, limits: { connections: 1 } },
    {
      clock: systemClock,
      random: Math.random,
      // Use no logger, because a short command has nothing to log and the logger's library takes long to load.
      logger: silentLogger,
      observer: silentObserver,
    },
  );
  try {
    return await work(client);
  } catch (error) {
    throw explained(toCliError(error), context);
  } finally {
    client.close();
  }
}

/**
 * Raises V8's threshold for optimizing WebAssembly about 50 times. By default, V8 optimizes the HTTP client's huge parser in the
 * background after two responses. The optimization takes 80 ms of CPU time and delays the end of the process.
 */
function delayOptimization(): void {
  setFlagsFromString("--wasm-tiering-budget=100000000");
}

/** Gives retryable errors exit code 75. If the endpoint is unreachable, the error message explains how to select another endpoint. */
function toCliError(error: unknown): unknown {
  if (!(error instanceof ClientError) || answerOf(error) === "final" || error.facts.code === "wrong-chain")
    return error;
  const hint =
    error.facts.code === "unreachable"
      ? "; start the chain, or select a node with --node or --port-offset"
      : "";
  return new CliError(EXIT.tryAgain, `${error.message}${hint}`, { cause: error.cause });
}

interface OptionalModuleContext extends CliContext {
  /** Advice that is added to errors if the chain does not include the module. */
  readonly ifAbsent: string;
}

/** Returns a context that adds the advice `ifAbsent` to errors from chains without the module. */
export function forOptionalModule(context: CliContext, ifAbsent: string): OptionalModuleContext {
  return { ...context, ifAbsent };
}

function isForOptionalModule(context: CliContext): context is OptionalModuleContext {
  return "ifAbsent" in context;
}

/** Matches a chain's error for a query or message of a module that the chain does not include. */
const NO_MODULE = /unknown query path|no message handler found for/;

function explained(error: unknown, context: CliContext): unknown {
  if (!isForOptionalModule(context) || !(error instanceof Error) || !NO_MODULE.test(error.message))
    return error;
  return new CliError(EXIT.fatal, `${error.message}; ${context.ifAbsent}`, { cause: error.cause });
}
