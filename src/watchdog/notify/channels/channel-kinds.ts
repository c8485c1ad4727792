import { z } from "zod";
import { unreachable } from "../../../platform/base/errors.ts";
import { issueText } from "../../../platform/config/config-fields.ts";
import { alertmanager } from "./alertmanager.ts";
import type { Channel, ChannelDeps } from "./channel.ts";
import { discord } from "./discord.ts";
import { email } from "./email.ts";
import { pagerduty } from "./pagerduty.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { webhook } from "./webhook.ts";

/** All channel kinds, in the order used in the documents. To add a kind, create a file next to this one and add its name here. */
export const CHANNEL_KINDS = [alertmanager, pagerduty, slack, discord, telegram, email, webhook] as const;

/** Configuration of any channel. */
export type ChannelConfig = z.output<(typeof CHANNEL_KINDS)[number]["schema"]>;

const [first, ...others] = CHANNEL_KINDS;
const names = CHANNEL_KINDS.map(({ kind }) => kind).toSorted();

/** Schema of one entry of `notify.channels`. */
export const channelSchema = z.discriminatedUnion(
  "kind",
  [first.schema, ...others.map(({ schema }) => schema)],
  {
    error: issueText("is not a channel kind", `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`),
  },
);

/** Kinds whose receivers also accept reports. */
export const REPORT_KINDS: ReadonlySet<string> = new Set(
  CHANNEL_KINDS.filter(({ takesReports }) => takesReports).map(({ kind }) => kind),
);

/** Kinds whose receivers are sent the state of all alerts instead of events. */
export const STATE_KINDS: ReadonlySet<string> = new Set(
  CHANNEL_KINDS.filter(({ takesState }) => takesState).map(({ kind }) => kind),
);

export function createChannel(config: ChannelConfig, deps: ChannelDeps): Channel {
  const [channel] = CHANNEL_KINDS.flatMap((kind) => kind.open(config, deps) ?? []);
  return channel ?? unreachable(`the configuration rejects channels of kind ${config.kind}`);
}
