import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { ibcRelayerRoutes } from "../../../src/localnet/network/localnet-ibc-relayer.ts";
import { unstartedStatus } from "../../../src/localnet/ibc-relayer/ibc-relayer.ts";
import { registerIbcRelayerMetrics } from "../../../src/localnet/ibc-relayer/metrics.ts";
import type { IbcRelayerStatus } from "../../../src/localnet/ibc-relayer/status.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function lines(page: string): readonly string[] {
  return page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

it("the metrics of an IBC relayer begin at 0 without times, and follow its status at each scrape", async () => {
  let status: IbcRelayerStatus = unstartedStatus(["local-1", "remote-1"]);
  const registry = new Registry();
  registerIbcRelayerMetrics(registry, () => status, { nowMs: () => 10_000 });
  const first = lines(await registry.metrics());
  expect(first).toContain('relaywatch_ibc_relayer_state{state="starting"} 1');
  expect(first).toContain('relaywatch_ibc_relayer_messages_total{chain_id="remote-1",kind="time_out"} 0');
  expect(first).toContain('relaywatch_ibc_relayer_failed_cycles_total{reason="light-client"} 0');
  expect(first).toContain('relaywatch_ibc_relayer_refused_messages_total{chain_id="local-1"} 0');
  expect(first.filter((line) => line.includes("timestamp"))).toEqual([]);
  const [local, remote] = status.chains;
  if (local === undefined || remote === undefined) throw new Error("no chains");
  status = {
    lastCycleMs: 9_000,
    error: "too late",
    failures: { ...status.failures, deadline: 2 },
    chains: [
      {
        ...local,
        pending: 3,
        oldestPendingMs: 4_000,
        unreadable: 1,
        done: { receive: 5, acknowledge: 6, time_out: 7, channel: 8 },
        lastDoneMs: 8_500,
        refusals: 4,
      },
      remote,
    ],
  };
  for (let scrape = 0; scrape < 2; scrape += 1) {
    const later = lines(await registry.metrics());
    for (const line of [
      'relaywatch_ibc_relayer_state{state="failing"} 1',
      'relaywatch_ibc_relayer_state{state="starting"} 0',
      "relaywatch_ibc_relayer_last_cycle_timestamp_seconds 9",
      'relaywatch_ibc_relayer_failed_cycles_total{reason="deadline"} 2',
      'relaywatch_ibc_relayer_messages_total{chain_id="local-1",kind="receive"} 5',
      'relaywatch_ibc_relayer_messages_total{chain_id="local-1",kind="acknowledge"} 6',
      'relaywatch_ibc_relayer_messages_total{chain_id="local-1",kind="time_out"} 7',
      'relaywatch_ibc_relayer_messages_total{chain_id="local-1",kind="channel"} 8',
      'relaywatch_ibc_relayer_last_message_timestamp_seconds{chain_id="local-1"} 8.5',
      'relaywatch_ibc_relayer_refused_messages_total{chain_id="local-1"} 4',
      'relaywatch_ibc_relayer_pending_packets{chain_id="local-1"} 3',
      'relaywatch_ibc_relayer_pending_packets{chain_id="remote-1"} 0',
      'relaywatch_ibc_relayer_oldest_pending_timestamp_seconds{chain_id="local-1"} 4',
      'relaywatch_ibc_relayer_unreadable_packets{chain_id="local-1"} 1',
    ])
      expect(later).toContain(line);
    expect(later.some((line) => /timestamp.*remote-1/.test(line))).toBe(false);
  }
});

it("the control API serves the status without a token", async () => {
  const status = () => unstartedStatus(["local-1", "remote-1"]);
  const routes = ibcRelayerRoutes({ status }, createManualClock(0));
  expect(routes.map(({ method, path, guarded }) => [method, path, guarded])).toEqual([
    ["GET", "/ibc-relayer", undefined],
  ]);
  const request = {
    method: "GET",
    headers: {},
    signal: new AbortController().signal,
    path: "/ibc-relayer",
    params: {},
    query: new URLSearchParams(),
    body: new Uint8Array(),
  };
  for (const { handle } of routes)
    expect(await handle(request)).toMatchObject({
      body: expect.stringContaining('"state":"starting"'),
    });
});
