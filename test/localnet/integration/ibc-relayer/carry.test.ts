import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createChainClient } from "../../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import { State } from "../../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { localDenom, parseTrace } from "../../../../src/localnet/chain/modules/transfer/denom.ts";
import { deployLimiter, setLimiter } from "../../../../src/localnet/cli/localnet-scenario.ts";
import { createScenarioChain } from "../../../../src/localnet/cli/scenario/scenario-chain.ts";
import { ibcRelayerHealth } from "../../../../src/localnet/ibc-relayer/status.ts";
import { CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { until } from "../../../support/e2e/cli-process.ts";
import type { ChainEnd } from "../../../support/localnet/chain-end.ts";
import {
  balanceOf,
  type IbcRelayerNet,
  inFlight,
  startIbcRelayerNet,
  timeAfterMs,
  transferMessage,
} from "../../../support/localnet/ibc-relayer-net.ts";

const NTRN_ON_REMOTE = localDenom(parseTrace("transfer/channel-0/untrn"));

let net: IbcRelayerNet;
let ibcRelayer: ReturnType<IbcRelayerNet["startIbcRelayer"]>;

beforeAll(async () => {
  net = await startIbcRelayerNet();
  ibcRelayer = net.startIbcRelayer();
  await until("a channel for transfers", () =>
    ibcRelayerHealth(ibcRelayer.status(), systemClock.nowMs()).state === "carrying" ? true : undefined,
  );
});
afterAll(async () => {
  await ibcRelayer.kill();
  await net.stop();
});

const isDelivered = (...ends: readonly ChainEnd[]): Promise<boolean> =>
  until("no packet in flight", () => (ends.every((end) => inFlight(end).length === 0) ? true : undefined));

/** Sends untrn of alice to the remote chain. */
function send(amount: bigint, receiver = net.remote.address, ...timeout: readonly object[]): Promise<void> {
  const [first] = timeout;
  const transfer = { receiver, amount, denom: "untrn" };
  return net.local.send(transferMessage(net.local, transfer, ...(first === undefined ? [] : [{ ...first }])));
}

describe("the IBC relayer", () => {
  it("opens a channel for transfers, one on each chain", () => {
    const { chains } = ibcRelayer.status();
    expect(chains.map(({ channels }) => channels)).toEqual(
      [1, 2].map(() => [
        expect.objectContaining({
          portId: "transfer",
          channelId: "channel-0",
          state: State.STATE_OPEN,
          counterparty: { portId: "transfer", channelId: "channel-0" },
        }),
      ]),
    );
  });

  it("carries coins to the other chain and back", async () => {
    const { local, remote } = net;
    await send(1_000n);
    await isDelivered(local);
    expect(balanceOf(remote, NTRN_ON_REMOTE)).toBe(1_000n);
    const transfer = { receiver: local.address, amount: 400n, denom: NTRN_ON_REMOTE };
    await remote.send(transferMessage(remote, transfer));
    await isDelivered(remote);
    expect(balanceOf(remote, NTRN_ON_REMOTE)).toBe(600n);
    const escrow = local.query("/ibc.applications.transfer.v1.Query/TotalEscrowForDenom", {
      denom: "untrn",
    });
    expect(escrow).toEqual({ amount: { denom: "untrn", amount: "600" } });
  });

  it("carries the refusal of a receiver that does not exist: the coins come back", async () => {
    await send(77n, "nobody");
    await isDelivered(net.local);
    expect(balanceOf(net.remote, NTRN_ON_REMOTE)).toBe(600n);
    const escrow = net.local.query("/ibc.applications.transfer.v1.Query/TotalEscrowForDenom", {
      denom: "untrn",
    });
    expect(escrow).toEqual({ amount: { denom: "untrn", amount: "600" } });
  });

  it.each([
    [
      "height",
      (height: bigint) => ({ timeout_height: { revision_number: "1", revision_height: `${height + 3n}` } }),
    ],
    ["time", () => ({ timeout_timestamp: timeAfterMs(1_000) })],
  ])("times a packet out by %s that nobody carried in time", async (_kind, timeout) => {
    const { local, remote } = net;
    const latest = () => remote.node.view.status();
    await ibcRelayer.kill();
    await send(55n, remote.address, timeout(latest().latestHeight));
    const sent = { height: latest().latestHeight, atMs: systemClock.nowMs() };
    await until("the timeout", () =>
      latest().latestHeight > sent.height + 3n &&
      Number(latest().latestTimeNs / 1_000_000n) > sent.atMs + 1_000
        ? true
        : undefined,
    );
    ibcRelayer = net.startIbcRelayer();
    await isDelivered(local);
    expect(balanceOf(remote, NTRN_ON_REMOTE)).toBe(600n);
    await until("the end of the transaction", () =>
      ibcRelayer.status().chains[0]?.done.time_out === 1 ? true : undefined,
    );
  });

  it("gives the quota of a limiter back when a transfer times out", async () => {
    const { local, remote } = net;
    const client = createChainClient(
      {
        endpoints: [{ url: `http://127.0.0.1:${local.node.ports.get("rpc")}` }],
        chainId: CHAINS.local.chainId,
      },
      { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
    );
    const chain = createScenarioChain(CHAINS.local, client, new AbortController().signal);
    const limiter = await deployLimiter(chain, "channel-0");
    await setLimiter(chain, limiter.address);
    await send(500n);
    await isDelivered(local);
    await ibcRelayer.kill();
    const sentAtMs = systemClock.nowMs();
    await send(300n, remote.address, { timeout_timestamp: timeAfterMs(1_000) });
    expect(await limiter.used()).toBe(800n);
    await expect(send(limiter.quota)).rejects.toThrow('"codespace":"rate-limited-ibc"');
    await until("the timeout", () =>
      Number(remote.node.view.status().latestTimeNs / 1_000_000n) > sentAtMs + 1_100 ? true : undefined,
    );
    ibcRelayer = net.startIbcRelayer();
    await isDelivered(local);
    expect(await limiter.used()).toBe(500n);
    await setLimiter(chain, "");
    client.close();
  });

  it("that is killed again and again loses no packet and carries none twice", async () => {
    const { local, remote } = net;
    const before = balanceOf(remote, NTRN_ON_REMOTE);
    for (let amount = 1n; amount <= 6n; amount++) {
      await send(amount);
      await ibcRelayer.kill();
      ibcRelayer = net.startIbcRelayer();
    }
    await isDelivered(local, remote);
    expect(balanceOf(remote, NTRN_ON_REMOTE)).toBe(before + 21n);
  });

  it("carries many packets of one transaction", async () => {
    const { local, remote } = net;
    const before = balanceOf(remote, NTRN_ON_REMOTE);
    const transfer = { receiver: remote.address, amount: 1n, denom: "untrn" };
    const message = transferMessage(local, transfer);
    await local.send(...Array.from({ length: 40 }, () => message));
    await isDelivered(local);
    expect(balanceOf(remote, NTRN_ON_REMOTE)).toBe(before + 40n);
  });
});
