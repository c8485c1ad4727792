import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import { sectionKey } from "../../src/watchdog/conditions/alerts-config.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { startHook } from "../support/stack/webhook-receiver.ts";
import { leasePort } from "../support/port-lease.ts";

/** The longest time from the first lost block of a total loss to its page. */
const LIMIT_MS = 120_000;
/** Time that prices may be missing: the specification's five minutes are seconds here. */
const MISSING_MS = 10_000;

const body = z.object({
  alerts: z.array(
    z.object({
      alert: z.string(),
      kind: z.string(),
      severity: z.string(),
      reason: z.string(),
      id: z.string(),
    }),
  ),
  content: z.string(),
});

/** An event that the webhook got, and when. */
type Page = z.output<typeof body>["alerts"][number] & { readonly atMs: number; readonly content: string };

const home = await openCliHome();
const pages: Page[] = [];
const closing: (() => Promise<unknown>)[] = [home.close];
let localnet: CliProcess;
let watchdog: string;

beforeAll(async () => {
  const receiver = await startHook((sent) => {
    const { alerts, content } = body.parse(sent);
    for (const one of alerts)
      if (!pages.some(({ id }) => id === one.id)) pages.push({ ...one, content, atMs: performance.now() });
  });
  closing.push(receiver.close);
  localnet = home.start("localnet", "start", "--block-time", "1000", "$PORTS");
  await localnet.printed(/sidecar metrics/);
  const { localMetrics, prices, sidecarMetrics } = portsAt(home.portOffset);
  const port = await leasePort();
  watchdog = `http://127.0.0.1:${port}`;
  const secret = join(home.directory, "hook");
  writeFileSync(secret, receiver.url);
  const file = join(home.directory, "watchdog.yaml");
  // YAML contains JSON. All times are the defaults, without a second endpoint of the chain.
  writeFileSync(
    file,
    JSON.stringify({
      http: { listen: `127.0.0.1:${port}` },
      sources: {
        node: `http://127.0.0.1:${localMetrics}/metrics`,
        prices: `http://127.0.0.1:${prices}/`,
        sidecar_metrics: `http://127.0.0.1:${sidecarMetrics}/metrics`,
        oracle_metrics: null,
      },
      notify: { channels: [{ kind: "webhook", name: "hook", url: { file: secret } }] },
      alerts: {
        all_prices_missing: { for: `${MISSING_MS / 1_000}s` },
        // The month of a new localnet is short: each outage burns it.
        ...Object.fromEntries(
          CONDITIONS.filter(({ echo }) => echo === "month").map(({ name }) => [
            sectionKey(name),
            { enabled: false },
          ]),
        ),
      },
    }),
  );
  await home.start("watchdog", "start", "--config", file).printed(/oracle-watchdog +http/);
}, 90_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
}, 240_000);

const status = z.object({ blocks: z.object({ good: z.number() }) });

/** Waits for ten more good blocks: what was before is over, for the node too. */
async function goodBlocks(): Promise<void> {
  const good = async (): Promise<number> => status.parse(await getJson(`${watchdog}/api/status`)).blocks.good;
  const from = await until("the count of the watchdog", good);
  await until("ten good blocks", async () => ((await good()) >= from + 10 ? true : undefined), 180_000);
}

/** Begins a total loss, and waits for its page. Returns the page, and the time until it. */
async function firstPage(begin: () => Promise<unknown> | void) {
  const known = pages.length;
  // Not later than the first lost block.
  const beginMs = performance.now();
  await begin();
  const page = await until(
    "a page",
    () => pages.slice(known).find(({ kind, severity }) => kind === "firing" && severity === "critical"),
    LIMIT_MS + MISSING_MS + 60_000,
  );
  return { page, afterMs: page.atMs - beginMs };
}

const fault = async (...args: readonly string[]): Promise<void> =>
  expect((await home.run("localnet", "fault", ...args, "$PORTS")).code).toBe(0);

describe("from the first lost block of a total loss to its page", () => {
  it.each([
    ["sidecar-killed", "sidecar-down", /^The price sidecar does not respond, and the node's calls fail: /m],
    ["slow", "sidecar-too-slow", /^The price sidecar responds in 3\.\d s, and the node waits 2 s/m],
    ["all-prices-missing", "all-prices-missing", /^The sidecar responds without any price/m],
    ["timestamp-stale", "stale-price-timestamp", /^The sidecar's timestamp has not changed for \d+ s/m],
  ] as const)(
    "%s: at most two minutes, by its measured cause, also soon after another one",
    { timeout: 480_000 },
    async (name, alert, text) => {
      await goodBlocks();
      const { page, afterMs } = await firstPage(() => fault(name));
      expect(page.alert).toBe(alert);
      expect(page.content).toMatch(text);
      expect(afterMs).toBeLessThanOrEqual(LIMIT_MS + (name === "all-prices-missing" ? MISSING_MS : 0));
      await fault("--off");
      await until(
        "its end",
        () => pages.find((one) => one.alert === alert && one.kind === "resolved"),
        180_000,
      );
    },
  );

  it("the node is down: at most two minutes, without a second endpoint of the chain", {
    timeout: 480_000,
  }, async () => {
    await goodBlocks();
    const { page, afterMs } = await firstPage(() => localnet.kill("SIGKILL"));
    expect(page.alert).toBe("cannot-see-votes");
    expect(page.content).toMatch(
      /^Nothing shows whether the validator votes: the node's page cannot be read/m,
    );
    expect(afterMs).toBeLessThanOrEqual(LIMIT_MS);
  });
});

it("pages once for each of the five", () => {
  const begun = pages.filter(({ kind, severity }) => kind === "firing" && severity === "critical");
  expect(begun.map(({ alert }) => alert)).toEqual([
    "sidecar-down",
    "sidecar-too-slow",
    "all-prices-missing",
    "stale-price-timestamp",
    "cannot-see-votes",
  ]);
});
