import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChainPart } from "../../src/localnet/accounts/chains.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { openTransfers } from "../support/e2e/transfers.ts";

const home = await openCliHome();
const transfers = openTransfers(home);
const STATE = join(home.directory, "chains");
const START = ["--block-time", "300", "--log-level", "warn", "$PORTS"];
/** Each test starts a localnet, or several ones. */
const LONG_MS = 900_000;
const BOTH = ["local", "remote"] as const satisfies readonly ChainPart[];

let running: CliProcess[] = [];

afterEach(async () => {
  for (const one of running) one.kill("SIGKILL");
  await Promise.all(running.map(({ exited }) => exited));
  running = [];
});
afterAll(home.close);

async function start(...words: readonly string[]): Promise<CliProcess> {
  const process = home.start("localnet", "start", ...words, ...START);
  running.push(process);
  return process;
}

async function killAll(...processes: readonly CliProcess[]): Promise<void> {
  for (const one of processes) one.kill("SIGKILL");
  await Promise.all(processes.map(({ exited }) => exited));
}

/** Waits until every packet is acknowledged, and checks that each coin in escrow has one voucher: none is lost or doubled. */
async function checkSettled(packets: Readonly<Record<ChainPart, number>>): Promise<void> {
  for (const part of BOTH) {
    await until(`no packet of ${part} in flight`, async () =>
      (await transfers.inFlight(part)).length === 0 ? true : undefined,
    );
    const sent = await transfers.sent(part);
    expect(sent).toBe(packets[part]);
    expect(await transfers.coins(part)).toEqual({ escrow: BigInt(sent), vouchers: BigInt(sent) });
  }
}

/** Sends packets both ways. Returns when they are in a block. */
async function sendBothWays(count: number): Promise<void> {
  for (const part of BOTH) {
    const before = await transfers.sent(part);
    await transfers.broadcast(part, count);
    await until(`packets of ${part} in a block`, async () =>
      (await transfers.sent(part)) === before + count ? true : undefined,
    );
  }
}

describe("a localnet with a home and an IBC relayer", () => {
  it(
    "goes on after SIGKILL of everything with packets in flight: none is lost, none is doubled",
    async () => {
      const everything = (): Promise<CliProcess> =>
        start("local", "remote", "sidecar", "--ibc-relayer", "--home", STATE);
      let localnet = await everything();
      await transfers.untilCarrying();
      for (let kills = 1; kills <= 2; kills++) {
        await sendBothWays(5);
        await killAll(localnet);
        localnet = await everything();
        await transfers.untilCarrying();
      }
      await checkSettled({ local: 10, remote: 10 });
    },
    LONG_MS,
  );

  it(
    "goes on after SIGKILL of the IBC relayer alone, and of a chain that it needs",
    async () => {
      const remote = await start("remote", "--home", STATE);
      await remote.printed(/remote-1 gRPC/);
      const local = await start("local", "sidecar", "--home", STATE);
      await local.printed(/local-1 gRPC/);
      const ibcRelayer = await start("ibc-relayer");
      await sendBothWays(4);
      await killAll(ibcRelayer);
      await sendBothWays(4);
      for (const part of BOTH) expect((await transfers.inFlight(part)).length).toBeGreaterThanOrEqual(4);
      await killAll(remote);
      await start("ibc-relayer");
      const again = await start("remote", "--home", STATE);
      await again.printed(/remote-1 gRPC/);
      await checkSettled({ local: 18, remote: 18 });
    },
    LONG_MS,
  );
});

describe("relaywatch localnet scenario over-quota", () => {
  it(
    "shows a refused and an undone transfer, leaves no limiter, and refuses to replace one that somebody set",
    async () => {
      await start("--ibc-relayer");
      await transfers.untilCarrying();
      const { code, stdout, stderr } = await home.run("localnet", "scenario", "over-quota", "$PORTS");
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/Rejected in its block: code 2 of rate-limited-ibc\./);
      expect(stdout).toMatch(/Tried to transfer \d+ which exceeds capacity on the 'daily' quota/);
      const used = [...stdout.matchAll(/Used: (\d+)/g)].map(([, text]) => text);
      const [passed, refused, onItsWay, undone] = used;
      expect([refused, undone]).toEqual([passed, passed]);
      expect(BigInt(onItsWay ?? 0)).toBeGreaterThan(BigInt(passed ?? 0));
      expect(stdout).toMatch(/- wasm method=undo_send channel_id=channel-0 denom=untrn/);
      expect(stdout).toMatch(/The limiter is off again\.\n$/);
      const [, params = ""] = /curl -s (\S+\/params)/.exec(stdout) ?? [];
      expect(await getJson(params)).toEqual({ params: { contract_address: "" } });
      const [, quotas = ""] = /curl -s (\S+\/smart\/\S+)/.exec(stdout) ?? [];
      expect(await getJson(quotas)).toMatchObject({
        data: [{ quota: { name: "daily", max_percentage_send: 1 } }],
      });
      const play = () => home.run("localnet", "scenario", "over-quota", "--keep", "$PORTS");
      expect(await play()).toMatchObject({ code: 0, stdout: expect.stringContaining("stays on (--keep)") });
      expect(await play()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("update-params --none --from operator --port-offset"),
      });
    },
    LONG_MS,
  );

  it("says that no localnet runs", async () => {
    expect(await home.run("localnet", "scenario", "over-quota", "$PORTS")).toMatchObject({
      code: 75,
      stderr: expect.stringContaining("start the chain, or select a node with --node or --port-offset"),
    });
    expect(await home.run("localnet", "scenario", "under-quota")).toMatchObject({ code: 2 });
  });
});
