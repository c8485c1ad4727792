import type { CliHome } from "./cli-process.ts";
import type { LocalnetEndpoints } from "./localnet-endpoints.ts";
import { openWallet } from "./test-wallet.ts";

/** Queries and transactions that keep a relayer busy. */
export interface RelayerLoad {
  readonly kvIds: readonly bigint[];
  readonly updatePeriod: bigint;
  readonly txQueryId: bigint;
  /** Upper-case hex hashes of the remote transactions so far, in the order of the chain. */
  readonly sent: () => readonly string[];
  /** Stops sending. Rejects when a transfer failed. */
  readonly stop: () => Promise<void>;
}

/**
 * Registers KV queries with one update period and a TX query over a connection of a localnet, and sends transfers for the TX
 * query on the remote chain, one after the other, until it is stopped.
 */
export async function startRelayerLoad(
  home: CliHome,
  localnet: LocalnetEndpoints,
  { kvQueries, updatePeriod }: { readonly kvQueries: number; readonly updatePeriod: bigint },
): Promise<RelayerLoad> {
  const alice = await openWallet(home, "alice", localnet.rpc.local);
  const remote = await openWallet(home, "alice", localnet.rpc.remote, "remote-1");
  const common = { connection_id: "connection-0", update_period: Number(updatePeriod) };
  const txQueryId = await alice.register({
    register_transfers_query: { ...common, update_period: 1, recipient: remote.address },
  });
  const kvIds = await alice.registerAll(
    Array.from({ length: kvQueries }, (_, index) => ({
      register_balance_query: { ...common, addr: remote.address, denom: `denom${index}` },
    })),
  );
  const sent: string[] = [];
  const stopped = new AbortController();
  const sending = (async () => {
    while (!stopped.signal.aborted) {
      const { code, transactionHash } = await remote.sendTokens(remote.address, 1n);
      if (code === 0) sent.push(transactionHash.toUpperCase());
    }
  })();
  // A rejection is reported by `stop`.
  sending.catch(() => undefined);
  return {
    kvIds,
    updatePeriod,
    txQueryId,
    sent: () => [...sent],
    stop: async () => {
      stopped.abort();
      await sending;
    },
  };
}
