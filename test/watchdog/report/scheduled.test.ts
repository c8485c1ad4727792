import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Secret } from "../../../src/platform/base/secret.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import {
  createPublisher,
  createReportService,
  type ReportServiceDeps,
  dueReports,
} from "../../../src/watchdog/report/report-service.ts";
import type { JsonPost } from "../../../src/watchdog/notify/channels/transport.ts";
import type { Mail } from "../../../src/watchdog/notify/channels/mail.ts";
import { type ChannelConfig, createChannel } from "../../../src/watchdog/notify/channels/channel-kinds.ts";
import { type ReportsConfig, reportsSchema } from "../../../src/watchdog/report/reports-config.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const NOVEMBER = Date.UTC(2026, 10, 1, 0, 30);
const folders: string[] = [];

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "relaywatch-reports-"));
  folders.push(path);
  return path;
}

const COMMON = { minSeverity: "warning", sendReminders: true, sendResolved: true, deadlineMs: 5000 } as const;
const SLACK: ChannelConfig = {
  kind: "slack",
  name: "team",
  ...COMMON,
  url: new Secret("http://slack.example/secret"),
};
const HOOK: ChannelConfig = {
  kind: "webhook",
  name: "hook",
  ...COMMON,
  url: new Secret("http://hook.example/secret"),
};

/** A world with receivers, and what they got. */
function world(validators: readonly ValidatorData[] = sampleValidators(2, 2, NOVEMBER)) {
  const clock = createManualClock(NOVEMBER);
  const posts: JsonPost[] = [];
  const mails: Mail[] = [];
  const state = { status: 200 as number | undefined, validators, log: new Array<string>() };
  const note = (message: string, fields?: object) =>
    void state.log.push(`${message} ${JSON.stringify(fields)}`);
  const deps: ReportServiceDeps = {
    clock,
    logger: { ...silentLogger, info: note, warn: note, error: note },
    random: () => 0,
    validators: () => state.validators,
    post: async (post) => {
      if (state.status === undefined) throw new Error(`connect to ${post.url} failed`);
      posts.push(post);
      return { status: state.status };
    },
    mail: async (_server, mail) => void mails.push(mail),
  };
  return { clock, posts, mails, state, deps };
}

function config(directory: string | undefined, channels: readonly string[] = ["team"]): ReportsConfig {
  return { dailyAt: "0 7 * * *", monthlyAt: "30 0 1 * *", directory, formats: ["text", "json"], channels };
}

const never = new AbortController().signal;

describe("monthly reports", () => {
  it("are written in every format and sent, once, also after a restart", async () => {
    const directory = newFolder();
    const { deps, posts } = world();
    expect(await createPublisher(config(directory), [SLACK, HOOK], deps)("monthly", NOVEMBER, never)).toBe(
      true,
    );
    expect(readdirSync(directory).toSorted()).toEqual([
      "delivered.json",
      "month-close-2026-10.json",
      "month-close-2026-10.txt",
      "oracle-2026-10.json",
      "oracle-2026-10.txt",
    ]);
    expect(statSync(join(directory, "oracle-2026-10.txt")).mode & 0o777).toBe(0o600);
    expect(posts.map(({ url }) => url)).toEqual([
      "http://slack.example/secret",
      "http://slack.example/secret",
    ]);
    const text = readFileSync(join(directory, "month-close-2026-10.txt"), "utf8");
    expect(text).toContain("The month is closed; its counts are sealed.");
    expect(
      await createPublisher(config(directory), [SLACK, HOOK], deps)("monthly", NOVEMBER + 99, never),
    ).toBe(true);
    expect(posts).toHaveLength(2);
  });

  it("are sent again until the receiver accepts them, and the log has no URL", async () => {
    const { deps, posts, state } = world();
    const publish = createPublisher(config(newFolder()), [SLACK], deps);
    for (const status of [undefined, 500, 404]) {
      state.status = status;
      expect(await publish("monthly", NOVEMBER, never)).toBe(false);
    }
    state.status = 200;
    posts.length = 0;
    expect(await publish("monthly", NOVEMBER, never)).toBe(true);
    expect(posts).toHaveLength(2);
    expect(state.log.join("\n")).not.toContain("secret");
    expect(state.log.join("\n")).toContain("report not delivered");
  });

  it("wait for the seal, for some hours", () => {
    const open = sampleValidators(1, 1, Date.UTC(2026, 9, 31, 23));
    expect(dueReports("monthly", NOVEMBER, open, NOVEMBER)).toEqual([]);
    expect(dueReports("monthly", NOVEMBER, open, NOVEMBER + 6 * 3_600_000).map(({ id }) => id)).toEqual([
      "oracle-2026-10",
      "month-close-2026-10",
    ]);
    expect(dueReports("monthly", NOVEMBER, [], NOVEMBER)).toEqual([]);
    expect(dueReports("monthly", Date.UTC(2026, 11, 1), open, Date.UTC(2026, 11, 3))).toEqual([]);
  });

  it("survive a torn file of deliveries: they are sent again", async () => {
    const directory = newFolder();
    writeFileSync(join(directory, "delivered.json"), '{"oracle-2026');
    const { deps, posts } = world();
    await createPublisher(config(directory), [SLACK], deps)("monthly", NOVEMBER, never);
    expect(posts).toHaveLength(2);
  });
});

describe("the service", () => {
  it("makes up for a monthly report at its start, and repeats it with backoff", async () => {
    const directory = newFolder();
    const { deps, posts, state, clock } = world();
    state.status = 503;
    const stop = new AbortController();
    const run = createReportService(config(directory), [SLACK], deps).run(stop.signal);
    await clock.advance(0);
    expect(posts).toHaveLength(2);
    state.status = 200;
    await clock.advance(3_600_000);
    expect(posts).toHaveLength(4);
    stop.abort(new Error("test over"));
    await run;
  });

  it("does not guess at its start what was delivered when it has no folder", async () => {
    const { deps, posts, clock } = world();
    const stop = new AbortController();
    const run = createReportService(config(undefined), [SLACK], deps).run(stop.signal);
    await clock.advance(3_600_000);
    expect(posts).toEqual([]);
    stop.abort(new Error("test over"));
    await run;
  });

  it.each([
    ["UTC", 7],
    // Its clocks go back an hour before.
    ["America/New_York", 2],
    ["Pacific/Kiritimati", 21],
  ])("creates the daily report at its time in UTC, on a machine in the zone %s", async (zone, hour) => {
    vi.stubEnv("TZ", zone);
    expect(new Date(Date.UTC(2026, 10, 1, 7)).getHours()).toBe(hour);
    vi.useFakeTimers({
      now: Date.UTC(2026, 10, 1, 6, 59, 30),
      toFake: ["setTimeout", "clearTimeout", "Date"],
    });
    const { deps, posts, clock } = world();
    await clock.runUntil(Date.UTC(2026, 10, 1, 7));
    const stop = new AbortController();
    const run = createReportService(config(undefined), [SLACK], deps).run(stop.signal);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(posts).toEqual([]);
    await vi.advanceTimersByTimeAsync(20_000);
    await clock.advance(0);
    expect(posts.map(({ body }) => body)).toEqual([
      { text: expect.stringMatching(/^Handover, 2026-10-31 07:00 to 2026-11-01 07:00 UTC\n```/) },
    ]);
    stop.abort(new Error("test over"));
    await run;
  });
});

describe("a daily report that was missed", () => {
  const SEVEN = Date.UTC(2026, 10, 1, 7);

  /** Runs the service from `startMs` on. Returns its end, the clock of cron, and what was sent. */
  async function runFrom(startMs: number, directory: string | undefined) {
    vi.useFakeTimers({ now: startMs, toFake: ["setTimeout", "clearTimeout", "Date"] });
    const { deps, posts, clock, state } = world();
    await clock.runUntil(startMs);
    const stop = new AbortController();
    const run = createReportService({ ...config(directory), monthlyAt: undefined }, [SLACK], deps).run(
      stop.signal,
    );
    await vi.advanceTimersByTimeAsync(1000);
    return {
      titles: async () => {
        await clock.advance(0);
        return posts.map(({ body }) => JSON.stringify(body).slice(9, 60));
      },
      log: state.log,
      end: async () => {
        stop.abort(new Error("test over"));
        await run;
      },
    };
  }

  it("while the process stood still is made up at once, of its time, and logged", async () => {
    const { titles, log, end } = await runFrom(SEVEN - 30_000, undefined);
    vi.setSystemTime(SEVEN + 2 * 86_400_000 + 20 * 60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    // Of the three times that were missed, the latest.
    expect(await titles()).toEqual([
      expect.stringContaining("Handover, 2026-11-02 07:00 to 2026-11-03 07:00 UTC"),
    ]);
    expect(log).toContain('missed report is made up {"kind":"daily","due":"2026-11-03T07:00:00.000Z"}');
    await end();
  });

  it("while the watchdog did not run is made up at its start, once, when its folder has earlier ones", async () => {
    const directory = newFolder();
    const first = await runFrom(SEVEN + 60_000, directory);
    expect(await first.titles()).toEqual([]);
    await first.end();
    writeFileSync(join(directory, "delivered.json"), "{}");
    const second = await runFrom(SEVEN + 10 * 3_600_000, directory);
    expect(await second.titles()).toEqual([
      expect.stringContaining("Handover, 2026-10-31 07:00 to 2026-11-01 07:00 UTC"),
    ]);
    await second.end();
    const third = await runFrom(SEVEN + 11 * 3_600_000, directory);
    expect(await third.titles()).toEqual([]);
    await third.end();
  });
});

describe("receivers", () => {
  const message = {
    id: "oracle-2026-10",
    subject: "Oracle <!channel>",
    text: `${"| row &\n".repeat(2000)}\`\`\``,
  };
  const telegram: ChannelConfig = {
    kind: "telegram",
    name: "t",
    ...COMMON,
    botToken: new Secret("1:abcdefghij"),
    chatId: "-1",
    api: "https://api.telegram.example",
  };
  const discord: ChannelConfig = {
    kind: "discord",
    name: "d",
    ...COMMON,
    url: new Secret("http://d.example/"),
  };

  it.each([
    [SLACK, "text", 4000],
    [discord, "content", 2000],
    [telegram, "text", 4096],
    [HOOK, "text", 100_000],
  ] as const)("%o get a text within their limit", async (channel, field, limit) => {
    const { deps, posts } = world();
    await createChannel(channel, deps).sendReport?.(message, never);
    const { [field]: text } = z
      .record(z.string(), z.unknown())
      .pipe(z.object({ [field]: z.string() }))
      .parse(posts[0]?.body);
    if (text === undefined) return expect.unreachable("no text");
    expect(text.length).toBeLessThanOrEqual(limit);
    if (limit < 10_000) expect(text).toContain("… cut");
    if (channel.kind === "slack") expect(text).toContain("&lt;!channel&gt;");
    if (channel.kind === "discord") expect(text.match(/```/g)).toHaveLength(2);
  });

  it("by e-mail get all of it, as one thread per report", async () => {
    const { deps, mails } = world();
    const email: ChannelConfig = {
      kind: "email",
      name: "m",
      ...COMMON,
      server: { host: "h", port: 25, security: "none" },
      from: "a@example.org",
      to: ["b@example.org"],
    };
    await createChannel(email, deps).sendReport?.(message, never);
    await createChannel(email, deps).sendReport?.(message, never);
    expect(mails[0]).toEqual(mails[1]);
    expect(mails[0]).toMatchObject({ subject: "Oracle <!channel>", text: message.text });
  });
});

describe("the section reports", () => {
  it("has defaults", () => {
    expect(reportsSchema.parse({})).toEqual({
      dailyAt: "0 7 * * *",
      monthlyAt: "30 0 1 * *",
      directory: undefined,
      formats: ["text", "json"],
      channels: [],
    });
    expect(reportsSchema.parse({ daily_at: null }).dailyAt).toBeUndefined();
  });

  it.each(["", "soon", "61 * * * *", "* * * * * *", "0 7 * *"])("refuses the schedule %j", (text) => {
    expect(reportsSchema.safeParse({ daily_at: text }).success).toBe(false);
  });
});
