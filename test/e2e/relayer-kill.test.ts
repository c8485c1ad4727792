import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOf } from "../../src/platform/storage/sql-database.ts";
import { createCostLedger, SPANS } from "../../src/relayer/costs/cost-ledger.ts";
import { type CliProcess, openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { auditRelayer, doubledValues, paidFees, type RelayerAudit } from "../support/e2e/relayer-audit.ts";
import { type RelayerLoad, startRelayerLoad } from "../support/e2e/relayer-load.ts";
import { testAccount } from "../support/e2e/test-account.ts";
import { openTestStore } from "../support/relayer-store.ts";

/** `npm run test:kill` sets 200. */
const KILLS = Number(process.env["RELAYWATCH_KILLS"] ?? "4");
/** A process starts, resolves the transactions of the previous one, and submits for a while. */
const MAX_LIFE_MS = 2_500;
const TIMEOUT_MS = 120_000 + KILLS * 15_000;

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const stateDir = join(home.directory, "relayer");
let load: RelayerLoad;

const start = (): CliProcess => home.start("relayer", "start", "--state-dir", stateDir, "$PORTS");

beforeAll(async () => {
  const block = ["--block-time", "400"];
  await home.start("localnet", "start", ...block, "$PORTS").printed(/sidecar metrics/);
  load = await startRelayerLoad(home, localnet, { kvQueries: 12, updatePeriod: 6n });
  // The first search begins a number of blocks before the tip, so it must happen before many blocks have passed.
  const first = start();
  const { address } = await testAccount(home, "relayer");
  await until("a first transfer on the local chain", async () =>
    (await auditRelayer(localnet, address)).tx.has(load.txQueryId) ? true : undefined,
  );
  first.kill("SIGKILL");
  await first.exited;
});
afterAll(home.close);

/** The audit when all transfers were delivered, or when none was for a while. */
async function completeAudit(address: string, transfers: number): Promise<RelayerAudit> {
  const countOf = (audit: RelayerAudit): number => audit.tx.get(load.txQueryId)?.length ?? 0;
  let last = await auditRelayer(localnet, address);
  while (countOf(last) < transfers) {
    const before = countOf(last);
    const next = await until("more transfers on the local chain", async () => {
      const now = await auditRelayer(localnet, address);
      return countOf(now) > before ? now : undefined;
    }).catch(() => undefined);
    if (next === undefined) return last;
    last = next;
  }
  return last;
}

describe("SIGKILL of the relayer at random instants", () => {
  it(
    `loses and doubles nothing, ${KILLS} times`,
    async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const relayer = start();
        await relayer.printed(/icq-relayer +http/);
        await sleep(Math.random() * MAX_LIFE_MS);
        relayer.kill("SIGKILL");
        await relayer.exited;
      }
      const last = start();
      const { address } = await testAccount(home, "relayer");
      await load.stop();
      const sent = load.sent();
      expect(sent.length).toBeGreaterThan(KILLS);
      const audit = await completeAudit(address, sent.length);
      expect(audit.tx.get(load.txQueryId)).toEqual(sent);
      expect(doubledValues(audit, load.kvIds, load.updatePeriod)).toEqual([]);
      for (const id of load.kvIds) expect(audit.kv.get(id)?.length ?? 0).toBeGreaterThan(0);
      expect(audit.failed).toEqual([]);
      last.kill("SIGTERM");
      expect(await last.exited).toBe(0);
    },
    TIMEOUT_MS,
  );

  it("knows the cost of each transaction, also of those whose end no process has seen", async () => {
    const { address: payer } = await testAccount(home, "relayer");
    const fees = await paidFees(localnet, payer);
    const store = await openTestStore(stateDir);
    const ledger = createCostLedger({
      chainId: "local-1",
      payer,
      store,
      sharing: () => [],
      nowMs: Date.now,
    });
    const newest = (await ledger.newestHeight()) ?? 0n;
    const known = new Set(
      (await store.session.run("SELECT hash FROM paid_tx")).map((row) => textOf(row, "hash")),
    );
    // Those of the last block may have been in flight at the end.
    const paid = fees.filter(({ height, hash }) => height < newest || known.has(hash));
    expect(paid.length).toBeGreaterThan(KILLS);
    const total = paid.reduce((sum, { fee }) => sum + fee, 0n);
    const sums = await ledger.byQuery(SPANS.day, 0);
    expect(sums.reduce((sum, { fee }) => sum + fee, 0n)).toBe(total);
    expect(sums.filter(({ owner }) => owner === "")).toEqual([]);
    await store.close();
  });
});
