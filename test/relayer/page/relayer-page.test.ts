import { describe, expect, it } from "vitest";
import type { RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import { problemRunbook } from "../../../src/relayer/monitoring/relayer-runbooks.ts";
import { PROBLEM_CODES, type ProblemCode } from "../../../src/relayer/health/problems.ts";
import { type RelayerPageInput, relayerPage } from "../../../src/relayer/page/relayer-page.ts";
import { healthyRelayer, troubledRelayer } from "../../support/pages/relayer-scenes.ts";
import {
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleReading,
  sampleStatus,
  sampleView,
} from "../status-samples.ts";

const EVIL = `<script>alert("x")</script>&'`;
const NO_VIEW = new URLSearchParams();

function pageOf(fields: Partial<RelayerStatus> = {}, more: Partial<RelayerPageInput> = {}) {
  const { title, sections } = relayerPage(
    { ...healthyRelayer(), status: sampleStatus(fields), ...more },
    NO_VIEW,
  );
  const part = (id: string): string => sections.find((section) => section.id === id)?.content.text ?? "";
  return { title, part, all: sections.map(({ content }) => content.text).join("") };
}

const headline = (fields: Partial<RelayerStatus>): string =>
  /<p class="headline (.*?)<\/p>/.exec(pageOf(fields).part("verdict"))?.[1]?.replaceAll(/<.*?>/g, "") ?? "";

describe("the relayer's page", () => {
  it("escapes everything that comes from chains and endpoints", () => {
    const { all, title } = pageOf(
      {
        local: sampleHead({ error: EVIL }),
        connections: [
          sampleConnection({
            id: EVIL,
            error: EVIL,
            chainId: EVIL,
            remote: sampleHead({ height: undefined, error: EVIL }),
            client: { reading: sampleReading({ clientId: EVIL, status: EVIL }), sinceReadMs: 0, error: EVIL },
          }),
          sampleConnection({ client: { reading: undefined, sinceReadMs: 0, error: EVIL } }),
        ],
        problems: [{ code: "cycle-failed", connectionId: EVIL, text: EVIL }],
        queries: [
          sampleView({
            connectionId: EVIL,
            owner: EVIL,
            state: "backing_off",
            failures: 3,
            error: { code: "rejected", reason: EVIL },
            retryInMs: 4_400,
          }),
        ],
        account: { ...sampleStatus().account, denom: EVIL, address: EVIL },
        endpoints: [
          {
            chainId: EVIL,
            name: EVIL,
            state: "down",
            failures: 1,
            lastError: EVIL,
            latencyMs: undefined,
            lagBlocks: undefined,
            status: undefined,
            distrusted: EVIL,
          },
        ],
      },
      { deadLetters: [{ queryId: 1n, hash: EVIL, reason: EVIL, remoteHeight: 1n, atMs: 0 }] },
    );
    expect(`${all}${title}`).not.toContain("<script");
    expect(all.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(15);
    expect(all).not.toMatch(/="[^"]*'[^"]*'[^"]*x<\/?script/);
  });

  it("says nothing good of results and connections while the local chain cannot be read", () => {
    const known = { queries: [sampleView()], connections: [sampleConnection()] };
    const problems = [{ code: "local-not-followed", connectionId: undefined, text: "no response" }] as const;
    const { part } = pageOf({ ...known, problems });
    expect(part("verdict")).toContain("1 query; their lateness is not known without the local chain.");
    expect(part("connections")).toMatch(
      /\? <\/span>not known<.*not known while the local chain is not followed/s,
    );
    expect(part("connections")).not.toContain("fine");
    const well = pageOf(known).part("connections");
    expect(well).toMatch(/✓ <\/span>fine<.*>fine</s);
  });

  it("judges first whether everything is current", () => {
    expect(headline({ queries: [sampleView()] })).toContain("✓ In order: every result is current");
    expect(headline({})).toContain("there is no query to serve");
    const pending = sampleView({ state: "pending", resultAge: undefined, results: 0 });
    expect(headline({ queries: [pending] })).toContain("? Starting: no query has a result yet");
    expect(headline({ queries: [pending, sampleView()] })).toContain("✓ In order: every result is current");
    expect(pageOf({ queries: [pending, sampleView()] }).part("verdict")).toContain(
      "2 queries, 1 without a result yet, none late.",
    );
    const failing = sampleView({ error: { code: "no-such-store", reason: "no" }, state: "backing_off" });
    expect(headline({ queries: [sampleView(), failing] })).toContain(
      "! Current, except 1 query that cannot be served",
    );
    expect(headline({ gate: { role: "standby", storeError: undefined, refusal: undefined } })).toContain(
      "✓ Standby: another process has the lease",
    );
    const unknown = pageOf({ gate: { role: "unknown", storeError: undefined, refusal: undefined } });
    expect(unknown.part("facts")).toContain(`<dd class="unknown">unknown`);
    expect(unknown.part("connections")).toMatch(/not known.*none without the lease/s);
    // A standby reads the results of the other process only now and then.
    const late = { queries: [sampleView({ lateness: sampleLateness({ blocks: 41n, isOverdue: true }) })] };
    const gate = { role: "standby", storeError: undefined, refusal: undefined } as const;
    const standby = pageOf({ ...late, connections: [sampleConnection()], gate });
    expect(standby.part("verdict")).toContain("1 query; the process with the lease knows how late they are.");
    expect(standby.part("connections")).not.toContain("overdue");
    expect(pageOf({ ...late, connections: [sampleConnection()] }).part("connections")).toContain("1 overdue");
  });

  it.each(PROBLEM_CODES)("is never in order with the problem %s", (code) => {
    const problems = [{ code, connectionId: undefined, text: "what is wrong" }];
    expect(headline({ problems })).not.toMatch(/In order|Current/);
    expect(headline({ problems }).includes("Starting")).toBe(code === "starting");
    const { part, title } = pageOf({ problems });
    expect(part("verdict")).toContain(`<strong>${code}</strong>: what is wrong`);
    expect(part("verdict").includes('<a href="/runbooks/relayer-')).toBe(problemRunbook(code) !== undefined);
    expect(part("verdict")).not.toContain(`class="verdict good"`);
    expect(title).toMatch(/^\(1\) /);
  });

  it("announces the headline alone to screen readers", () => {
    const { all } = pageOf({ queries: [sampleView()] });
    expect(all.match(/aria-live="\w+"/g)).toEqual(['aria-live="polite"']);
    expect(all).toMatch(/<p class="headline good" aria-live="polite">[^\n]*every result is current<\/p>/);
  });

  it("names the cause first: a remote chain that stands still before the results that are overdue", () => {
    const problem = (code: ProblemCode) => ({ code, connectionId: "connection-0", text: "what is wrong" });
    const problems = [problem("cycle-failed"), problem("queries-overdue"), problem("remote-no-new-block")];
    const { part } = pageOf({ problems, queries: [sampleView()] });
    expect(part("verdict")).toContain("A remote chain has no new block");
    expect(part("connections")).toContain("✕ </span>remote-no-new-block</span>");
  });

  it("calls nothing fine that was not tried, and does not count queries that were not read", () => {
    const pending = sampleView({ state: "pending", resultAge: undefined });
    const { part } = pageOf({ queries: [pending] });
    expect(part("connections")).toMatch(/\? <\/span>no result yet<.*>none yet</s);
    expect(part("connections")).not.toContain(">fine<");
    expect(pageOf({ queries: [sampleView()] }).part("connections")).toMatch(/✓ <\/span>fine<.*>fine</s);
    const unread = pageOf({ loaded: false });
    expect(unread.part("connections")).not.toContain(">fine<");
    for (const id of ["verdict", "queries"]) {
      expect(unread.part(id)).toContain("The list of queries was not read yet.");
      expect(unread.part(id)).not.toContain("No query is registered");
    }
  });

  it("shows of a TX query when it was searched, which is no result", () => {
    const found = pageOf({ queries: [sampleView({ type: "tx", lastRemoteHeight: undefined })] });
    expect(found.part("queries")).toContain("searched 2 s ago<small>1 block</small>");
  });

  it("shows since when the values of a query have been unchanged", () => {
    const found = pageOf({ queries: [sampleView({ unchangedSince: 7n })] });
    expect(found.part("queries")).toContain("of remote 9, unchanged since block 7</small>");
  });

  it("says for how long the balance is enough, up to a year", () => {
    const facts = (daysLeft: number): string =>
      pageOf({ account: { ...sampleStatus().account, daysLeft } }).part("facts");
    expect(facts(2.5)).toContain("enough for 2 d 12 h at the present rate");
    expect(facts(130_167_655)).toContain("enough for more than a year at the present rate");
  });

  it("says how late the latest query is", () => {
    const late = (id: bigint, blocks: bigint, isOverdue = false) =>
      sampleView({ id, lateness: sampleLateness({ blocks, ms: 61_000, isOverdue }) });
    const { part } = pageOf({ queries: [late(1n, 0n), late(2n, 9n), late(3n, 7n, true)] });
    expect(part("verdict")).toContain("3 queries, 1 overdue; query 2 is due longest, for 9 blocks, 61 s.");
    expect([...part("queries").matchAll(/id="query-(\d+)"/g)].map(([, id]) => id)).toEqual(["3", "2", "1"]);
    expect(part("queries")).toContain(`<strong class="bad">7 blocks, 61 s</strong><small>limit 20</small>`);
  });

  it("shows heights, ages, client and balance, and what is not known yet", () => {
    const { all } = pageOf({ account: { ...sampleStatus().account, daysLeft: 12.7 } });
    for (const text of [
      "newest block 1 s ago",
      "07-tendermint-0 Active",
      "2 remote blocks behind",
      "in 1 d",
      "70 untrn",
      "enough for 12 d 16 h",
    ])
      expect(all).toContain(text);
    const unknown = pageOf({
      local: sampleHead({ height: undefined, sinceBlockMs: undefined }),
      account: { ...sampleStatus().account, balance: undefined },
      connections: [
        sampleConnection({
          remote: sampleHead({ height: undefined }),
          client: { reading: undefined, sinceReadMs: 0, error: undefined },
        }),
      ],
    }).all;
    expect(unknown.match(/not known yet/g)).toHaveLength(3);
    expect(unknown.match(/no block read yet/g)).toHaveLength(2);
  });

  it("marks an expired client, an empty account and a lost event stream", () => {
    const reading = sampleReading({ status: "Expired", expiresAtMs: 0 });
    const { all } = pageOf({
      connected: false,
      account: { ...sampleStatus().account, balance: 0n },
      problems: [{ code: "account-cannot-pay", connectionId: undefined, text: "no coins" }],
      connections: [sampleConnection({ client: { reading, sinceReadMs: 0, error: undefined } })],
    });
    expect(all).toContain(`<dd class="bad">0 untrn`);
    expect(all).toContain("expired ");
    expect(all).toContain("</span>Expired</span>");
    expect(all).toContain(`<dd class="warn">not connected`);
  });

  it("names the endpoints that are down or not trusted before all others", () => {
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
    const down = { ...sound, name: "down:1", state: "down", failures: 1, lastError: "refused" } as const;
    const liar = { ...sound, name: "liar:1", distrusted: "bank/00 is not proven" };
    const [before, list] = pageOf({ endpoints: [sound, down, liar] })
      .part("endpoints")
      .split("<details");
    expect(before).toMatch(
      /down:1.*✕ <\/span>down<.*refused.*liar:1.*not trusted.*wrong response: bank\/00/s,
    );
    expect(before).not.toContain("sound:1");
    expect(list).toContain("3 endpoints, 2 not sound");
    expect(list).toContain("sound:1");
    expect(pageOf({ endpoints: [sound] }).part("endpoints")).toContain("1 endpoint, all sound");
    const unchecked = { ...sound, name: "new:1", state: "unchecked", status: undefined } as const;
    expect(pageOf({ endpoints: [sound, unchecked] }).part("endpoints")).toContain(
      "2 endpoints, 1 not checked yet",
    );
  });

  it("shows what was spent today, the limits, and which are used up", () => {
    const { spending } = sampleStatus();
    expect(pageOf().part("facts")).toContain("<dd>0 untrn<small>reserve 0 untrn</small>");
    const gasByOwner = new Map([
      [EVIL, 4n],
      ["neutron1most", 9n],
    ]);
    const limits = { dailyFee: 10n, dailyGasPerOwner: 9n };
    const { part, all } = pageOf({ reserve: 5n, spending: { ...spending, fee: 10n, gasByOwner, limits } });
    expect(part("facts")).toContain(
      `<dd class="bad">10 untrn of 10 untrn<small>the limit is reached; reserve 5 untrn</small>`,
    );
    expect(part("cost")).toContain("2 owners with gas today, 1 budget used up");
    expect(part("cost")).toMatch(/neutron1most<\/code>.*9 of 9.*used up.*4 of 9.*left/s);
    expect(all).not.toContain("<script");
  });

  it("shows failures and the next try of a query that is backing off", () => {
    const { part } = pageOf({
      queries: [
        sampleView({
          state: "backing_off",
          failures: 3,
          error: { code: "rejected", reason: "no" },
          retryInMs: 4_400,
        }),
        sampleView({ id: 2n, state: "pending", resultAge: undefined }),
        sampleView({ id: 3n, resultAge: { blocks: 4n, ms: 8_000, isAtLeast: true } }),
        sampleView({
          id: 4n,
          lateness: sampleLateness({ blocks: 3n, unanswerable: "no-newer-remote-block" }),
        }),
      ],
    });
    for (const text of [
      "rejected: no (failures: 3, next try in 5 s)",
      "no result yet",
      "none yet",
      "over 8 s ago",
      "no newer remote block",
    ])
      expect(part("queries")).toContain(text);
  });

  it("offers to send a dead letter again to those who may", () => {
    const { deadLetters } = troubledRelayer();
    const of = (resubmit: RelayerPageInput["resubmit"]) =>
      pageOf({}, { deadLetters, resubmit }).part("dead-letters");
    expect(of("token")).toContain(`data-needs="token"`);
    expect(of("token")).toContain(`data-body="{&quot;txs&quot;:[{&quot;query_id&quot;:7,`);
    expect(of("open")).toContain(`data-needs="open"`);
    expect(of("nobody")).not.toContain("<button");
    expect(of("nobody")).toContain("needs <code>http.token</code>");
    const many = Array.from({ length: 25 }, () => deadLetters)
      .flat()
      .slice(0, 25);
    const text = pageOf({}, { deadLetters: many }).part("dead-letters");
    expect(text.match(/<button/g)).toHaveLength(20);
    expect(text).toContain("5 more dead letters");
  });
});
