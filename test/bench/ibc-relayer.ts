import { systemClock } from "../../src/platform/base/clock.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { ibcRelayerHealth } from "../../src/localnet/ibc-relayer/status.ts";
import {
  balanceOf,
  type IbcRelayerNet,
  startIbcRelayerNet,
  transferMessage,
} from "../support/localnet/ibc-relayer-net.ts";
import { localDenom, parseTrace } from "../../src/localnet/chain/modules/transfer/denom.ts";
import { median } from "./measure.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";

/** Transfers of a repetition, in one transaction. */
const TRANSFERS = 300;
const ROUNDS = { full: 5, quick: 2 };
const POLL_MS = 20;
const VOUCHER = localDenom(parseTrace("transfer/channel-0/untrn"));

/** Packets end to end: sent, received and acknowledged, between two chains of one process with an IBC relayer. */
export async function benchIbcRelayer({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const net = await startIbcRelayerNet();
  const ibcRelayer = net.startIbcRelayer();
  try {
    await until(
      () => ibcRelayerHealth(ibcRelayer.status(), systemClock.nowMs()).state === "carrying",
      signal,
    );
    // The first round compiles the code.
    await round(net, signal);
    const rounds = quick ? ROUNDS.quick : ROUNDS.full;
    const all: Round[] = [];
    for (let index = 0; index < rounds; index++) all.push(await round(net, signal));
    const note = `${TRANSFERS} transfers of one transaction, a block every 100 ms at most, median of ${rounds}`;
    const rate = (pick: (one: Round) => number) => (TRANSFERS * 1_000) / median(all.map(pick));
    return [
      { name: "packets received", value: rate(({ receivedMs }) => receivedMs), unit: "packets/s", note },
      {
        name: "packets end to end",
        value: rate(({ acknowledgedMs }) => acknowledgedMs),
        unit: "packets/s",
        note,
      },
    ];
  } finally {
    await ibcRelayer.kill();
    await net.stop();
  }
}

/** Times from the broadcast of the transfers. */
interface Round {
  readonly receivedMs: number;
  readonly acknowledgedMs: number;
}

async function round({ local, remote }: IbcRelayerNet, signal: AbortSignal): Promise<Round> {
  const before = balanceOf(remote, VOUCHER);
  const transfer: JsonObject = transferMessage(local, {
    receiver: remote.address,
    amount: 1n,
    denom: "untrn",
  });
  const startMs = systemClock.monotonicMs();
  await local.send(...Array.from({ length: TRANSFERS }, () => transfer));
  await until(() => balanceOf(remote, VOUCHER) === before + BigInt(TRANSFERS), signal);
  const receivedMs = systemClock.monotonicMs() - startMs;
  await until(() => isSettled(local), signal);
  return { receivedMs, acknowledgedMs: systemClock.monotonicMs() - startMs };
}

function isSettled({ query }: IbcRelayerNet["local"]): boolean {
  const request = { port_id: "transfer", channel_id: "channel-0" };
  const { commitments } = query("/ibc.core.channel.v1.Query/PacketCommitments", request);
  return Array.isArray(commitments) && commitments.length === 0;
}

async function until(isDone: () => boolean, signal: AbortSignal): Promise<void> {
  while (!isDone()) await systemClock.sleep(POLL_MS, signal);
}
