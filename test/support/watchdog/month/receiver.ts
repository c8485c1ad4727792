import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { stringifyJson } from "../../../../src/platform/base/json.ts";
import type { ChannelConfig } from "../../../../src/watchdog/notify/channels/channel-kinds.ts";
import type { PostJson } from "../../../../src/watchdog/notify/channels/transport.ts";

/** A channel that wants everything. */
export const RECEIVER: ChannelConfig = {
  kind: "webhook",
  name: "receiver",
  minSeverity: "info",
  sendReminders: true,
  sendResolved: true,
  deadlineMs: 10_000,
  url: new Secret("http://receiver.example/"),
};

/** What the receiver keeps of a notification. */
const notification = z.object({
  id: z.string(),
  kind: z.string(),
  validator: z.string(),
  alert: z.string(),
  since: z.string(),
  at: z.string(),
  reason: z.string(),
  cost: z.object({ blocks: z.string(), pay_cents: z.string().nullable() }).nullable(),
});

/** A notification that the receiver got. */
export type Received = z.output<typeof notification>;

const requestBody = z.object({ alerts: z.array(notification) });

const fileOf = (folder: string): string => join(folder, "received.jsonl");

/** Creates a receiver that writes to a file before it accepts, so that a killed watchdog does not know of the last ones. */
export function createReceiver(folder: string): PostJson {
  return async ({ body }) => {
    const lines = requestBody.parse(body).alerts.map((alert) => `${stringifyJson(alert)}\n`);
    appendFileSync(fileOf(folder), lines.join(""));
    return { status: 204 };
  };
}

/** Reads what the receiver got, each notification once, sorted. Two with one id and different content are two. */
export function readReceived(folder: string): readonly Received[] {
  const file = fileOf(folder);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return [...new Set(lines.filter((line) => line !== ""))]
    .toSorted()
    .map((line) => notification.parse(JSON.parse(line)));
}
