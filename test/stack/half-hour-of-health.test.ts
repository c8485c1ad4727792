import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { MINUTE_MS } from "../../src/platform/base/time.ts";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { initWatchdog, scaledAlerts } from "../support/stack/initialized-watchdog.ts";

/** Seconds of the localnet and its watchdog per second of this machine. */
const RATE = 10;
/** Of the localnet's time: three minutes of this machine's. */
const HALF_HOUR_MS = 30 * MINUTE_MS;

const home = await openCliHome();
afterAll(home.close, 60_000);

const statusShape = z.object({
  started_at: z.string(),
  polled_at: z.string(),
  blocks: z.object({ good: z.number(), bad: z.number() }),
  sources: z.array(z.object({ name: z.string(), up: z.boolean(), absent: z.boolean().optional() })),
});
const alertsShape = z.object({
  alerts: z.array(z.object({ name: z.string(), notified_at: z.string().nullable(), state: z.string() })),
});

it("a new watchdog, as config init writes it, says nothing for half an hour on a healthy localnet", {
  timeout: 420_000,
}, async () => {
  const { localRest } = portsAt(home.portOffset);
  await home.start("localnet", "start", "--block-time", "250", "$PORTS").printed(/sidecar metrics/);
  expect((await home.run("localnet", "time", "rate", String(RATE), "$PORTS")).code).toBe(0);
  const { settings, url, start } = await initWatchdog(home, "--second-rest", `http://127.0.0.1:${localRest}`);
  const { stdout, stderr } = await start({ ...settings, alerts: scaledAlerts(RATE) });
  const status = await until(
    "half an hour",
    async () => {
      const seen = statusShape.parse(await getJson(`${url}/api/status`));
      return Date.parse(seen.polled_at) - Date.parse(seen.started_at) >= HALF_HOUR_MS ? seen : undefined;
    },
    400_000,
  );
  expect(`${stdout()}${stderr()}`).not.toContain("alert firing");
  const { alerts } = alertsShape.parse(await getJson(`${url}/api/alerts`));
  expect(alerts.filter(({ state, notified_at: at }) => state === "firing" || at !== null)).toEqual([]);
  expect(status.sources.filter(({ up, absent }) => !up || absent === true)).toEqual([]);
});
