import { alertView } from "../../../src/watchdog/alerts/alert-status.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { alertEvent } from "../../support/watchdog/alert-event.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { describe, expect, it } from "vitest";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { monthStrip, type StripDay, stripOf, stripPart } from "../../../src/watchdog/page/month-plots.ts";
import { type WatchdogPageInput, watchdogPages } from "../../../src/watchdog/page/create-page.ts";
import { SPECIFIED_LEAST } from "../../../src/watchdog/policy/reward-tier.ts";
import {
  alertState,
  buildNewMonth,
  buildValidator,
  HEALTHY,
  LOST,
  type NewMonth,
  pageOf,
  SCENE_MS,
  TROUBLED,
  type ValidatorScene,
  watchdogText,
} from "../../support/pages/watchdog-scenes.ts";
import { pageContent, pagesText } from "../../support/pages/page-contents.ts";

const MONTH = { fromMs: Date.UTC(2026, 10, 1), toMs: SCENE_MS + 1 };

const EVIL = `<script>alert("x")</script>&'`;

const firstText = (input: WatchdogPageInput): string =>
  pagesText(
    watchdogPages(() => input),
    ["/"],
  );

const shown = (scene: ValidatorScene, more: Partial<WatchdogPageInput> = {}): string =>
  watchdogText(pageOf([buildValidator(scene)], more));

const payOf = (scene: ValidatorScene): string =>
  /<div class="verdict (\w+)"><p class="headline.*?<\/span>(.*?)<\/p>/
    .exec(shown(scene))
    ?.slice(1)
    .join(": ") ?? "";

const at = (share: number): ValidatorScene => ({ hour: () => share });

describe("the pay status of a validator", () => {
  it.each([
    ["no bad block", HEALTHY, "good: Paid in full at the current rate"],
    [
      "a rate between the boundaries",
      at(0.025),
      "warn: Losing: this month is paid in part at its current rate",
    ],
    ["a rate below both", at(0.06), "bad: Losing: this month pays nothing at its current rate"],
    ["a month that cannot be saved", LOST, "bad: Lost: this month pays nothing, whatever happens now"],
    ["full pay that cannot be saved", at(0.03), "warn: Full pay is lost: this month is paid in part"],
    [
      "a critical alert",
      { ...HEALTHY, alerts: [alertState("sidecar-down", "firing")] },
      "bad: Losing: sidecar down",
    ],
    [
      "a critical alert, and a rate below both",
      { ...at(0.06), alerts: [alertState("sidecar-down", "firing")] },
      "bad: Losing: sidecar down",
    ],
    [
      "a warning",
      { ...HEALTHY, alerts: [alertState("clock-skew", "firing")] },
      "warn: Paid in full so far, with a warning: clocks differ",
    ],
    [
      "a pending alert",
      { ...HEALTHY, alerts: [alertState("sidecar-down", "pending")] },
      "warn: Paid in full so far; not firing yet: sidecar down",
    ],
    [
      "an alert for information only",
      { ...HEALTHY, alerts: [alertState("cannot-see-oracle-metrics", "firing")] },
      "good: Paid in full at the current rate",
    ],
    [
      "an old poll",
      { ...HEALTHY, status: { polledAtMs: SCENE_MS - 19_000 } },
      "unknown: Cannot see: the watchdog no longer polls",
    ],
    [
      "no poll",
      { ...HEALTHY, status: { polledAtMs: undefined } },
      "unknown: Cannot see: the first poll has not finished yet",
    ],
    [
      "a node that cannot be read",
      { ...HEALTHY, alerts: [alertState("cannot-see-node", "firing")] },
      "unknown: Cannot see: no node can be read",
    ],
    [
      "a last poll without a node",
      { ...HEALTHY, status: { sources: [] } },
      "unknown: Cannot see: the last poll could not read any node",
    ],
    [
      "no counted block",
      { hour: () => "unknown" },
      "unknown: Cannot see: no block of this month has been counted yet",
    ],
  ] satisfies readonly [string, ValidatorScene, string][])("with %s", (_name, scene, expected) => {
    expect(payOf(scene)).toBe(expected);
  });

  const early = (month: NewMonth): string => {
    const built = buildNewMonth(month);
    const text = watchdogText(pageOf([built], { nowMs: built.status.polledAtMs ?? 0 }));
    return (
      /<div class="verdict (\w+)"><p class="headline.*?<\/span>(.*?)<\/p>/.exec(text)?.slice(1).join(": ") ??
      ""
    );
  };

  it.each([
    [
      "its blocks are bad",
      { good: 0, bad: 57 },
      "unknown: Too early to say: 57 blocks of this month seen, 57 of them bad",
    ],
    [
      "its block is good",
      { good: 1, bad: 0 },
      "unknown: Too early to say: 1 block of this month seen, none of them bad",
    ],
    [
      "it misses one to be evaluated",
      { good: 1_000, bad: 799 },
      "unknown: Too early to say: 1\u202f799 blocks of this month seen, 799 of them bad",
    ],
    [
      "it can be evaluated",
      { good: 1_000, bad: 800 },
      "bad: Losing: this month pays nothing at its current rate",
    ],
    [
      "recent days were good",
      { good: 0, bad: 57, recent: 0.001 },
      "good: Paid in full at the rate of recent days",
    ],
    [
      "recent days were bad",
      { good: 57, bad: 0, recent: 0.06 },
      "bad: Losing: this month pays nothing at the rate of recent days",
    ],
    [
      "recent days were in between",
      { good: 57, bad: 0, recent: 0.03 },
      "warn: Losing: this month is paid in part at the rate of recent days",
    ],
    [
      "a critical alert fires",
      { good: 0, bad: 57, alerts: [alertState("sidecar-down", "firing")] },
      "bad: Losing: sidecar down",
    ],
    [
      "a warning fires",
      { good: 57, bad: 0, alerts: [alertState("clock-skew", "firing")] },
      "warn: Too early to say: 57 blocks of this month seen, none of them bad, with a warning: clocks differ",
    ],
    [
      "an alert is pending",
      { good: 57, bad: 0, recent: 0, alerts: [alertState("sidecar-down", "pending")] },
      "warn: Paid in full at the rate of recent days; not firing yet: sidecar down",
    ],
    [
      "an alert is pending, and the watchdog is new",
      { good: 50, bad: 7, alerts: [alertState("sidecar-down", "pending")] },
      "warn: Too early to say: 57 blocks of this month seen, 7 of them bad; not firing yet: sidecar down",
    ],
    [
      "it is lost all the same",
      { good: 0, bad: 57, remaining: 900 },
      "bad: Lost: this month pays nothing, whatever happens now",
    ],
    [
      "it cannot lose any more of what is known",
      { good: 990, bad: 0, recent: 0, remaining: 10 },
      "good: Paid in full at the rate of recent days",
    ],
    [
      "it cannot lose any more",
      { good: 990, bad: 0, remaining: 10 },
      "unknown: Too early to say: 990 blocks of this month seen, none of them bad",
    ],
  ] satisfies readonly [string, NewMonth, string][])(
    "of a month with few blocks, when %s",
    (_name, month, expected) => {
      expect(early(month)).toBe(expected);
    },
  );

  it.each([
    [{ good: 0, bad: 57 }, "too early to say"],
    [{ good: 1_000, bad: 800 }, "no pay"],
    [{ good: 1_800, bad: 0 }, "full pay"],
  ] as const)("of %o blocks says what the rate pays: %s", (month, means) => {
    const built = buildNewMonth(month);
    const text = firstText(pageOf([built], { nowMs: built.status.polledAtMs ?? 0 }));
    expect(/Success rate of 2026-11.*?<small>(.*?)<\/small>/s.exec(text)?.[1]).toMatch(
      new RegExp(`^${means};`),
    );
  });

  it("of a month with few blocks forecasts no pay without another basis", () => {
    const pay = (month: NewMonth) => {
      const [a, b] = [buildNewMonth(month), buildValidator({ ...HEALTHY, name: "b" })];
      return pageOf([a, b], { nowMs: a.status.polledAtMs ?? 0 });
    };
    const [unfounded, founded] = [pay({ good: 50, bad: 7 }), pay({ good: 50, bad: 7, recent: 0 })];
    const text = watchdogText(unfounded);
    expect(text).toMatch(/Pay of this month.*?too early to say/s);
    expect(text).toMatch(/Pay at the end, forecast.*?not known yet.*?needs 1\u202f800 blocks/s);
    expect(text).toContain("87.7192 % now; no forecast yet");
    expect(firstText(unfounded)).toContain("1 validator of 2: too early to say; 1 paid in full");
    const rowOf = (page: string) => /id="row-default".*?<\/tr>/s.exec(page)?.[0];
    const none = /data-label="forecast" class="number minor"><span>–/;
    expect(rowOf(firstText(unfounded))).toMatch(none);
    expect(rowOf(firstText(founded))).not.toMatch(none);
    expect(text).not.toContain("b-band");
    expect(watchdogText(founded)).toContain("b-band");
    expect(watchdogText(founded)).toMatch(/99\.99\d\d % at the end .* from the recent days/);
  });

  it("is never green without a full tier", () => {
    for (const share of [0.021, 0.04, 0.051, 0.5, 1]) expect(payOf(at(share))).not.toMatch(/^good/);
  });
});

describe("the watchdog's page", () => {
  it("escapes texts of other hosts and of people", () => {
    const evil: Partial<WatchdogStatus> = {
      chainId: EVIL,
      pairs: [EVIL],
      sources: [{ name: "node", node: EVIL, up: true, error: EVIL, lastSuccessMs: undefined, durationMs: 1 }],
      pending: new Map([[EVIL, 1]]),
    };
    const alerts = [alertState("sidecar-down", "firing", { reason: EVIL, quietReason: EVIL })];
    const silence = {
      id: "1",
      alerts: [EVIL],
      validators: [EVIL],
      author: EVIL,
      reason: EVIL,
      startsAtMs: 0,
      endsAtMs: SCENE_MS + 1,
    };
    const start = { kind: "once", atMs: SCENE_MS } as const;
    const maintenance = [{ reason: EVIL, validators: [], durationMs: 1_000, start }];
    const text = shown({ name: EVIL, alerts, status: evil }, { silences: [silence], maintenance });
    expect(text).not.toContain("<script");
    expect(text.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(10);
  });

  it("says what an open condition means, when a pending one fires, and what it cost", () => {
    const text = shown(TROUBLED, { runbooks: "https://example.org/runbooks/" });
    expect(text).toContain(
      'Fires at <time datetime="2026-11-21T12:13:50.000Z">2026-11-21 12:13:50 UTC</time>, in 527 s, unless it ends first.',
    );
    expect(text).toMatch(
      /To do:<\/strong> Start the sidecar[^\n]*<p><small class="muted">Also: <span id="condition-default-oracle-calls-failing" title="100 % of 150 blocks failed"><a href="https:\/\/example\.org\/runbooks\/oracle-calls-failing\.md">[^<]+<\/a> \(muted\)<\/span>\.<\/small><\/p><\/details><\/li>/,
    );
    expect(text.match(/<li id="condition-/g)).toHaveLength(3);
    expect(text).toContain(`<a href="https://example.org/runbooks/sidecar-down.md">Runbook</a>`);
    expect(text).toMatch(
      /<strong>Sidecar down<\/strong>.*Every failed call is a missed oracle vote.*To do:<\/strong> Start the sidecar/s,
    );
    expect(text).toMatch(/\d blocks, \d+ % of what full pay allows this month \([\d,]+\); the month/);
    const order = [...text.matchAll(/id="condition-default-([\w-]+)"/g)].map(([, name]) => name);
    expect(order).toEqual(["sidecar-down", "oracle-calls-failing", "full-reward-at-risk", "grpc-closed"]);
    expect(shown(TROUBLED)).toContain('<a href="/runbooks/sidecar-down.md">Runbook</a>');
    expect(shown(HEALTHY)).toContain(`None of the ${CONDITIONS.length} conditions held at the last poll.`);
  });

  it("says until when an echo is muted, and is green then", () => {
    const quietReason = "muted until 12:07 UTC, because sidecar-down has just ended";
    const heldUntilMs = Date.UTC(2026, 10, 21, 12, 7);
    const held = alertState("oracle-calls-failing", "pending", { heldUntilMs, quietReason });
    const text = shown({ ...HEALTHY, alerts: [held] });
    expect(text).toContain("muted until 12:07 UTC</span> <strong>Oracle calls fail</strong>");
    expect(text).toContain(`Not notified: ${quietReason}.`);
    expect(text).toContain('Fires at <time datetime="2026-11-21T12:07:00.000Z">');
    expect(text).not.toContain("not firing yet");
    const { rules } = alertsSchema.parse({});
    const rule =
      rules.find(({ condition }) => condition.name === held.alert) ?? expect.unreachable("no rule");
    expect(alertView.json({ validator: "default", rule, state: held, escalation: undefined })).toMatchObject({
      held_until: "2026-11-21T12:07:00.000Z",
      fires_at: "2026-11-21T12:07:00.000Z",
      quiet: quietReason,
    });
  });

  it("has the allowance in blocks and time, its share, and what the rest needs", () => {
    const text = shown(TROUBLED);
    expect(text).toContain("4\u202f226 more bad blocks or 2 h 20 min of outage until full pay is lost");
    expect(text).toContain('aria-label="16.4 % of the allowance left"');
    expect(text).toMatch(/full pay \(98 %\).*4\u202f226.*2 h 20 min.*98\.97 %.*any pay \(95 %\)/s);
    expect(shown(LOST)).toMatch(/✕ <\/span>lost.*too many.*0 s.*cannot be reached/s);
    expect(shown(LOST)).toContain("all pay of this month is lost");
  });

  it("names the next risk: what comes first, at the loss of the last hours", () => {
    const riskOf = (scene: ValidatorScene) =>
      /<dt>Next risk<\/dt><dd(?: class="(\w+)")?>(.*?)<small>(.*?)<\/small>/
        .exec(shown(scene))
        ?.slice(1)
        .join(", ");
    expect(riskOf(HEALTHY)).toBe(", none seen, no loss is ongoing, and no upgrade is known");
    // The verdict says "Losing", and this must not say the opposite beside it.
    expect(riskOf(TROUBLED)).toBe("warn, pay, now, how soon it is lost is not known yet");
    const { assessment } = buildValidator(TROUBLED).status;
    const headroom = assessment?.headroom.map((one) => ({ ...one, burnRates: { "1h": 50 } }));
    const burning = assessment && headroom && { ...assessment, headroom };
    expect(riskOf({ ...TROUBLED, status: { assessment: burning } })).toBe(
      "bad, full pay lost in 2 h 20 min, if blocks are missed as in the last few hours",
    );
    const jail = { state: "jailed" } as const;
    const peers = { comparisons: [], notes: [] };
    const standing = { jail, window: undefined, windowNote: "", commits: undefined, votes: undefined, peers };
    expect(riskOf({ ...HEALTHY, status: { standing } })).toMatch(/^bad, jailed, /);
  });

  it("names the cause of each incident and its share of the allowance, and no alert about the count as a cause", () => {
    const past = (alert: string) => ({
      validator: "default",
      alert,
      title: alert,
      severity: "critical" as const,
      sinceMs: Date.UTC(2026, 10, 9, 9),
      firedAtMs: Date.UTC(2026, 10, 9, 9),
      resolvedAtMs: Date.UTC(2026, 10, 9, 10),
      reason: "",
    });
    const history = [past("any-reward-fast-burn"), past("sidecar-down")];
    const rows = shown(TROUBLED, { history });
    expect(rows).toMatch(/2026-11-09 08:59:30.*?<span>sidecar-down<\/span>.*?<span>\d+ %<\/span>/s);
    expect(rows).toMatch(/2026-11-21 10:00.*?<span>no known cause<\/span>/s);
    expect(rows).not.toContain("<span>any-reward-fast-burn</span>");
  });

  it("draws the forecast with its band, and says it in words", () => {
    const text = shown(TROUBLED);
    expect(text).toMatch(
      /aria-label="Rate of 2026-11 and its forecast: 97\.5471 % now, 96\.\d{4} % at the end if the current loss goes on \(80 % band .* to .* %, from the recent days\), a part of the pay/,
    );
    expect(text).toContain(`<path class="b-band"`);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
    expect(shown(HEALTHY)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("keeps the label of the present apart from that of the end of the month", () => {
    const late = shown(HEALTHY, { nowMs: Date.UTC(2026, 10, 29) });
    const [, x = "", end = ""] = /x="([\d.]+)"[^>]*>now<.*?x="([\d.]+)"[^>]*>end of month</.exec(late) ?? [];
    expect(Number(end) - Number(x)).toBeGreaterThanOrEqual(100);
  });

  it("announces the headline alone to screen readers", () => {
    const text = shown(TROUBLED);
    expect(text.match(/aria-live="\w+"/g)).toEqual(['aria-live="polite"']);
    expect(text).toMatch(/<p class="headline bad" aria-live="polite">[^\n]*Losing: sidecar down<\/p>/);
  });

  it("shows sources with age, and that a page that nobody serves is no error", () => {
    const text = shown(HEALTHY);
    expect(text).toMatch(/node: oracle-metrics.*not served.*never.*connection refused/s);
    expect(shown(TROUBLED)).toMatch(/node: prices.*✕ <\/span>down.*78 s before/s);
    const pager = { name: "pagerduty", kind: "pagerduty", acceptedAtMs: undefined };
    expect(shown(TROUBLED, { channels: [pager] })).toMatch(/data-label="pending" class="number"><span>1</);
  });

  it("says who is notified only when a receiver has accepted something, and what was never delivered", () => {
    const chat = { name: "chat", kind: "slack", acceptedAtMs: undefined };
    expect(shown(HEALTHY)).toContain("Every alert notifies");
    const untested = shown(HEALTHY, { channels: [chat] });
    expect(untested).toContain("No channel has accepted anything since the start");
    expect(untested).not.toContain("Every alert notifies");
    const nobody = shown(HEALTHY, { channels: [] });
    expect(nobody).toContain("nobody is notified");
    expect(nobody).not.toContain("Every alert notifies");
    const lost = [
      { channel: "chat", event: alertEvent(), dead: { atMs: SCENE_MS, reason: `no_service ${EVIL}` } },
    ];
    const text = shown(HEALTHY, { lost });
    expect(text).toContain("no_service");
    expect(text).not.toContain(EVIL);
  });

  it("shows silences and maintenance", () => {
    const silence = {
      id: "1",
      alerts: ["sidecar-down"],
      validators: [],
      author: "kim",
      reason: "restart",
      startsAtMs: SCENE_MS - 1,
      endsAtMs: SCENE_MS + 3_600_000,
    };
    const start = { kind: "once", atMs: SCENE_MS } as const;
    const maintenance = [{ reason: "new disk", validators: [], durationMs: 1_000, start }];
    const text = shown(HEALTHY, {
      silences: [silence, { ...silence, reason: "over", endsAtMs: SCENE_MS }],
      maintenance,
    });
    expect(text).toMatch(/sidecar-down.*all.*silent.*in 1 h.*restart<small>by kim/s);
    expect(text).toContain("</span> of default: new disk");
    expect(text).not.toContain("over<small>");
    expect(shown(HEALTHY)).toContain("No silence.");
  });

  it("of several validators is a table, the gravest first, with a page for each", async () => {
    const named = (name: string, scene: ValidatorScene) => buildValidator({ ...scene, name });
    const input = pageOf([named("alpha", HEALTHY), named("beta", TROUBLED), named("gamma", LOST)]);
    const pages = watchdogPages(() => input);
    const { title, sections, nav } = await pageContent(pages, "/");
    expect(sections.map(({ id }) => id)).toEqual(["verdict", "fleet"]);
    expect(firstText(input)).toContain("1 validator of 3: lost; 1 paid in full");
    expect([...firstText(input).matchAll(/<a href="\/validators\/(\w+)"/g)].map(([, name]) => name)).toEqual([
      "gamma",
      "beta",
      "alpha",
    ]);
    expect(nav?.map(({ path }) => path)).toEqual(["/", "/notifications"]);
    expect(title).toBe("(2) 1 validator of 3: lost; 1 paid in full – oracle watchdog");
    expect(firstText(pageOf([named("a", HEALTHY), named("b", HEALTHY)]))).toContain(
      "All 2 validators are paid in full",
    );
    const beta = await pageContent(pages, "/validators/:name", { params: { name: "beta" } });
    expect(beta.title).toBe("(2) Losing: sidecar down – beta, oracle watchdog");
    expect(beta.json).toBe("/api/validators/beta");
    expect(beta.nav?.map(({ path, name }) => `${name} ${path}`)).toEqual([
      "Validators /",
      "beta /validators/beta",
      "Month /validators/beta/month",
      "Chain /validators/beta/chain",
      "Sources /validators/beta/sources",
      "Notifications /notifications",
    ]);
  });

  it("of a name that is not configured is 404, with the name escaped", async () => {
    const pages = watchdogPages(() => pageOf([buildValidator(HEALTHY)]));
    const { status, sections } = await pageContent(pages, "/validators/:name/month", {
      params: { name: EVIL },
    });
    expect(status).toBe(404);
    expect(sections[0]?.content.text).toContain("&lt;script&gt;");
  });

  it("says in the first lines what keeps alerts from reaching anybody", () => {
    const first = (more: Partial<WatchdogPageInput>) => firstText(pageOf([buildValidator(HEALTHY)], more));
    expect(first({})).not.toContain("/notifications");
    expect(first({ channels: [] })).toContain("nobody is notified");
    const lost = [{ channel: "chat", event: alertEvent(), dead: { atMs: SCENE_MS, reason: "no_service" } }];
    expect(first({ lost })).toContain("1 notification</a> never reached anybody");
  });

  it("folds all but the first alerts", () => {
    const alerts = CONDITIONS.slice(0, 12).map(({ name }) => alertState(name, "firing"));
    const text = firstText(pageOf([buildValidator({ ...HEALTHY, alerts })]));
    expect(text).toMatch(/<details id="more-alerts"><summary>\d more alerts?<\/summary>/);
    expect(text.match(/id="condition-default-/g)).toHaveLength(12);
  });

  it("is as old as the validator that was polled longest ago", async () => {
    const old = buildValidator({ ...HEALTHY, name: "b", status: { polledAtMs: SCENE_MS - 9_000 } });
    const pages = watchdogPages(() => pageOf([buildValidator(HEALTHY), old]));
    expect((await pageContent(pages, "/")).asOfMs).toBe(SCENE_MS - 9_000);
    const one = await pageContent(pages, "/validators/:name", { params: { name: "default" } });
    expect(one.asOfMs).toBe(SCENE_MS - 2_000);
  });
});

describe("the month strip", () => {
  const strip = (scene: ValidatorScene) => stripOf(buildValidator(scene).ledger, SPECIFIED_LEAST, MONTH);
  const drawn = (days: readonly StripDay[]): string =>
    monthStrip([stripPart(days, { firstMs: MONTH.fromMs, shown: days.length })], "2026-11").text;

  it("has a state for each hour: good, weak, bad, unknown, estimated, none", () => {
    const days = strip({
      hour: (index) =>
        index === 24 ? 0.021 : index === 25 ? 0.051 : index === 26 ? "unknown" : index === 27 ? 0.02 : 0,
    });
    expect(days).toHaveLength(21);
    expect(days[1]?.hours.slice(0, 5)).toEqual(["weak", "bad", "unknown", "good", "good"]);
    expect(days[0]?.hours[0]).toBe("estimated");
    expect(days[20]?.hours.slice(11)).toEqual(["good", "good", ...Array.from({ length: 11 }, () => "none")]);
  });

  it("draws a day of which only the sum is known as one bar", () => {
    const { ledger } = buildValidator(at(0.06));
    const recent = {
      ...ledger,
      hours: (from: number, to: number) => ledger.hours(Math.max(from, SCENE_MS - 3 * 86_400_000), to),
    };
    const days = stripOf(recent, SPECIFIED_LEAST, MONTH);
    expect(days[3]).toMatchObject({ hours: [], state: "bad" });
    expect(drawn(days)).toContain("h262v10");
  });

  it("has a row for each day that exists, higher ones in a young month", () => {
    const days = strip(HEALTHY);
    const heightOf = (of: readonly StripDay[]) => Number(/viewBox="0 0 360 (\d+)"/.exec(drawn(of))?.[1]);
    expect([heightOf(days), heightOf(days.slice(0, 1))]).toEqual([21 * 13 + 18, 22 + 18]);
    expect(drawn(days)).toContain(">Sat 21<");
    expect(drawn(days)).not.toContain(">Sun 22<");
  });

  it("counts one hour in the singular", () => {
    const text = drawn(strip({ hour: (index) => (index === 25 ? 0.051 : 0) }));
    expect(text).toContain("; 1 hour below any pay, 0 below full pay, 0 unknown");
  });

  it("says in words what it shows, and has another form for each state", () => {
    const text = drawn(strip(TROUBLED));
    expect(text).toMatch(
      /aria-label="2026-11, hour by hour: .* 14 hours below any pay, 0 below full pay, 5 unknown"/,
    );
    expect(text).toMatch(/class="b-bad" d="M[\d.]+ \d+v-10/);
    expect(text).toMatch(/class="b-good" d="M[\d.]+ \d+v-4/);
    expect(text).toContain(`class="b-hollow"`);
  });
});
