import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { PooledChainClient } from "../cosmos/client/create-chain-client.ts";
import { countPendingTransactions } from "../cosmos/client/tx/pending-transactions.ts";
import { createSigner } from "../cosmos/client/tx/signer.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import { createLease } from "../platform/storage/lease.ts";
import type { RelayerConfig } from "./config.ts";
import { createGate, type RelayerGate } from "./gate/create-gate.ts";
import { createLeadership, type Leadership, type LeadershipDeps } from "./gate/leadership.ts";
import { settlePredecessor } from "./gate/predecessor.ts";
import { createReserve } from "./gate/reserve.ts";
import { createSpending } from "./gate/spending.ts";
import type { LocalQueries } from "./local-queries.ts";
import type { FollowDeps } from "./registry/follow-chain.ts";
import type { Registry } from "./registry/registry.ts";
import { payerOf, signingKey } from "./signer-config.ts";
import type { RelayerStore } from "./state/store.ts";

export interface GatePartsDeps {
  readonly client: PooledChainClient;
  readonly local: Pick<LocalQueries, "balance">;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "reload">;
  readonly checkHistory: FollowDeps["checkHistory"];
  /** Called when this process begins to submit. */
  readonly onLead: () => void;
  readonly context: DaemonContext;
}

/** The gate before broadcasts, and the leadership that it asks. */
export interface GateParts {
  readonly gate: RelayerGate;
  readonly leadership: Leadership;
}

/** Creates gate and leadership, and connects them with the store. Throws `ClientError` "bad-key". */
export async function createGateParts(config: RelayerConfig, deps: GatePartsDeps): Promise<GateParts> {
  const { client, store, context } = deps;
  const { clock, random, logger } = context;
  const { prefix, fee_granter: feeGranter } = config.signer;
  const signer = await createSigner(signingKey(config.signer), prefix, feeGranter);
  const payer = payerOf(config.signer, signer.address);
  const { reserve: least, daily_fee: dailyFee, daily_gas_per_owner: dailyGasPerOwner } = config.spending;
  const limits = { dailyFee, dailyGasPerOwner };
  const spending = createSpending(limits, { payer, chainId: config.chain.id, store, nowMs: clock.nowMs });
  const lease = openLease(config, signer.address, store);
  const { denom } = config.gas;
  const prepare = async (signal: AbortSignal): Promise<void> => {
    await store.journal.reload();
    await spending.load();
    await settlePredecessor(
      {
        ...context,
        countPending: (inner) => countPendingTransactions(client, signer, denom, inner),
        comet: client.comet,
        address: signer.address,
        submitTypeUrl: `/${config.chain.name}.interchainqueries.MsgSubmitQueryResult`,
        journal: store.journal,
      },
      signal,
    );
    const { latestHeight } = await client.status(signal);
    await deps.checkHistory(latestHeight, signal);
    // After the wait: results of the process before this one must not look due.
    await deps.registry.reload(latestHeight, signal);
  };
  const { onLead } = deps;
  const onLoss = store.queue.discard;
  const leadership = createLeadership({ lease, prepare, onLead, onLoss, clock, random, logger });
  const mayWrite = (): boolean => leadership.status().role !== "standby";
  store.setGuard({ mayWrite, fence: lease?.lease.fence });
  const readBalance = (signal: AbortSignal): Promise<bigint> => deps.local.balance(payer, denom, signal);
  const reserve = createReserve(least, { readBalance, clock });
  return { gate: createGate({ leadership, spending, limits, reserve, store, clock }), leadership };
}

function openLease(
  { chain, connections, lease }: RelayerConfig,
  address: string,
  { leaseDatabase }: RelayerStore,
): LeadershipDeps["lease"] {
  if (leaseDatabase === undefined) return undefined;
  const holder = `${hostname()}/${process.pid}/${randomBytes(4).toString("hex")}`;
  const options = {
    // The sequences of an account belong to one process at a time.
    name: `${chain.id}/${address}`,
    holder,
    ttlMs: lease.ttl,
    resources: connections.map(({ id }) => `${chain.id}/${id}`),
  };
  return { lease: createLease(options, leaseDatabase), ttlMs: lease.ttl, holder };
}
