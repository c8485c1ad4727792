import { describe, expect, it } from "vitest";
import { MAX_ROWS, statusPage } from "../../../src/relayer/api/status-page.ts";
import type { RelayerStatus } from "../../../src/relayer/api/status.ts";
import {
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleReading,
  sampleStatus,
  sampleView,
} from "./status-samples.ts";

const EVIL = `<script>alert("x")</script>&'`;

function page(fields: Partial<RelayerStatus> = {}): string {
  const { body } = statusPage(sampleStatus(fields));
  return typeof body === "string" ? body : "";
}

const backingOff = sampleView({
  id: 2n,
  connectionId: EVIL,
  owner: EVIL,
  state: "backing_off",
  failures: 3,
  error: { code: "rejected", reason: EVIL },
  retryInMs: 4_400,
});

describe("the status page", () => {
  it("escapes everything that comes from chains, and allows no script", () => {
    const status = sampleStatus({
      connections: [
        sampleConnection({
          error: EVIL,
          chainId: EVIL,
          client: { reading: sampleReading({ clientId: EVIL, status: EVIL }), sinceReadMs: 0, error: EVIL },
        }),
      ],
      problems: [{ code: "cycle-failed", connectionId: EVIL, text: EVIL }],
      queries: [backingOff],
    });
    const { body, headers } = statusPage(status);
    expect(body).not.toContain("<script");
    expect(body).toContain("&lt;script&gt;");
    expect(headers?.["content-security-policy"]).toContain("default-src 'none'");
  });

  it("says that all is in order only without a problem", () => {
    expect(page()).toContain("In order");
    const problems = [{ code: "starting", connectionId: undefined, text: "not read yet" }] as const;
    expect(page({ problems })).not.toContain("In order");
    expect(page({ problems })).toContain("<strong>starting</strong>: not read yet");
  });

  it("names the endpoints that are down or not trusted, and no others", () => {
    const sound = {
      name: "sound:1",
      chainId: "remote-1",
      state: "good",
      failures: 0,
      lastError: undefined,
      status: undefined,
      latencyMs: undefined,
      lagBlocks: undefined,
      distrusted: undefined,
    } as const;
    const text = page({
      endpoints: [
        sound,
        { ...sound, name: "down:1", state: "down", failures: 1, lastError: EVIL },
        { ...sound, name: "liar:1", distrusted: "bank/00 is not proven" },
      ],
    });
    expect(text).toContain('<code>down:1</code> of remote-1: <span class="bad">down</span>: &lt;script&gt;');
    expect(text).toContain(
      '<code>liar:1</code> of remote-1: <span class="bad">not trusted</span>: wrong response: bank/00',
    );
    expect(text).not.toContain("sound:1");
  });

  it("says that a standby leaves the work to another process", () => {
    const gate = { role: "standby", storeError: undefined, refusal: undefined } as const;
    expect(page({ gate })).toContain("Standby");
    expect(page({ gate })).not.toContain("In order");
  });

  it("shows the latest queries first, and at most so many", () => {
    const late = (id: number, blocks: bigint, isOverdue: boolean) =>
      sampleView({ id: BigInt(id), lateness: sampleLateness({ blocks, ms: 61_000, isOverdue }) });
    const body = page({ queries: [late(1, 0n, false), late(2, 9n, false), late(3, 7n, true)] });
    expect([...body.matchAll(/<tr><td class="number">(\d+)/g)].map(([, id]) => id)).toEqual(["3", "2", "1"]);
    expect(body).toContain(`<td class="number bad">7 blocks, 61 s</td>`);
    expect(body).toContain(`<span class="bad">overdue</span>`);
    const many = Array.from({ length: MAX_ROWS + 3 }, (_, index) => late(index + 1, 0n, false));
    expect([...page({ queries: many }).matchAll(/<tr><td class="number">/g)]).toHaveLength(MAX_ROWS);
    expect(page({ queries: many })).toContain("3 more queries");
  });

  it("shows heights, ages, client and balance of both chains, and what is not known yet", () => {
    const body = page({ account: { ...sampleStatus().account, daysLeft: 12.7 } });
    expect(body).toContain("height 12, 1 s ago");
    expect(body).toContain("light client 07-tendermint-0 Active, 2 blocks behind, expires in 1 d");
    expect(body).toContain("70 untrn, enough for 12 days");
    const unknown = page({
      local: sampleHead({ height: undefined, sinceBlockMs: undefined }),
      account: { ...sampleStatus().account, balance: undefined },
      connections: [sampleConnection({ client: { reading: undefined, sinceReadMs: 0, error: undefined } })],
    });
    for (const text of ["no block read yet", "balance not known yet", "light client not known yet"])
      expect(unknown).toContain(text);
  });

  it("shows the failures and the next try of a query that is backing off, and pending and answered ones", () => {
    expect(page({ queries: [backingOff] })).toContain("(failures: 3, next try in 5 s)");
    expect(page({ queries: [sampleView({ state: "pending" })] })).toContain("<td>pending</td>");
    expect(page({ queries: [sampleView()] })).toContain(">answered<");
    const lateness = sampleLateness({ blocks: 3n, unanswerable: "no-newer-remote-block" });
    expect(page({ queries: [sampleView({ lateness })] })).toContain("no newer remote block");
  });

  it("shows what was spent today, the limits, and which are used up", () => {
    const { spending } = sampleStatus();
    expect(page()).toContain("Fees: <span>0 untrn</span>; reserve: 0 untrn");
    const gasByOwner = new Map([
      [EVIL, 4n],
      ["neutron1most", 9n],
    ]);
    const limits = { dailyFee: 10n, dailyGasPerOwner: 9n };
    const body = page({ reserve: 5n, spending: { ...spending, fee: 10n, gasByOwner, limits } });
    expect(body).toContain(`Fees: <span class="bad">10 of 10 untrn</span>; reserve: 5 untrn`);
    expect(body).toMatch(/neutron1most<\/code>: <span class="bad">9 of 9 gas<.*<span>4 of 9 gas</s);
    expect(body).not.toContain("<script");
  });

  it("shows whether the local chain is connected, and that there is no query", () => {
    expect(page({ connected: false })).toContain("not connected");
    expect(page()).toContain(">connected<");
    expect(page()).toContain("No query is registered");
  });
});
