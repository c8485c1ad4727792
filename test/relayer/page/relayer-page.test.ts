import { describe, expect, it } from "vitest";
import type { QueryView, RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import { problemRunbook } from "../../../src/relayer/monitoring/relayer-alerts.ts";
import { PROBLEM_CODES, type ProblemCode } from "../../../src/relayer/health/problems.ts";
import { type RelayerPageInput, relayerPages } from "../../../src/relayer/page/relayer-page.ts";
import { navigablePages, pageContent } from "../../support/pages/page-contents.ts";
import { healthyRelayer, troubledRelayer } from "../../support/pages/relayer-scenes.ts";
import { sampleState } from "../samples.ts";
import {
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleMarket,
  sampleReading,
  sampleStatus,
  sampleView,
} from "../status-samples.ts";

const EVIL = `<script>alert("x")</script>&'`;

function pageOf(fields: Partial<RelayerStatus> = {}, more: Partial<RelayerPageInput> = {}) {
  return navigablePages(relayerPages(() => ({ ...healthyRelayer(), status: sampleStatus(fields), ...more })));
}

const headline = async (fields: Partial<RelayerStatus>): Promise<string> =>
  /<p class="headline (.*?)<\/p>/
    .exec((await pageOf(fields)).part("verdict"))?.[1]
    ?.replaceAll(/<.*?>/g, "") ?? "";

describe("the relayer's page", () => {
  it("escapes everything that comes from chains and endpoints", async () => {
    const { all, title } = await pageOf(
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
      { deadLetters: () => [{ queryId: 1n, hash: EVIL, reason: EVIL, remoteHeight: 1n, atMs: 0 }] },
    );
    expect(`${all}${title}`).not.toContain("<script");
    expect(all.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(15);
    expect(all).not.toMatch(/="[^"]*'[^"]*'[^"]*x<\/?script/);
  });

  it("says nothing good of results and connections while the local chain cannot be read", async () => {
    const known = { queries: [sampleView()], connections: [sampleConnection()] };
    const problems = [{ code: "local-not-followed", connectionId: undefined, text: "no response" }] as const;
    const { part } = await pageOf({ ...known, problems });
    expect(part("facts")).toContain("1 query<small>their lateness is unknown without the local chain");
    expect(part("connections")).toMatch(
      /\? <\/span>not known<.*not known while the local chain is not followed/s,
    );
    expect(part("connections")).not.toContain("fine");
    const well = (await pageOf(known)).part("connections");
    expect(well).toMatch(/✓ <\/span>fine<.*>fine</s);
  });

  it("judges first whether everything is current", async () => {
    expect(await headline({ queries: [sampleView()] })).toContain("✓ In order: every result is current");
    expect(await headline({})).toContain("there is no query to serve");
    const pending = sampleView({ state: "pending", resultAge: undefined, results: 0 });
    expect(await headline({ queries: [pending] })).toContain("? Starting: no query has a result yet");
    expect(await headline({ queries: [pending, sampleView()] })).toContain(
      "✓ In order: every result is current",
    );
    const one = (await pageOf({ queries: [pending, sampleView()] })).part("facts");
    expect(one).toContain("1 current, 1 without a result yet<small>none late</small>");
    const failing = sampleView({ error: { code: "no-such-store", reason: "no" }, state: "backing_off" });
    expect(await headline({ queries: [sampleView(), failing] })).toContain(
      "! Current, except 1 query that cannot be served",
    );
    expect(
      await headline({ gate: { role: "standby", storeError: undefined, refusal: undefined } }),
    ).toContain("✓ Standby: another process has the lease");
    const unknown = await pageOf({ gate: { role: "unknown", storeError: undefined, refusal: undefined } });
    expect(unknown.part("connections")).toContain("role not known");
    expect(unknown.part("connections")).toMatch(/not known.*none without the lease/s);
    // A standby reads the results of the other process only now and then.
    const late = { queries: [sampleView({ lateness: sampleLateness({ blocks: 41n, isOverdue: true }) })] };
    const gate = { role: "standby", storeError: undefined, refusal: undefined } as const;
    const standby = await pageOf({ ...late, connections: [sampleConnection()], gate });
    expect(standby.part("facts")).toContain(
      "1 query<small>the process with the lease knows how late they are",
    );
    expect(standby.part("connections")).toContain("role: standby");
    expect(standby.part("connections")).not.toContain("overdue");
    expect((await pageOf({ ...late, connections: [sampleConnection()] })).part("connections")).toContain(
      "1 overdue",
    );
  });

  it.each(PROBLEM_CODES)("is never in order with the problem %s", async (code) => {
    const problems = [{ code, connectionId: undefined, text: "what is wrong" }];
    expect(await headline({ problems })).not.toMatch(/In order|Current/);
    expect((await headline({ problems })).includes("Starting")).toBe(code === "starting");
    const { part, title } = await pageOf({ problems });
    expect(part("verdict")).toContain(`<strong>${code}</strong>: what is wrong`);
    expect(part("verdict").includes('<a href="/runbooks/relayer-')).toBe(problemRunbook(code) !== undefined);
    expect(part("verdict")).not.toContain(`class="verdict good"`);
    expect(title).toMatch(/^\(1\) /);
  });

  it("announces the headline alone to screen readers", async () => {
    const { all } = await pageOf({ queries: [sampleView()] });
    expect(all.match(/aria-live="\w+"/g)).toEqual(['aria-live="polite"']);
    expect(all).toMatch(/<p class="headline good" aria-live="polite">[^\n]*every result is current<\/p>/);
  });

  it("names the cause first: a remote chain that stands still before the results that are overdue", async () => {
    const problem = (code: ProblemCode) => ({ code, connectionId: "connection-0", text: "what is wrong" });
    const problems = [problem("cycle-failed"), problem("queries-overdue"), problem("remote-no-new-block")];
    const { part } = await pageOf({ problems, queries: [sampleView()] });
    expect(part("verdict")).toContain("A remote chain has no new block");
    expect(part("connections")).toContain("✕ </span>remote-no-new-block</span>");
  });

  it("calls nothing fine that was not tried, and does not count queries that were not read", async () => {
    const pending = sampleView({ state: "pending", resultAge: undefined });
    const { part } = await pageOf({ queries: [pending] });
    expect(part("connections")).toMatch(/\? <\/span>no result yet<.*>none yet</s);
    expect(part("connections")).not.toContain(">fine<");
    expect((await pageOf({ queries: [sampleView()] })).part("connections")).toMatch(
      /✓ <\/span>fine<.*>fine</s,
    );
    const unread = await pageOf({ loaded: false });
    expect(unread.part("connections")).not.toContain(">fine<");
    expect(unread.part("facts")).toContain("not read yet<small>the list of queries");
    expect(unread.part("queries")).toContain("The list of queries has not been read yet.");
    expect(unread.part("queries")).not.toContain("No query is registered");
  });

  it("says for how long the balance is enough, up to a year", async () => {
    const facts = async (daysLeft: number): Promise<string> =>
      (await pageOf({ account: { ...sampleStatus().account, daysLeft } })).part("facts");
    expect(await facts(2.5)).toContain("enough for 2 d 12 h at the current rate");
    expect(await facts(130_167_655)).toContain("enough for more than a year at the current rate");
  });

  it("says how late the latest query is", async () => {
    const late = (id: bigint, blocks: bigint, isOverdue = false) =>
      sampleView({ id, lateness: sampleLateness({ blocks, ms: 61_000, isOverdue }) });
    const { part } = await pageOf({ queries: [late(1n, 0n), late(2n, 9n), late(3n, 7n, true)] });
    expect(part("facts")).toContain(
      "2 current, 1 overdue<small>query 2 has been due longest, for 9 blocks, 61 s<",
    );
    expect([...part("queries").matchAll(/id="query-(\d+)"/g)].map(([, id]) => id)).toEqual(["3", "2", "1"]);
    expect(part("queries")).toContain(`<strong class="bad">7 blocks, 61 s</strong><small>limit 20</small>`);
  });

  it("shows heights, ages, client and balance, and what is not known yet", async () => {
    const { all } = await pageOf({ account: { ...sampleStatus().account, daysLeft: 12.7 } });
    for (const text of [
      "newest block 1 s ago",
      "07-tendermint-0 Active",
      "2 blocks behind",
      "in 1 d",
      "70 untrn",
      "enough for 12 d 16 h",
    ])
      expect(all).toContain(text);
    const unknown = (
      await pageOf({
        local: sampleHead({ height: undefined, sinceBlockMs: undefined }),
        account: { ...sampleStatus().account, balance: undefined },
        connections: [
          sampleConnection({
            remote: sampleHead({ height: undefined }),
            client: { reading: undefined, sinceReadMs: 0, error: undefined },
          }),
        ],
      })
    ).all;
    expect(unknown.match(/not known yet/g)).toHaveLength(3);
    expect(unknown.match(/no block read yet/g)).toHaveLength(2);
  });

  it("marks an expired client, an empty account and a lost event stream", async () => {
    const reading = sampleReading({ status: "Expired", expiresAtMs: 0 });
    const { all } = await pageOf({
      connected: false,
      account: { ...sampleStatus().account, balance: 0n },
      problems: [{ code: "account-cannot-pay", connectionId: undefined, text: "no coins" }],
      connections: [sampleConnection({ client: { reading, sinceReadMs: 0, error: undefined } })],
    });
    expect(all).toContain(`<dd class="bad">0 untrn`);
    expect(all).toContain("expired ");
    expect(all).toContain("</span>Expired</span>");
    expect(all).toContain(`<span class="warn">no WebSocket, so the height is polled`);
  });

  it("names the endpoints that are down or not trusted before all others", async () => {
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
    const list = (await pageOf({ endpoints: [sound, down, liar] })).part("endpoints");
    expect(list).toMatch(
      /down:1.*✕ <\/span>down<.*refused.*liar:1.*not trusted.*wrong response: bank\/00.*sound:1/s,
    );
    expect(list).toContain("3 endpoints, 2 not sound");
    expect((await pageOf({ endpoints: [sound] })).part("endpoints")).toContain("1 endpoint, all sound");
    const unchecked = { ...sound, name: "new:1", state: "unchecked", status: undefined } as const;
    expect((await pageOf({ endpoints: [sound, unchecked] })).part("endpoints")).toContain(
      "2 endpoints, 1 not checked yet",
    );
  });

  it("shows what was spent today, the limits, and which are used up", async () => {
    const { spending } = sampleStatus();
    expect((await pageOf()).part("cost")).toContain("<dd>0 untrn<small>no daily limit</small>");
    const gasByOwner = new Map([
      [EVIL, 4n],
      ["neutron1most", 9n],
    ]);
    const limits = { dailyFee: 10n, dailyGasPerOwner: 9n };
    const { part, all } = await pageOf({
      reserve: 5n,
      spending: { ...spending, fee: 10n, gasByOwner, limits },
    });
    expect(part("cost")).toContain(
      `<dd class="bad">10 untrn<small>the limit is reached: of 10 untrn</small>`,
    );
    expect(part("cost")).toContain("<dt>Never spent</dt><dd>5 untrn<");
    expect(part("cost")).toContain("2 owners with gas today, 1 budget used up");
    expect(part("cost")).toMatch(/neutron1most<\/code>.*9 of 9.*used up.*4 of 9.*left/s);
    expect(all).not.toContain("<script");
  });

  it("shows failures and the next try of a query that is backing off", async () => {
    const { part } = await pageOf({
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

  it("offers to send a dead letter again to those who may", async () => {
    const deadLetters = troubledRelayer().deadLetters();
    const of = async (resubmit: RelayerPageInput["resubmit"]) =>
      (await pageOf({}, { deadLetters: () => deadLetters, resubmit })).part("dead-letters");
    expect(await of("token")).toContain(`data-needs="token"`);
    expect(await of("token")).toContain(`data-body="{&quot;txs&quot;:[{&quot;query_id&quot;:7,`);
    expect(await of("open")).toContain(`data-needs="open"`);
    expect(await of("nobody")).not.toContain("<button");
    expect(await of("nobody")).toContain("needs <code>http.token</code>");
    const many = Array.from({ length: 25 }, () => deadLetters)
      .flat()
      .slice(0, 25);
    const text = (await pageOf({}, { deadLetters: () => many })).part("dead-letters");
    expect(text.match(/<button/g)).toHaveLength(20);
    expect(text).toContain("5 more dead letters");
  });

  it("has the verdict in the title of every page, so that a tab tells of a problem", async () => {
    const pages = relayerPages(troubledRelayer);
    for (const { path, name } of pages)
      if (name !== undefined)
        expect((await pageContent(pages, path)).title).toMatch(/^\(2\) A remote chain cannot be reached – /);
  });

  it("shows amounts in display units, with the exact amount as their title", async () => {
    const unit = { denom: "untrn", name: "NTRN", exponent: 6 };
    const account = { ...sampleStatus().account, balance: 987_654_321_987_654n, unit };
    const exact = "987\u202f654\u202f321.987654 NTRN (987\u202f654\u202f321\u202f987\u202f654 untrn)";
    expect((await pageOf({ account })).part("facts")).toContain(
      `<span title="${exact}">987\u202f654\u202f321 NTRN</span>`,
    );
  });

  it("has amounts of another denomination, and of none that has a unit, in base units", async () => {
    const unit = { denom: "uatom", name: "ATOM", exponent: 6 };
    const account = { ...sampleStatus().account, balance: 1_234_567n };
    for (const other of [undefined, unit])
      expect((await pageOf({ account: { ...account, unit: other } })).part("facts")).toContain(
        ">1\u202f234\u202f567 untrn<",
      );
    expect((await pageOf({ account: { ...account, unit: undefined } })).part("facts")).toContain(
      `<div class="wide"><dt>Balance`,
    );
  });

  it("counts an overdue query that fails as overdue, as the problem does", async () => {
    const overdue = sampleView({
      lateness: sampleLateness({ blocks: 41n, isOverdue: true }),
      state: "backing_off",
      error: { code: "read-failed", reason: "no" },
    });
    const facts = (await pageOf({ queries: [overdue, sampleView({ id: 2n })] })).part("facts");
    expect(facts).toContain(`<dd class="bad">1 current, 1 overdue<small>`);
  });

  it("calls a query current when nothing is due, and due when it is late by less than its limit", async () => {
    const due = sampleView({ id: 2n, lateness: sampleLateness({ blocks: 1n }) });
    const { part } = await pageOf({ queries: [sampleView(), due] });
    expect(part("queries").match(/✓ <\/span>\w+/g)).toEqual(["✓ </span>due", "✓ </span>current"]);
  });

  it("gives no current price of a market that was not read for long", async () => {
    const market = sampleMarket({ sinceReadMs: 3_600_000 });
    expect((await pageOf({ market })).part("facts")).toMatch(
      /<dt>Gas price<\/dt><dd class="unknown">0\.0026 untrn<small>read \S+ \w+ ago/,
    );
  });

  it("has a filter for many queries only, and for one that selects less than all", async () => {
    const filterOf = async (count: number, query = "") =>
      (
        await pageContent(
          relayerPages(() => healthyRelayer(count)),
          "/",
          { query },
        )
      ).sections.some(({ content }) => content.text.includes("<form"));
    expect(await filterOf(10)).toBe(false);
    expect(await filterOf(11)).toBe(true);
    expect(await filterOf(10, "search=connection-1")).toBe(true);
  });
});

describe("the attempts", () => {
  it("are the newest 50 of all queries, or of one", async () => {
    const filters: unknown[] = [];
    const find: RelayerPageInput["attempts"]["find"] = (filter) => {
      filters.push(filter);
      return healthyRelayer().attempts.find(filter);
    };
    const pages = relayerPages(() => ({ ...healthyRelayer(), attempts: { find } }));
    const all = await pageContent(pages, "/attempts");
    await pageContent(pages, "/queries/:id", { params: { id: "2" } });
    expect(filters).toEqual([{ limit: 50 }, { limit: 50, queryId: 2n }]);
    expect(all.sections[1]?.content.text).toContain(`<a href="/queries/3">3</a>`);
    const none = relayerPages(() => ({ ...healthyRelayer(), attempts: { find: async () => [] } }));
    expect((await pageContent(none, "/attempts")).sections[1]?.content.text).toContain(
      "No attempt is stored",
    );
  });
});

describe("the page of a query", () => {
  const open = async (id: string, fields: Partial<QueryView> = {}, type: "kv" | "tx" = "kv") => {
    const healthy = healthyRelayer(3);
    const queries = healthy.status.queries.map((query) => ({ ...query, ...fields }));
    const registry = {
      states: () => [1n, 2n, 3n].map((one) => sampleState({ id: one, type, transactionsFilter: EVIL })),
    };
    const pages = relayerPages(() => ({ ...healthy, registry, status: { ...healthy.status, queries } }));
    const { title, status, sections } = await pageContent(pages, "/queries/:id", { params: { id } });
    return { title, status, text: sections.map(({ content }) => content.text).join("\n") };
  };

  it("says that the query is current, what it asks, and its last attempts", async () => {
    const { title, status, text } = await open("2", { lastRemoteHeight: 9n, unchangedSince: 7n });
    expect([title, status]).toEqual(["Query 2 is current – relayer", undefined]);
    expect(text).toContain("of remote height 9, values unchanged since block 7");
    expect(text).toContain(`<a href="/api/queries/2">As JSON</a>`);
    expect(text.match(/✓ <\/span>included/g)).toHaveLength(8);
    expect(text.match(/<th scope="col"[^>]*>query<\/th>/g)).toBeNull();
    expect(text).toContain("? </span>superseded");
    expect(text).toMatch(/✕ <\/span>rejected<\/span><small>the contract failed: &lt;b&gt;no&lt;\/b&gt;/);
    expect(text).toMatch(/store <code>\w+<\/code>, key <code>[0-9a-f]+<\/code>/);
  });

  it.each([
    [
      "fails: rejected",
      { state: "backing_off", failures: 3, retryInMs: 4_400, error: { code: "rejected", reason: "no" } },
      "3 failures since the last result; next try in 5 s",
    ],
    [
      "is overdue",
      { lateness: sampleLateness({ blocks: 21n, ms: 42_000, isOverdue: true }) },
      "Due for 21 blocks, 42 s; overdue after 20 blocks",
    ],
    ["has no result yet", { state: "pending", resultAge: undefined }, "none yet"],
    ["is requested by an operator", { isRequested: true }, "!"],
    [
      "waits for a new remote block",
      { lateness: sampleLateness({ blocks: 3n, unanswerable: "no-newer-remote-block" }) },
      "Due for 3 blocks",
    ],
  ] as const)("says that the query %s, and why", async (verdict, fields, reason) => {
    const { title, text } = await open("2", fields);
    expect(title).toBe(`Query 2 ${verdict} – relayer`);
    expect(text).toContain(reason);
    expect(text).not.toContain("verdict good");
  });

  it("shows of a TX query when it was searched, which is no result, and its filter", async () => {
    const { text } = await open("1", { type: "tx", lastRemoteHeight: undefined }, "tx");
    expect(text).toContain("<dt>Last search</dt><dd>2 s ago<small>1 block ago</small>");
    expect(text).toContain("Transactions that match <code>&lt;script&gt;");
  });

  it.each(["9", "x", "1e3", "0x1", "<b>", ""])("says that there is no query %s", async (id) => {
    const { status, text } = await open(id);
    expect(status).toBe(404);
    expect(text).toContain("There is no such query here");
    expect(text).not.toContain("<b>");
  });
});
