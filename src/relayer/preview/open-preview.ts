import type { Endpoint } from "../../platform/http/remote.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { readDisplayUnit } from "../../cosmos/client/denom-metadata.ts";
import { silentObserver } from "../../cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../cosmos/client/tx/create-tx-sender.ts";
import { expectedSequence } from "../../cosmos/client/tx/tx-queries.ts";
import type { WireMessage, SimulationOutcome } from "../../cosmos/client/tx/tx-types.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { gasPricePolicy, openClient, queryFilter } from "../chain-access.ts";
import { configuredPrice, configuredUnit } from "../config/amount-config.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { openSigner } from "../config/signer-config.ts";
import { createLocalQueries } from "../chain/local-queries.ts";
import { isServed, type RegisteredQuery } from "../chain/registered-query.ts";

/** A relayer's chain clients and account, for commands that send nothing. */
export type Preview = Awaited<ReturnType<typeof openPreview>>;

export interface PreviewConnection {
  readonly id: string;
  readonly chainId: string;
  readonly remote: PooledChainClient;
}

/** Opens the chains' clients and the relayer's account. Rejects with `ClientError` "bad-endpoint" or "bad-key". */
export async function openPreview(config: RelayerConfig, context: DaemonContext) {
  const open = (id: string, rpc: readonly Endpoint[]): PooledChainClient =>
    openClient({ id, rpc }, config, { context, observer: silentObserver });
  const signer = await openSigner(config.signer);
  const localClient = open(config.chain.id, config.chain.rpc);
  const connections = config.connections.map(({ id, chain_id: chainId, rpc }) => ({
    id,
    chainId,
    remote: open(chainId, rpc),
  }));
  const { address, simulate } = createTxSender(
    {
      chainId: config.chain.id,
      memo: config.signer.memo,
      gasPrice: gasPricePolicy(config.gas),
    },
    { client: localClient, signer, clock: context.clock, random: context.random, logger: context.logger },
  );
  return {
    config,
    context,
    localClient,
    local: createLocalQueries(localClient, config.chain.name),
    connections,
    /** Returns the time of the local chain's newest block, as Unix time in ms. */
    localTimeMs: async (signal: AbortSignal): Promise<number> =>
      Number((await localClient.status(signal)).latestTimeNs / NS_PER_MS),
    /** The relayer's account, which can only simulate. */
    account: {
      address,
      simulate: (messages: readonly WireMessage[], signal: AbortSignal) =>
        simulateBetweenOthers(() => simulate(messages, signal), context.clock, signal),
    },
    close: (): void => {
      localClient.close();
      for (const { remote } of connections) remote.close();
    },
  };
}

/**
 * Returns the display unit of amounts in the fee denom. Returns undefined if neither the configuration nor the chain names a unit,
 * or if the chain cannot be read.
 */
export async function previewUnit(
  { config, localClient }: Pick<Preview, "config" | "localClient">,
  signal: AbortSignal,
): Promise<DisplayUnit | undefined> {
  const read = (): Promise<DisplayUnit | undefined> =>
    readDisplayUnit(localClient, config.gas.denom, signal).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  const unit = configuredUnit(config) ?? (await read());
  return unit && { ...unit, price: configuredPrice(config) };
}

const RETRY_MS = 250;
/** Maximum time for retries, which allows several blocks to include the account's pending transactions. */
const MAX_RETRY_MS = 15_000;

/** Repeats a simulation while the node expects a different sequence, because a running relayer may use the same account. */
export async function simulateBetweenOthers(
  simulate: () => Promise<SimulationOutcome>,
  clock: Pick<Clock, "monotonicMs" | "sleep">,
  signal: AbortSignal,
): Promise<SimulationOutcome> {
  const untilMs = clock.monotonicMs() + MAX_RETRY_MS;
  for (;;) {
    const outcome = await simulate();
    const isOvertaken = !outcome.ok && expectedSequence(outcome.log) !== undefined;
    if (!isOvertaken || clock.monotonicMs() >= untilMs) return outcome;
    await clock.sleep(RETRY_MS, signal);
  }
}

/** Returns the queries that the relayer would serve over a connection, sorted by id. An empty list `ids` selects all queries. */
export async function servedQueries(
  { config, local }: Pick<Preview, "config" | "local">,
  connectionId: string,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly RegisteredQuery[]> {
  const filter = queryFilter(config, [connectionId]);
  return (await local.registeredQueries(connectionId, signal))
    .filter((query) => isServed(query, filter) && (ids.length === 0 || ids.includes(query.id)))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
