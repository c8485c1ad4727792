import { expect } from "vitest";
import { z } from "zod";
import type { TestWallet } from "../e2e/test-wallet.ts";
import type { FaultProxy, ProxyFault } from "../fault-proxy.ts";
import type { ExpectedAlerts } from "./fault-expectations.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { clientStatus, feeMarket, olderConsensus } from "./client-responses.ts";
import type { FaultyRelayer } from "./faulty-relayer.ts";
import { lockedStore, lostLease, type SharedStore, unknownLease } from "./relayer-store-cases.ts";

/** A fault and the alerts that it leads to. */
export interface FaultCase extends ExpectedAlerts {
  /** The alerts have the label of the job, and none of the instance. */
  readonly isOfJob?: boolean;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

/** What the faults are injected into. */
export interface FaultScene {
  /** By what fails for them. Each one has queries of its own, which no other one serves. */
  readonly relayers: Readonly<Record<"paths" | "account" | "client" | "work", FaultyRelayer>>;
  /** Further endpoints of the remote chain for the relayer "work". */
  readonly ends: Readonly<Record<"down" | "slow", FaultProxy>>;
  readonly alice: TestWallet;
  readonly remoteAlice: TestWallet;
  /** A query of the relayer "work" that reads a store that does not exist. */
  readonly unprovable: bigint;
  readonly faucet: (address: string, amount: string) => Promise<void>;
  /** Waits until the remote chain has pruned all its blocks of now. */
  readonly untilPruned: () => Promise<void>;
  /** Directory of a store that another process locks. */
  readonly stateDir: string;
  readonly sharedStore: SharedStore;
}

/** Coins for a million transactions. */
export const RICH = "1000000000000";

/** A fault of one endpoint, from its begin to its end. */
function proxied(
  proxy: FaultProxy,
  fault: ProxyFault,
  expected: Omit<FaultCase, "begin" | "end">,
): FaultCase {
  return { ...expected, begin: () => proxy.set(fault), end: () => proxy.set(undefined) };
}

/** A fee market that a relayer reads at its start. */
function marketCase(
  relayer: FaultyRelayer,
  market: ProxyFault,
  { settings = "", ...expected }: Omit<FaultCase, "begin" | "end"> & { readonly settings?: string },
): FaultCase {
  const restart = async (fault: ProxyFault | undefined, lines: string): Promise<void> => {
    await relayer.stop();
    relayer.local.set(fault);
    await relayer.start(lines);
  };
  return { ...expected, begin: () => restart(market, settings), end: () => restart(undefined, "") };
}

const isQuery =
  (rpc: string) =>
  ({ method, params }: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }) =>
    method === "abci_query" && String(params["path"]).endsWith(`/${rpc}`);
const DEAD_LETTERS = z.array(z.object({ query_id: z.number(), submitted_tx_hash: z.string() }));
const isBroadcast = ({ method }: { readonly method: string }): boolean => method.startsWith("broadcast_tx");

function catchingUp(result: unknown): unknown {
  const { sync_info: sync, ...rest } = Object(result);
  return { ...rest, sync_info: { ...sync, catching_up: true } };
}

/** Returns the cases of each relayer, in their order. */
export function relayerFaultCases({
  relayers,
  ends,
  alice,
  remoteAlice,
  unprovable,
  faucet,
  untilPruned,
  stateDir,
  sharedStore,
}: FaultScene): Readonly<Record<keyof FaultScene["relayers"], readonly FaultCase[]>> {
  return {
    paths: [
      proxied(
        relayers.paths.remote,
        { kind: "reset" },
        {
          fault: "the remote chain cannot be reached",
          alerts: ["relayer-remote-chain-unreachable"],
          muted: ["relayer-endpoint-down"],
        },
      ),
      proxied(
        relayers.paths.remote,
        { kind: "stale" },
        { fault: "the remote chain makes no block", alerts: ["relayer-remote-chain-halted"] },
      ),
      proxied(
        relayers.paths.remote,
        {
          kind: "rewrite",
          result: ({ method }, result) => (method === "status" ? catchingUp(result) : result),
        },
        { fault: "the remote node catches up", alerts: ["relayer-remote-node-catching-up"] },
      ),
      proxied(
        relayers.paths.local,
        { kind: "reset" },
        {
          fault: "the local chain cannot be reached",
          alerts: ["relayer-local-chain-unreachable"],
          muted: ["relayer-subscription-down", "relayer-endpoint-down"],
        },
      ),
      proxied(
        relayers.paths.local,
        { kind: "stale" },
        { fault: "the local chain makes no block", alerts: ["relayer-local-chain-halted"] },
      ),
      proxied(
        relayers.paths.local,
        { kind: "no-websocket" },
        { fault: "WebSockets are refused", alerts: ["relayer-subscription-down"] },
      ),
      lostLease(relayers.paths, sharedStore),
      unknownLease(sharedStore),
    ],
    account: [
      {
        fault: "the account has no coins",
        alerts: ["relayer-account-empty"],
        begin: () => relayers.account.start(),
        end: () => faucet(relayers.account.address, "3000000"),
      },
      {
        fault: "the account is spent within hours",
        alerts: ["relayer-account-low"],
        begin: () => {},
        end: () => faucet(relayers.account.address, RICH),
      },
      {
        fault: "the balance is below the reserve",
        alerts: ["relayer-not-sending"],
        muted: ["relayer-queries-overdue", "relayer-standing-still"],
        begin: async () => {
          await relayers.account.stop();
          await relayers.account.start(`spending: { reserve: "${RICH}0" }`);
        },
        end: () => faucet(relayers.account.address, `${RICH}0`),
      },
      {
        fault: "the daily limit of fees is reached, and the budget of the month exceeded",
        alerts: [
          "relayer-not-sending",
          "relayer-spending-near-limit",
          "relayer-cost-above-budget",
          "relayer-spending-over-budget",
        ],
        begin: async () => {
          await relayers.account.stop();
          await relayers.account.start('spending: { daily_fee: "8000", budget: "1" }');
        },
        end: async () => {
          await relayers.account.stop();
          await relayers.account.start('spending: { daily_fee: "80000000000" }');
        },
      },
      lockedStore(relayers.account, stateDir),
      // A target of 200,000 gas, which is about what the relayer uses.
      marketCase(relayers.account, feeMarket({ maximum: 400_000n, price: parseDec18("0.01") }), {
        fault: "the price stays above its minimum, because the relayer has no ceiling",
        alerts: ["relayer-price-rising"],
        settings: 'gas: { price: { comfortable: "1" } }',
      }),
      marketCase(relayers.account, feeMarket({ maximum: 60_000n, price: parseDec18("0.0025") }), {
        fault: "the fee market bears less than one result a block",
        alerts: ["relayer-demand-above-market"],
      }),
    ],
    client: [
      {
        fault: "the light client cannot be read from the start on",
        alerts: ["relayer-state-unknown"],
        begin: async () => {
          relayers.client.local.set({ kind: "error", data: "injected", only: isQuery("ClientStatus") });
          await relayers.client.start();
        },
        end: () => relayers.client.local.set(undefined),
      },
      proxied(relayers.client.local, olderConsensus(13.5 * 86_400), {
        fault: "nothing has updated the light client for 13.5 of 14 days",
        alerts: ["relayer-client-nearly-expired"],
        muted: ["relayer-client-expiring"],
      }),
      proxied(relayers.client.local, olderConsensus(12 * 86_400), {
        fault: "nothing has updated the light client for 12 of 14 days",
        alerts: ["relayer-client-expiring"],
      }),
      proxied(relayers.client.local, clientStatus("Expired"), {
        fault: "the light client is expired",
        alerts: ["relayer-client-expired"],
      }),
      proxied(relayers.client.local, clientStatus("Frozen"), {
        fault: "the light client is frozen",
        alerts: ["relayer-client-frozen"],
      }),
      proxied(
        relayers.client.remote,
        { kind: "error", data: "injected", only: ({ method }) => method === "commit" },
        {
          fault: "no header of the remote chain can be read",
          alerts: ["relayer-remote-chain-unreachable"],
          muted: ["relayer-cycle-failed"],
        },
      ),
      proxied(
        relayers.client.local,
        { kind: "error", data: "injected", only: isQuery("ConsensusState") },
        {
          fault: "the consensus states of the light client cannot be read",
          alerts: ["relayer-cycle-failed"],
        },
      ),
    ],
    work: [
      {
        fault: "the list of queries cannot be read, one endpoint is down, one lags",
        alerts: ["relayer-starting", "relayer-endpoint-down", "relayer-endpoint-lagging"],
        begin: async () => {
          relayers.work.local.set({ kind: "error", data: "injected", only: isQuery("RegisteredQueries") });
          ends.down.set({ kind: "reset" });
          ends.slow.set({ kind: "stale" });
          await relayers.work.start();
        },
        end: () => {
          for (const proxy of [relayers.work.local, ends.down, ends.slow]) proxy.set(undefined);
        },
      },
      {
        fault:
          "every endpoint has pruned the blocks to search, and a query reads a store that does not exist",
        alerts: ["relayer-pruned-blocks", "relayer-queries-backing-off"],
        begin: async () => {
          await relayers.work.stop();
          await untilPruned();
          await relayers.work.start();
        },
        end: async () => {
          await alice.execute({ remove_interchain_query: { query_id: Number(unprovable) } });
        },
      },
      {
        fault: "the contract rejects a transaction",
        alerts: ["relayer-dead-letters"],
        begin: async () => {
          await alice.execute({ set_failure: { kv: false, tx: true } });
          await remoteAlice.sendTokens(remoteAlice.address, 1n);
        },
        end: async () => {
          await alice.execute({ set_failure: { kv: false, tx: false } });
          const { target } = relayers.work;
          const letters = DEAD_LETTERS.parse(await (await fetch(`http://${target}/unsuccessful-txs`)).json());
          const txs = letters.map((one) => ({ query_id: one.query_id, hash: one.submitted_tx_hash }));
          const body = JSON.stringify({ txs });
          const reply = await fetch(`http://${target}/resubmit-txs`, { method: "POST", body });
          expect(reply.status).toBe(200);
        },
      },
      proxied(
        relayers.work.local,
        { kind: "error", data: "injected", only: isBroadcast },
        {
          fault: "every transaction is refused",
          alerts: ["relayer-standing-still", "relayer-transactions-failing"],
          muted: ["relayer-queries-overdue"],
        },
      ),
    ],
  };
}
