import { readFileSync } from "node:fs";
import { createProblemHold } from "../../src/relayer/health/problem-hold.ts";
import { describe, expect, it } from "vitest";
import { DEC18_ONE } from "../../src/platform/base/decimal.ts";
import {
  findProblems,
  type HealthFacts,
  type HealthLimits,
  type Problem,
  PROBLEM_CODES,
} from "../../src/relayer/health/problems.ts";
import type { MarketStatus } from "../../src/relayer/forecast/market-view.ts";
import {
  NOW_MS,
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleMarket,
  sampleMarketWithoutCapacity,
  sampleReading,
  sampleStatus,
} from "./status-samples.ts";
import type { EndpointFacts } from "../../src/relayer/health/lateness.ts";

const HOUR_MS = 3_600_000;

it("the manual explains every problem", () => {
  const [, section = ""] = readFileSync("docs/relayer.md", "utf8").split("\n## Problems\n");
  const [rows = ""] = section.split("\n\nA query's first result");
  const codes = [...rows.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    cell.split(", ").map((code) => code.replaceAll("`", "")),
  );
  expect(codes.toSorted()).toEqual(PROBLEM_CODES.toSorted());
});

const limits: HealthLimits = {
  no_block_after: 60_000,
  overdue_blocks: undefined,
  min_kv_update_period: 0n,
  client_expires_soon: { trusting_period_share: DEC18_ONE / 5n, within: 24 * HOUR_MS },
};

function facts(fields: Partial<HealthFacts> = {}): HealthFacts {
  return { ...sampleStatus(), list: { isLoaded: true, failure: undefined }, limits, ...fields };
}

/** Returns the problems as `code: text`. */
function found(fields: Partial<HealthFacts>): readonly string[] {
  return findProblems(facts(fields)).map(({ code, text }) => `${code}: ${text}`);
}

function withRemote(fields: Parameters<typeof sampleHead>[0]): Partial<HealthFacts> {
  return { connections: [sampleConnection({ remote: sampleHead(fields) })] };
}

function withClient(fields: Parameters<typeof sampleReading>[0], sinceReadMs = 0): Partial<HealthFacts> {
  const client = { reading: sampleReading(fields), sinceReadMs, error: undefined };
  return { connections: [sampleConnection({ client })] };
}

describe("findProblems", () => {
  it("finds none in a healthy relayer", () => {
    expect(findProblems(facts())).toEqual([]);
  });

  it("finds endpoints that refuse what is needed, although their status is read", () => {
    const { chainId } = sampleConnection({});
    const endpoint: EndpointFacts = {
      chainId,
      name: "a",
      failures: 0,
      lastError: undefined,
      lagBlocks: 0n,
      distrusted: undefined,
    };
    const discards = { ...endpoint, lacks: new Map([["block_results", "not persisted; set it"]]) };
    const limited = { ...endpoint, failures: 3, lastError: "request rate exceeded" };
    const refusals = (...endpoints: readonly EndpointFacts[]) =>
      found({ endpoints }).filter((text) => text.startsWith("endpoints-refuse"));
    expect(refusals(discards)).toEqual([
      expect.stringMatching(/cannot do block_results: not persisted; set it$/),
    ]);
    expect(refusals({ ...limited, lastError: undefined }, endpoint)).toEqual([]);
    expect(found({ endpoints: [limited] })).toEqual([expect.stringContaining("request rate exceeded")]);
    // Another endpoint does it, blocks are read instead of an index, or it is an interruption.
    expect(refusals(discards, endpoint)).toEqual([]);
    expect(refusals({ ...endpoint, lacks: new Map([["tx_search", "off"]]) })).toEqual([]);
    expect(found({ endpoints: [{ ...limited, failures: 2 }] })).toEqual([]);
    expect(found({ endpoints: [{ ...limited, chainId: "other-9" }] })).toEqual([]);
    const behind = { ...endpoint, lagBlocks: 372n };
    const doubted = { ...endpoint, name: "b", distrusted: "bank/01: wrong" };
    expect(refusals(behind, doubted)).toEqual([
      expect.stringContaining(
        "a is 372 blocks behind, and b, which is not, returned a wrong response: bank/01: wrong;",
      ),
    ]);
    expect([refusals(behind), refusals(endpoint, behind, doubted), refusals(doubted)]).toEqual([[], [], []]);
    expect(refusals({ ...behind, lagBlocks: 5n }, doubted)).toEqual([]);
    expect(refusals(behind, { ...endpoint, name: "c", lagBlocks: 9n }, doubted)).toEqual([
      expect.stringContaining("c is 9 blocks behind, and b"),
    ]);
  });

  it("never takes the unknown for healthy", () => {
    const unread = { height: undefined, sinceBlockMs: undefined, blockTimeMs: undefined };
    const client = { reading: undefined, sinceReadMs: 1_000, error: undefined };
    const starting = findProblems(
      facts({
        list: { isLoaded: false, failure: undefined },
        local: sampleHead(unread),
        account: { ...sampleStatus().account, balance: undefined },
        connections: [sampleConnection({ remote: sampleHead(unread), client })],
      }),
    );
    expect(starting.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => "starting"));
    const later = { ...client, sinceReadMs: 16_000, error: "refused" };
    expect(found({ connections: [sampleConnection({ client: later })] })).toEqual([
      "client-unknown: connection-0: the light client is unknown: no response for 16 s (refused)",
    ]);
    const account = { ...sampleStatus().account, balance: undefined, sinceReadMs: 16_000, error: "refused" };
    expect(found({ account })).toEqual([
      "account-unknown: the balance of neutron1relayer is unknown: no response for 16 s (refused)",
    ]);
    expect(found(withClient({}, 181_000))[0]).toContain("client-unknown");
  });

  it("names a local chain that is not followed, after an error sooner than without one", () => {
    expect(found({ local: sampleHead({ sinceReadMs: 15_000 }) })).toEqual([]);
    expect(found({ local: sampleHead({ sinceReadMs: 16_000 }) })).toEqual([
      "local-not-followed: the local chain is not followed: no response for 16 s; check chain.rpc",
    ]);
    expect(found({ local: sampleHead({ sinceReadMs: 4_000, error: "refused" }) })).toEqual([]);
    expect(found({ local: sampleHead({ sinceReadMs: 5_000, error: "refused" }) })).toEqual([
      "local-not-followed: the local chain is not followed: no response for 5 s (refused); check chain.rpc",
    ]);
  });

  it("takes no state for the present that its node or its list of queries does not show", () => {
    expect(found({ local: sampleHead({ catchingUp: true }) })).toEqual([
      "local-not-followed: the local chain is not followed: its node is catching up, at height 12; check chain.rpc",
    ]);
    const failing = (sinceMs: number) =>
      found({ list: { isLoaded: true, failure: { sinceMs, reason: "refused" } } });
    expect(failing(15_000)).toEqual([]);
    expect(failing(16_000)).toEqual([
      "local-not-followed: the local chain is not followed: its query list could not be read for 16 s (refused); check chain.rpc",
    ]);
  });

  it("names a chain without a new block, and for how long", () => {
    expect(found({ local: sampleHead({ sinceBlockMs: 60_000 }) })).toEqual([]);
    expect(found({ local: sampleHead({ sinceBlockMs: 200_000 }) })[0]).toContain(
      "local-no-new-block: the local chain has had no new block for 200 s (height 12)",
    );
    expect(found(withRemote({ sinceBlockMs: 60_000 }))).toEqual([]);
    expect(found(withRemote({ sinceBlockMs: 200_000 }))[0]).toContain(
      "remote-no-new-block: connection-0: the remote chain remote-1 has had no new block for 200 s (height 12)",
    );
  });

  it("follows the block time of a chain when no time is configured: ten blocks, 15 s to 60 s", () => {
    const own = { ...limits, no_block_after: undefined };
    const limitOf = (blockMs: number | undefined): readonly boolean[] =>
      [15_000, 15_001, 30_000, 30_001, 60_000, 60_001].map(
        (sinceBlockMs) => found({ limits: own, ...withRemote({ blockMs, sinceBlockMs }) }).length > 0,
      );
    expect(limitOf(1_000)).toEqual([false, true, true, true, true, true]);
    expect(limitOf(3_000)).toEqual([false, false, false, true, true, true]);
    expect(limitOf(9_000)).toEqual([false, false, false, false, false, true]);
    // The shortest, until the pace is known.
    expect(limitOf(undefined)).toEqual(limitOf(1_000));
    expect(found({ limits: own, local: sampleHead({ sinceBlockMs: 15_001 }) })[0]).toContain("15 s");
  });

  it("names a remote chain that cannot be reached or whose node is catching up", () => {
    expect(found(withRemote({ sinceReadMs: 5_000, error: "refused" }))[0]).toContain(
      "remote-unreachable: connection-0: the remote chain remote-1 cannot be reached: no response for 5 s (refused)",
    );
    expect(found(withRemote({ catchingUp: true }))[0]).toContain("remote-catching-up");
  });

  it("says when a client expired or that it is frozen, and what to do", () => {
    const expired = { status: "Expired", expiresAtMs: NOW_MS - 1 };
    expect(found(withClient(expired))).toEqual([
      "client-expired: connection-0: client 07-tendermint-0 is expired, expired at 2026-01-01T23:59:59.999Z; nothing can be proven until governance replaces it (MsgRecoverClient)",
    ]);
    // A client that expires now proves nothing any more, although its last reading says that it is active.
    expect(found(withClient({ expiresAtMs: NOW_MS }))[0]).toMatch(/^client-expired: .* expires at/);
    expect(found(withClient({ expiresAtMs: NOW_MS + 1 }))[0]).toMatch(/^client-expires-soon: /);
    expect(found(withClient({ status: "Frozen" }))[0]).toMatch(/^client-frozen: .*MsgRecoverClient/);
  });

  /** The latest expiry, in ms from now, at which a client with this trusting period expires soon. */
  const noticeOf = (trustingPeriodMs: number, notice: Partial<HealthLimits["client_expires_soon"]> = {}) => {
    const given = { ...limits, client_expires_soon: { ...limits.client_expires_soon, ...notice } };
    const isSoon = (leftMs: number): boolean =>
      found({
        limits: given,
        ...withClient({
          trustingPeriodNs: BigInt(trustingPeriodMs) * 1_000_000n,
          expiresAtMs: NOW_MS + leftMs,
        }),
      }).length > 0;
    let [soon, later] = [0, trustingPeriodMs];
    while (later - soon > 1) {
      const middle = Math.floor((soon + later) / 2);
      [soon, later] = isSoon(middle) ? [middle, later] : [soon, middle];
    }
    return soon;
  };

  it("says when a client expires soon: by its share of the trusting period, or by the time", () => {
    // Two weeks: a fifth is more than a day.
    expect(noticeOf(14 * 24 * HOUR_MS)).toBe((14 * 24 * HOUR_MS) / 5);
    // Four days and a half: a day is more than a fifth, and less than a quarter.
    expect(noticeOf(108 * HOUR_MS)).toBe(24 * HOUR_MS);
    // Less: a quarter, which comes after the refresh at a third.
    expect(noticeOf(2 * HOUR_MS)).toBe(HOUR_MS / 2);
    expect(noticeOf(100_000)).toBe(25_000);
    expect(noticeOf(14 * 24 * HOUR_MS, { trusting_period_share: DEC18_ONE / 10n })).toBe(
      (14 * 24 * HOUR_MS) / 10,
    );
    expect(noticeOf(14 * 24 * HOUR_MS, { within: 72 * HOUR_MS })).toBe(72 * HOUR_MS);
    const text = found(withClient({ expiresAtMs: NOW_MS + 6 * HOUR_MS }));
    expect(text).toEqual([
      "client-expires-soon: connection-0: client 07-tendermint-0 expires at 2026-01-02T06:00:00.000Z, in 6 h, unless it is updated before then; it should have been refreshed when a third of its trusting period was left",
    ]);
  });

  it("says that the account cannot pay", () => {
    const account = { ...sampleStatus().account, balance: 1_577n, transactionFee: 54_796n };
    const poor =
      "account-cannot-pay: account neutron1relayer has 1577 untrn, but a transaction costs about 54796; send it untrn";
    expect(found({ account })).toEqual([poor]);
    expect(found({ account: { ...account, balance: 54_796n } })).toEqual([]);
    // Without a price there is no fee, and nothing pays nothing.
    expect(found({ account: { ...account, balance: 0n, transactionFee: 0n } })[0]).toContain("has 0 untrn");
    const unpaid = "sdk/5: spendable balance 1577untrn is smaller than 54796untrn: insufficient funds";
    expect(found({ account: { ...account, balance: 90_000n, unpaid } })).toEqual([
      `account-cannot-pay: account neutron1relayer cannot pay: ${unpaid}; send it untrn`,
    ]);
  });

  it("counts the overdue queries of each connection and names the latest one", () => {
    const sound = { error: undefined, failures: 0, lastLocalHeight: 0n };
    const late = (id: bigint, blocks: bigint, connectionId = "connection-0") => ({
      ...sound,
      id,
      connectionId,
      lateness: sampleLateness({ blocks, ms: Number(blocks) * 1_000, isOverdue: true }),
    });
    const other = {
      ...sound,
      id: 9n,
      connectionId: "connection-0",
      lateness: sampleLateness({ blocks: 99n }),
    };
    expect(found({ queries: [late(1n, 8n), late(2n, 30n), late(3n, 50n, "connection-1"), other] })).toEqual([
      "queries-overdue: connection-0: 2 queries are overdue; query 2 by 30 blocks, 30 s",
    ]);
    // A query that fails at each try is no mere lateness.
    const error = { code: "read-failed", reason: "the node refused the search" } as const;
    const failing = [4n, 5n].map((id) => ({ ...late(id, 20n + id), error, failures: 12 }));
    expect(found({ queries: [late(1n, 8n), ...failing] })).toEqual([
      "queries-overdue: connection-0: 1 query is overdue; query 1 by 8 blocks, 8 s",
      "queries-failing: connection-0: 2 overdue queries fail at each try; query 5, late by 25 blocks, 25 s, 12 times: read-failed: the node refused the search",
    ]);
  });

  it("names a demand above the fee market as the reason for overdue queries", () => {
    const lateness = sampleLateness({ blocks: 2_000n, ms: 2_000_000, isOverdue: true });
    const one = { id: 1n, connectionId: "connection-0", lastLocalHeight: 0n, error: undefined, failures: 0 };
    const queries = [{ ...one, lateness }];
    const above = sampleMarketWithoutCapacity();
    const textWith = (market: MarketStatus): string => found({ queries, market })[0] ?? "";
    const late = (lateBlocks: number): MarketStatus => ({
      ...above,
      forecast: { ...above.forecast, lateBlocks },
    });
    expect(textWith(late(2_000.4))).toBe(
      "queries-overdue: connection-0: 1 query is overdue; query 1 by 2000 blocks, 33 min 20 s; the demand is above the fee market: each result is 2000 blocks late in the steady state",
    );
    expect(textWith(late(Infinity))).toMatch(/above the fee market: others use its whole target$/);
    for (const market of [sampleMarket(), { ...above, sinceReadMs: 60_001 }])
      expect(textWith(market)).toMatch(/by 2000 blocks, 33 min 20 s$/);
  });

  it("says why nothing is sent, and expects nothing of a standby", () => {
    const gate = {
      role: "leader",
      storeError: undefined,
      refusal: "the balance is below the reserve",
    } as const;
    expect(found({ gate })).toEqual(["not-sending: nothing is sent: the balance is below the reserve"]);
    expect(found({ gate: { ...gate, storeError: "disk full" } })).toEqual([
      "store-not-writable: nothing is sent while the store cannot write: disk full; free its disk or repair it",
    ]);
    const late = {
      id: 1n,
      connectionId: "connection-0",
      error: undefined,
      failures: 0,
      lastLocalHeight: 95n,
      lateness: sampleLateness({ isOverdue: true, blocks: 20n, ms: 20_000 }),
    };
    const standby = { ...gate, role: "standby" } as const;
    const local = { ...sampleStatus().local, height: 100n, blockMs: 1_000 };
    expect(found({ gate: standby, local, queries: [late] })).toEqual([]);
    // Nobody sends.
    expect(found({ gate: standby, local: { ...local, height: 111n }, queries: [late] })).toEqual([
      "queries-overdue: connection-0: 1 query is overdue; query 1 by 20 blocks, 20 s; this process is a standby, and no process has sent a result for 16 blocks",
    ]);
    // A process that gave the lease up is no standby that could lead.
    const roleError = "its transactions have not reached any node for 11 s";
    expect(found({ gate: { ...standby, roleError } })).toEqual([
      `not-sending: this process does not submit: ${roleError}`,
    ]);
    expect(found({ gate: { ...standby, roleError, holder: "other" } })).toEqual([]);
  });

  it("lasts for a block before it is one, except when nothing works yet", () => {
    const hold = createProblemHold();
    const failed = { code: "cycle-failed", connectionId: "connection-0", text: "" } as const;
    const starting = { code: "starting", connectionId: undefined, text: "" } as const;
    const at = (nowMs: number, problems: readonly Problem[]) =>
      hold.lasting(problems, { blockMs: 2_500, nowMs, wallMs: 50_000 + nowMs }).map(({ code }) => code);
    expect(at(0, [failed, starting])).toEqual(["starting"]);
    expect(at(1_000, [failed])).toEqual([]);
    // It was not over: a read succeeded between two that failed.
    expect([at(1_500, []), at(2_500, [failed])]).toEqual([[], ["cycle-failed"]]);
    expect([at(3_000, []), at(4_100, []), at(6_000, [failed]), at(8_400, [failed])]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    // On a busy machine the next check comes late.
    expect(at(20_000, [failed])).toEqual(["cycle-failed"]);
    const times = { blockMs: 2_500, wallMs: 60_000 };
    expect(hold.lasting([], { ...times, nowMs: 22_000 })).toEqual([]);
    expect(hold.lasting([starting], { ...times, nowMs: 30_000 })).toEqual([{ ...starting, sinceMs: 60_000 }]);
    // Since it was seen first, by the wall clock of now.
    expect(hold.lasting([starting], { ...times, nowMs: 31_000 })).toEqual([{ ...starting, sinceMs: 59_000 }]);
    expect(createProblemHold().lasting([failed], { blockMs: 0, nowMs: 0, wallMs: 0 })).toEqual([
      { ...failed, sinceMs: 0 },
    ]);
  });

  it("is not ready while this process has the lease and cannot send yet", () => {
    const gate = { role: "starting", storeError: undefined, refusal: undefined } as const;
    expect(found({ gate })).toEqual([
      "starting: nothing is sent yet: reading the previous process's transactions",
    ]);
    const progress = "waiting for 3 transactions from the previous process to be included, at most 17 s more";
    expect(found({ gate: { ...gate, progress } })).toEqual([`starting: nothing is sent yet: ${progress}`]);
    expect(found({ gate: { ...gate, roleError: "the search was refused" } })).toEqual([
      "not-sending: nothing is sent: this process cannot submit yet: the search was refused",
    ]);
  });

  it("says that nobody knows whether results are sent, while the lease cannot be read", () => {
    const gate = { role: "unknown", storeError: undefined, refusal: "this process is a standby" } as const;
    expect(found({ gate })).toEqual(["starting: the lease has not been read yet"]);
    // The database responded before, and hangs now.
    expect(found({ gate: { ...gate, holder: "other-host/7" } })[0]).toMatch(
      /^lease-unknown: .*: cannot read the lease: no response; repair/,
    );
    const roleError = "cannot read the lease: connect ECONNREFUSED 127.0.0.1:5432";
    const unknown = `lease-unknown: this process sends nothing, and it is unknown whether another one does: ${roleError}; repair the database`;
    expect(found({ gate: { ...gate, roleError } })).toEqual([unknown]);
    expect(found({ gate: { ...gate, roleError, storeError: "disk full" } })).toEqual([
      unknown,
      "store-not-writable: nothing is sent while the store cannot write: disk full; free its disk or repair it",
    ]);
  });

  it("reports the error of the last cycle", () => {
    expect(found({ connections: [sampleConnection({ error: "it failed" })] })).toEqual([
      "cycle-failed: connection-0: it failed",
    ]);
  });
});
