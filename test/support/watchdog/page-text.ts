import { watchdogPage, type WatchdogPageInput } from "../../../src/watchdog/page/create-page.ts";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";

/** The HTML of all sections of the watchdog's page. */
export function pageText(statuses: readonly WatchdogStatus[], more: Partial<WatchdogPageInput> = {}): string {
  const nowMs = Math.max(...statuses.map(({ polledAtMs, startedAtMs }) => polledAtMs ?? startedAtMs));
  const input = {
    statuses,
    ledgerOf: () => undefined,
    silences: [],
    history: [],
    maintenance: [],
    channels: [],
    lost: [],
    runbooks: "",
    nowMs,
    pollMs: 60_000,
  };
  const { sections } = watchdogPage({ ...input, ...more });
  return sections.map(({ content }) => content.text).join("");
}
