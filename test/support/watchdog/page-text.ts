import type { WatchdogPageInput } from "../../../src/watchdog/page/create-page.ts";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { pageOf, watchdogText } from "../pages/watchdog-scenes.ts";

/** The HTML of all pages of the first of these validators. */
export function pageText(statuses: readonly WatchdogStatus[], more: Partial<WatchdogPageInput> = {}): string {
  const nowMs = Math.max(...statuses.map(({ polledAtMs, startedAtMs }) => polledAtMs ?? startedAtMs));
  const input = pageOf([], { channels: [], nowMs, pollMs: 60_000, ...more });
  return watchdogText({ ...input, statuses });
}
