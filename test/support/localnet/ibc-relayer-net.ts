import { createLocalnetIbcRelayer } from "../../../src/localnet/network/localnet-ibc-relayer.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { type JsonObject, isRecord } from "../../../src/platform/base/json.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { IbcRelayerStatus } from "../../../src/localnet/ibc-relayer/status.ts";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { createLocalnet } from "../../../src/localnet/network/create-localnet.ts";
import { WORKBENCH_MODULES } from "../../../src/workbench/modules/workbench-modules.ts";
import { BENCH_CHAINS } from "../bench-chain.ts";
import { type ChainEnd, openEnd } from "./chain-end.ts";

/** Two local chains and IBC relayers between them. */
export interface IbcRelayerNet {
  readonly local: ChainEnd;
  readonly remote: ChainEnd;
  /** Starts an IBC relayer. Returns its status, and a function that ends it at once, as a crash does. */
  readonly startIbcRelayer: () => {
    readonly status: () => IbcRelayerStatus;
    readonly kill: () => Promise<void>;
  };
  readonly stop: () => Promise<void>;
}

/** Starts two chains with blocks of 100 ms. `hasBench`: the local one has the modules of the workbench. */
export async function startIbcRelayerNet({ hasBench = false } = {}): Promise<IbcRelayerNet> {
  const end = new AbortController();
  const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const chain = { rpc: free, validatorPowers: [10n] };
  const localnet = createLocalnet(
    {
      chains: { local: chain, remote: { ...chain, localPowers: [10n] } },
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
      profiles: hasBench ? BENCH_CHAINS : CHAINS,
    },
    { clock: systemClock, logger: silentLogger, extension: () => ({ modules: WORKBENCH_MODULES }) },
  );
  const done = localnet.run(end.signal);
  done.catch(() => {});
  const { chains } = await localnet.ready;
  const local = await openEnd(CHAINS.local, chains.local, end.signal);
  const remote = await openEnd(CHAINS.remote, chains.remote, end.signal);
  const ports = { localRpc: portOf(local), remoteRpc: portOf(remote) };
  return {
    local,
    remote,
    startIbcRelayer: () => {
      const own = new AbortController();
      const deps = { clock: systemClock, random: Math.random, logger: silentLogger };
      const ibcRelayer = createLocalnetIbcRelayer(ports, deps, undefined);
      const running = ibcRelayer.run(own.signal);
      running.catch(() => {});
      return {
        status: ibcRelayer.status,
        kill: async () => {
          own.abort(new Error("the IBC relayer is killed"));
          await running.catch(() => {});
        },
      };
    },
    stop: async () => {
      end.abort(new Error("the test is over"));
      await done;
    },
  };
}

function portOf({ node }: ChainEnd): number {
  const port = node.ports.get("rpc");
  if (port === undefined) throw new Error("the chain has no RPC");
  return port;
}

/** Creates MsgTransfer over channel-0. Without a timeout, it times out in an hour. */
export function transferMessage(
  from: ChainEnd,
  { receiver, amount, denom }: { receiver: string; amount: bigint; denom: string },
  timeout: JsonObject = { timeout_timestamp: timeAfterMs(3_600_000) },
): JsonObject {
  return {
    "@type": "/ibc.applications.transfer.v1.MsgTransfer",
    source_port: "transfer",
    source_channel: "channel-0",
    token: { denom, amount: amount.toString() },
    sender: from.address,
    receiver,
    ...timeout,
  };
}

/** Nanoseconds since the Unix epoch. */
export function timeAfterMs(afterMs: number): string {
  return `${Math.round(systemClock.nowMs() + afterMs)}000000`;
}

/** Returns the coins of alice, or those of another account. */
export function balanceOf({ query, address }: ChainEnd, denom: string, owner = address): bigint {
  const { balance } = query("/cosmos.bank.v1beta1.Query/Balance", { address: owner, denom });
  return BigInt(isRecord(balance) && typeof balance["amount"] === "string" ? balance["amount"] : "-1");
}

/** Numbers of the packets of a channel for transfers that are in flight. */
export function inFlight({ query }: ChainEnd, channelId = "channel-0"): readonly string[] {
  const request = { port_id: "transfer", channel_id: channelId };
  const { commitments } = query("/ibc.core.channel.v1.Query/PacketCommitments", request);
  return Array.isArray(commitments)
    ? commitments.map((one: unknown) => (isRecord(one) ? String(one["sequence"]) : ""))
    : [];
}
