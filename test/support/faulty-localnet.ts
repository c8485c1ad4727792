import { expect, vi } from "vitest";
import { CHAINS } from "../../src/localnet/accounts/chains.ts";
import type { QueryView } from "../../src/relayer/health/relayer-status.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "./relayed-localnet.ts";

/** A localnet whose relayer reaches both chains through proxies only. The test itself reaches them directly. */
export interface FaultyLocalnet {
  readonly net: RelayedLocalnet;
  readonly proxies: Readonly<Record<"local" | "remote", FaultProxy>>;
  /** Id of a TX query for the transfers of `transfer`. */
  readonly transfersId: bigint;
  /** Makes a transfer that the TX query must deliver. */
  readonly transfer: () => Promise<void>;
  /**
   * Registers a KV query that must get a result, in place of the one before: each query that stays is answered in every third
   * block until the end of the file.
   */
  readonly register: () => Promise<void>;
  readonly view: (id: bigint) => QueryView | undefined;
  /** Codes of the present problems. */
  readonly problems: () => readonly string[];
  /**
   * Waits until nothing is lost: every registered query has a result, every transfer was delivered once,
   * values are read from blocks after this call, no problem is left, and nothing was taken for a reset of a chain, which deletes state.
   */
  readonly expectNothingLost: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Patience on a busy machine. */
export const WAIT = { timeout: 120_000, interval: 50 };

interface FaultyLocalnetOptions {
  /** Gives the relayer a second endpoint of each chain, without a proxy. */
  readonly hasSecond?: boolean;
  readonly blockTimeMs?: number;
  /** The relayer's settings. Default: {@link QUICK}. */
  readonly settings?: string;
}

/** Settings with which the relayer soon notices that a node does not respond. */
const QUICK = `
deadlines: { call: 2s }
health: { no_block_after: 3s }
`;

/** The default settings, with which even a busy machine's nodes respond in time. */
export const DEFAULTS = "";

/** Starts the localnet. Returns when the relayer has delivered its first results. */
export async function startFaultyLocalnet({
  hasSecond = false,
  blockTimeMs = 250,
  settings = QUICK,
}: FaultyLocalnetOptions = {}): Promise<FaultyLocalnet> {
  let proxies: FaultyLocalnet["proxies"] | undefined;
  const net = await startRelayedLocalnet({
    relayer: settings,
    blockTimeMs,
    endpoints: async (urls) => {
      proxies = { local: await startFaultProxy(urls.local), remote: await startFaultProxy(urls.remote) };
      const second = (url: string): readonly string[] => (hasSecond ? [url] : []);
      return {
        local: [proxies.local.url, ...second(urls.local)],
        remote: [proxies.remote.url, ...second(urls.remote)],
      };
    },
  });
  if (proxies === undefined) throw new Error("the proxies were not started");
  const { local, remote } = proxies;
  const status = () => net.relayer.status();
  const view = (id: bigint) => status().queries.find((query) => query.id === id);
  const recipient = net.alice.remote.address;
  await vi.waitFor(() => expect(status().loaded).toBe(true), WAIT);
  const known = new Set(status().queries.map(({ id }) => id));
  const filter = { connection_id: "connection-0", update_period: 1, recipient };
  await net.execute({ register_transfers_query: filter });
  const transfersId = await vi.waitFor(() => {
    const added = status().queries.find(({ id }) => !known.has(id));
    expect(added).toBeDefined();
    return added?.id ?? 0n;
  }, WAIT);
  let sent = 0;
  // The chain numbers queries in the order of their registrations.
  let newestId = transfersId;
  const delivered = async (): Promise<readonly unknown[]> => {
    const response = await net.queryConsumer({ transactions: { query_id: Number(transfersId) } });
    return Array.isArray(Reflect.get(Object(response), "transactions"))
      ? Reflect.get(Object(response), "transactions")
      : [];
  };
  const one = {
    net,
    proxies: { local, remote },
    transfersId,
    view,
    transfer: async () => {
      const message = sendMessage(CHAINS.remote, recipient, recipient, BigInt(++sent));
      expect((await net.send(net.alice.remote, message)).kind).toBe("included");
    },
    register: async () => {
      const removals =
        newestId > transfersId ? [{ remove_interchain_query: { query_id: Number(newestId) } }] : [];
      const query = { connection_id: "connection-0", update_period: 3, addr: recipient, denom: "uatom" };
      await net.execute(...removals, { register_balance_query: query });
      newestId += 1n;
    },
    problems: () => status().problems.map(({ code }) => code),
    expectNothingLost: async () => {
      const { latestHeight } = await net.clients.remote.status(new AbortController().signal);
      await vi.waitFor(async () => {
        expect(status().problems).toEqual([]);
        expect(new Set(status().queries.map(({ id }) => id))).toEqual(
          new Set([...known, transfersId, newestId]),
        );
        const values = status().queries.filter(({ type }) => type === "kv");
        for (const { lastRemoteHeight } of values)
          expect(lastRemoteHeight ?? 0n).toBeGreaterThan(latestHeight);
        expect(await delivered()).toHaveLength(sent);
      }, WAIT);
      expect(net.log.filter(({ message }) => / was reset,/.test(message))).toEqual([]);
    },
    stop: async () => {
      await net.stop();
      await local.close();
      await remote.close();
    },
  };
  await one.transfer();
  await one.expectNothingLost();
  return one;
}
