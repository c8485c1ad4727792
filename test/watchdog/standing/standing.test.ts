import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import { standingSection } from "../../../src/watchdog/page/chain-sections.ts";
import { type Standing, standingOf } from "../../../src/watchdog/policy/standing.ts";
import { standingJson, standingSchema } from "../../../src/watchdog/policy/standing-json.ts";
import { sharedText } from "../../../src/watchdog/policy/standing-texts.ts";
import { createWatchdogMetrics } from "../../../src/watchdog/polling/metrics.ts";
import { encodeValidatorData, parseValidatorData } from "../../../src/watchdog/report/report-data.ts";
import { monthReport } from "../../../src/watchdog/report/month-report.ts";
import { statusReport } from "../../../src/watchdog/report/status-report.ts";
import type { PeerComparison } from "../../../src/watchdog/sources/standing-readings.ts";
import { buildValidator, SCENE_MS } from "../../support/pages/watchdog-scenes.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";
import {
  all,
  type Change,
  failed,
  healthyFrame,
  notConfigured,
  START_MS,
  up,
  withChain,
  withPage,
  withSigningInfo,
  withSlashing,
  withoutSlashing,
} from "../../support/watchdog/frames.ts";

const standingBy = (...changes: readonly Change[]): Standing =>
  standingOf(all(...changes)(healthyFrame(START_MS)).observation, 1000);

const outOfSet = withChain(() => ({ validator: up({ size: 19, isInSet: false, votingPower: 0n }) }));
/** The latest block is a second old. */
const BLOCK_MS = START_MS - 1000;

const signing: PeerComparison = {
  measure: "signing",
  since: "signing window",
  own: { good: 9988n, total: 10_000n },
  rank: 3,
  compared: 20,
  notBetter: 17,
  median: { good: 9970n, total: 10_000n },
};
const peers = withChain(() => ({
  peers: up({ atMs: START_MS - 300_000, comparisons: [signing], notes: ["the chain has no revenue module"] }),
}));
const votes = withPage(() => ({
  voteComparison: { ...signing, measure: "votes", since: "start of the node", rank: 1 },
}));
const commits = withChain(() => ({
  validator: up({
    size: 20,
    isInSet: true,
    votingPower: 10n,
    commits: { seen: 10, missed: 4, others: 19, missing: 6, power: { others: 190n, missing: 59n } },
  }),
}));

describe("standingOf", () => {
  it.each<[string, readonly Change[], Standing["jail"]["state"]]>([
    ["a validator in the set", [], "active"],
    ["one that is not jailed, out of the set", [outOfSet], "active"],
    ["one that the staking module has jailed", [withSlashing(() => ({ isJailed: true }))], "jailed"],
    [
      "one whose jail has not ended, without operator_address",
      [withoutSlashing("isJailed"), withSigningInfo({ jailedUntilMs: BLOCK_MS + 1 })],
      "jailed",
    ],
    [
      "one whose jail has just ended, without operator_address",
      [withoutSlashing("isJailed"), withSigningInfo({ jailedUntilMs: BLOCK_MS }), outOfSet],
      "unknown",
    ],
    [
      "one that is in the set again, without operator_address",
      [withoutSlashing("isJailed"), withSigningInfo({ jailedUntilMs: BLOCK_MS })],
      "active",
    ],
    ["one that is tombstoned", [withSigningInfo({ isTombstoned: true })], "tombstoned"],
    ["one that was never in the set", [withoutSlashing("info", "isJailed"), outOfSet], "unknown"],
    ["a chain that cannot be read", [withChain(() => ({ slashing: failed() }))], "unknown"],
  ])("says whether it is jailed: %s", (_case, changes, state) => {
    expect(standingBy(...changes).jail.state).toBe(state);
  });

  it("names the command of a release, with everything of another host quoted", () => {
    const jailedOn = (chainId: string, more: object = {}) =>
      standingBy(
        withSlashing(() => ({
          isJailed: true,
          unjail: { program: "neutrond", from: "neutron1own", ...more },
        })),
        withChain(({ head }) => ({ head: head.state === "up" ? up({ ...head.value, chainId }) : head })),
      ).jail.command;
    expect(jailedOn("neutron-1", { gasPrice: "0.0053untrn" })).toBe(
      "neutrond tx slashing unjail --from neutron1own --chain-id neutron-1 --gas auto --gas-adjustment 1.5 --gas-prices 0.0053untrn",
    );
    expect(jailedOn("$(reboot)'x")).toContain(String.raw`--chain-id '$(reboot)'\''x' --gas auto`);
    expect(jailedOn("neutron-1")).toMatch(/--gas-adjustment 1\.5$/);
  });

  it.each<[string, Change, RegExp]>([
    [
      "no configuration",
      withChain(() => ({ slashing: notConfigured })),
      /needs chain\.rest and consensus_address/,
    ],
    ["a failure", withChain(() => ({ slashing: failed("timeout") })), /cannot be read: timeout by a test/],
    [
      "a chain without the module",
      withChain(() => ({ slashing: { state: "absent", durationMs: 1 } })),
      /no slashing module/,
    ],
    ["an address that was never in the set", withoutSlashing("info"), /never in the set/],
  ])("says why it cannot see the window: %s", (_case, change, note) => {
    const { window, windowNote } = standingBy(change);
    expect(window).toBeUndefined();
    expect(windowNote).toMatch(note);
    expect(standingBy().windowNote).toBeUndefined();
  });

  it("has the times of the window", () => {
    const growing = withSlashing(() => ({ growth: { missed: 30n, blocks: 60n } }));
    expect(standingBy(growing, withSigningInfo({ missedBlocks: 9000n })).window).toMatchObject({
      allMissedMs: 501_000,
      presentMs: 1_002_000,
    });
    expect(standingBy(withSigningInfo({ missedBlocks: 9000n })).window?.presentMs).toBeUndefined();
  });

  it("takes the votes of the node's counters only where the chain pays for none", () => {
    expect(
      standingBy(peers, votes).peers.comparisons.map(({ measure, since, atMs }) => [measure, since, atMs]),
    ).toEqual([
      ["signing", "signing window", START_MS - 300_000],
      ["votes", "start of the node", START_MS],
    ]);
    const paid = withChain(() => ({
      peers: up({ atMs: START_MS, comparisons: [{ ...signing, measure: "votes" as const }], notes: [] }),
    }));
    expect(standingBy(paid, votes).peers.comparisons.map(({ since }) => since)).toEqual(["signing window"]);
    expect(standingBy(withChain(() => ({ peers: failed() }))).peers).toEqual({
      comparisons: [],
      notes: ["the other validators cannot be read: refused by a test"],
    });
  });
});

describe("sharedText", () => {
  const shared = { seen: 10, missed: 4, others: 19 };
  it.each([
    [{ ...shared, missing: 0 }, "alone: none of the 19 other validators misses votes"],
    [{ ...shared, missing: 6 }, "not alone: 6 of the 19 other validators miss votes too"],
    [
      { ...shared, missing: 6, power: { others: 190n, missing: 59n } },
      "not alone: 6 of the 19 other validators miss votes too, with 31 % of their power",
    ],
    [{ ...shared, others: 1, missing: 1 }, "not alone: the only other validator misses votes too"],
    [{ ...shared, others: 0, missing: 0 }, "the set has no other validator"],
  ])("of %o", (one, text) => {
    expect(sharedText(one, "votes")).toBe(text);
  });
});

/** Every part that a standing can have. */
const FULL = standingBy(
  peers,
  votes,
  commits,
  withSlashing(() => ({ growth: { missed: 30n, blocks: 60n } })),
  withSigningInfo({ missedBlocks: 9000n }),
);
const JAILED = standingBy(
  outOfSet,
  withSigningInfo({ jailedUntilMs: SCENE_MS + 540_000 }),
  withSlashing(() => ({ isJailed: true, unjail: { program: "neutrond", from: "neutron1own" } })),
);

describe("what is shown of a standing", () => {
  it.each([
    ["one with every part", FULL],
    ["a jailed one", JAILED],
    ["one that cannot be seen", standingBy(withChain(() => ({ slashing: failed() })))],
    ["one without a rate", standingBy(withoutSlashing("growth"))],
  ])("is JSON that reads back as the same: %s", (_case, standing) => {
    const wire: unknown = JSON.parse(JSON.stringify(standingJson(standing)));
    expect(standingSchema.parse(wire)).toEqual(standing);
  });

  it("refuses JSON that is none", () => {
    const wire = { ...standingJson(FULL), commits: { seen: "10" } };
    expect(() => standingSchema.parse(wire)).toThrow("seen");
  });

  it("has the window, the others and their ranks on the page", () => {
    const { status } = buildValidator({ status: { standing: FULL, polledAtMs: START_MS } });
    const { text } = standingSection(status);
    for (const part of [
      "not jailed",
      "10.0000 %",
      "9 000 of 9 500 allowed misses used".replaceAll(" ", "."),
      "in 501 s (501 blocks)",
      "in 16 min 42 s (1,002 blocks): 30 of the last 60 blocks missed",
      "4 of 10 missed",
      "not alone: 6 of the 19 other validators miss commits too, with 31 % of their power",
      "0 of 30 missed",
      "99.8800 %",
      "99.7000 %",
      "3 of 20",
      "89 %",
      "300 s before",
      "this poll",
    ])
      expect(text).toMatch(new RegExp(part.replaceAll(/[()+?]/g, String.raw`\$&`)));
    const jailed = standingSection(buildValidator({ status: { standing: JAILED } }).status).text;
    expect(jailed).toContain("from 2026-11-21 12:14:05 UTC on, in 542 s");
    expect(jailed).toContain("<code>neutrond tx slashing unjail --from neutron1own --chain-id test-1");
    expect(jailed).not.toContain("Misses left");
    expect(standingSection(buildValidator({}).status).text).toBe("");
  });

  it("escapes what other hosts sent", () => {
    const { standing } = { standing: { ...FULL, peers: { comparisons: [], notes: ["<script>"] } } };
    const { text } = standingSection(buildValidator({ status: { standing } }).status);
    expect(text).toContain("&lt;script&gt;");
    expect(text).not.toContain("<script>");
  });

  const [data = expect.unreachable("no validator")] = sampleValidators(1, 2, SCENE_MS);
  const now = (standing: Standing | undefined) => ({
    polledAtMs: SCENE_MS,
    nowMs: SCENE_MS,
    storeProblem: undefined,
    validators: [standing === undefined ? data : { ...data, standing }],
    alerts: [],
  });
  const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

  it("is in the status report, and nothing of it without a chain", () => {
    const text = flat(renderReport(statusReport(now(FULL)), "text"));
    for (const part of [
      "signing window: 10.0000 % of 10,000 blocks signed, 9,000 of the 9,500 misses that a window of 10,000 blocks allows are used, 500 left.",
      "jail if every block is missed from now on: in 501 s (501 blocks); at the current rate: in 16 min 42 s",
      "it missed 4 of the last 10 commits that were compared; not alone: 6 of the 19",
      "it missed 0 of the last 30 votes that were compared; 0 of 19 other validators missed half of them or more.",
      "signed blocks, signing window 99.8800 % 99.7000 % 3 of 20 89 %",
      "cannot see more: the chain has no revenue module.",
    ])
      expect(text).toContain(part);
    expect(flat(renderReport(statusReport(now(JAILED)), "text"))).toContain(
      'jailed: it can be released from 2026-11-21 12:14:05 UTC on, in 540 s, by "neutrond tx slashing unjail --from neutron1own --chain-id test-1 --gas auto --gas-adjustment 1.5".',
    );
    expect(flat(renderReport(statusReport(now(undefined)), "text"))).not.toMatch(/window|jail|Rank/);
  });

  it("is in the report of the open month, and not in that of a closed one", () => {
    const report = (month: string) => flat(renderReport(monthReport(now(FULL).validators, month), "text"));
    expect(report(data.assessment.month)).toContain("Compared with the other validators in the set");
    expect(report(data.assessment.month)).toContain("oracle votes, start of the node");
    const [closed = expect.unreachable("no closed month")] = data.ledger
      .months()
      .map(({ month }) => month)
      .filter((month) => month !== data.assessment.month);
    expect(report(closed)).not.toContain("Compared with");
  });

  it("goes to the command line with the report data", () => {
    const range = { fromMs: SCENE_MS - 3_600_000, toMs: SCENE_MS };
    const wire: unknown = JSON.parse(
      JSON.stringify(encodeValidatorData({ ...data, standing: FULL }, range, SCENE_MS)),
    );
    expect(parseValidatorData(wire).standing).toEqual(FULL);
    const older: unknown = JSON.parse(JSON.stringify(encodeValidatorData(data, range, SCENE_MS)));
    expect(parseValidatorData(older)).not.toHaveProperty("standing");
  });

  it("is in the metrics, and what is not known is absent", async () => {
    const metrics = createWatchdogMetrics(new Registry(), []);
    const show = async (standing: Standing | undefined): Promise<string> => {
      metrics.showStatus(buildValidator({ status: standing === undefined ? {} : { standing } }).status);
      return metrics.page();
    };
    const page = await show(FULL);
    for (const line of [
      'jail_state{validator="default",chain_id="neutron-1",state="active"} 1',
      'slashing_window_blocks{validator="default",chain_id="neutron-1"} 10000',
      'slashing_missed_blocks{validator="default",chain_id="neutron-1"} 9000',
      'slashing_misses_left{validator="default",chain_id="neutron-1"} 500',
      'signed_ratio{validator="default",chain_id="neutron-1"} 0.1',
      'jail_seconds{validator="default",chain_id="neutron-1",basis="all_missed"} 501',
      'jail_seconds{validator="default",chain_id="neutron-1",basis="present_rate"} 1002',
      'others{validator="default",chain_id="neutron-1",kind="commits"} 19',
      'others_missing{validator="default",chain_id="neutron-1",kind="commits"} 6',
      'others_missing{validator="default",chain_id="neutron-1",kind="votes"} 0',
      `others_missing_power_ratio{validator="default",chain_id="neutron-1"} ${59 / 190}`,
      'rank{validator="default",chain_id="neutron-1",measure="signing"} 3',
      'compared_validators{validator="default",chain_id="neutron-1",measure="votes"} 20',
      `percentile_ratio{validator="default",chain_id="neutron-1",measure="signing"} ${17 / 19}`,
      'own_ratio{validator="default",chain_id="neutron-1",measure="signing"} 0.9988',
      'others_median_ratio{validator="default",chain_id="neutron-1",measure="signing"} 0.997',
      `comparison_timestamp_seconds{validator="default",chain_id="neutron-1",measure="signing"} ${(START_MS - 300_000) / 1000}`,
    ])
      expect(page).toContain(`oracle_watchdog_${line}\n`);
    expect(page).not.toMatch(/^oracle_watchdog_jailed_until/m);
    const jailed = await show(JAILED);
    expect(jailed).toContain(`} ${(SCENE_MS + 540_000) / 1000}\n`);
    expect(jailed).toMatch(/^oracle_watchdog_jailed_until_timestamp_seconds\{/m);
    expect(jailed).not.toMatch(/^oracle_watchdog_(?:jail_seconds|slashing|signed)/m);
    expect(await show(undefined)).not.toMatch(/^oracle_watchdog_(?:jail|slashing|signed|others|rank)/m);
  });
});
