import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { inhibitRules } from "../../../src/cli/generate/alert-files.ts";
import { RULE_FILES } from "../../../src/cli/generate/rules.ts";
import { HOUR_MS, isoTime } from "../../../src/platform/base/time.ts";
import { nextMonthMs } from "../../../src/platform/base/month.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { ruleFile } from "../../../src/platform/monitoring/alerts/rule-files.ts";
import { SHORT_TIMES } from "../../../src/platform/monitoring/alerts/times.ts";
import { WATCHDOG_GROUP } from "../../../src/watchdog/monitoring/watchdog-alerts.ts";
import { type CliHome, getJson, openCliHome, until } from "../e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../e2e/localnet-endpoints.ts";
import { startSmtpServer } from "../watchdog/smtp-server.ts";
import { initWatchdog, scaledAlerts } from "./initialized-watchdog.ts";
import { startAlertmanager } from "./alertmanager-server.ts";
import { startPrometheus } from "./prometheus-server.ts";
import { wireCost } from "./told-costs.ts";
import { type Receiver, startHook, startReceiver } from "./webhook-receiver.ts";

/** Seconds of the localnet and its watchdog per second of this machine. */
const RATE = 5;

/** How far the watchdog's first and last poll with a failed block can be from the fault's times: one poll, one slow block and one more. */
export const SEEN_MS = 30_000;

/** Time of the localnet in which the node connects to its sidecar again after an outage of half a minute of this machine. */
export const RECONNECT_MS = 120_000;

const DEADLINE_MS = 30_000;

/** Longer than the node waits for its sidecar, in time of this machine. */
const LONGEST_CALL_MS = 1_500;

/** Times of the localnet before and after a switch, ms since the Unix epoch. */
export type Switched = readonly [number, number];

/** One notification as its channel got it: the title, and the lines below it. */
interface Notified {
  readonly title: string;
  readonly text: string;
}

/** The watchdog's own channels with people at their ends. */
export const OWN_CHANNELS = ["slack", "telegram", "mail", "webhook"] as const;

type OwnChannel = (typeof OWN_CHANNELS)[number];

const webhookBody = z.object({
  alerts: z.array(
    z.object({
      alert: z.string(),
      kind: z.string(),
      cost: wireCost.nullish(),
    }),
  ),
  text: z.string(),
});

/** An event as the generic webhook got it. */
export type HookEvent = z.output<typeof webhookBody>["alerts"][number];

const slackBody = z.object({ text: z.string(), attachments: z.array(z.object({ text: z.string() })) });
const telegramBody = z.object({ text: z.string() });

/** A localnet with a watchdog, whose alerts go to people on six ways. */
export interface WatchedAfternoon {
  readonly home: CliHome;
  readonly watchdog: string;
  readonly prometheus: string;
  readonly alertmanager: string;
  /** What Alertmanager's own receiver got. */
  readonly receiver: Receiver;
  readonly events: readonly HookEvent[];
  readonly notified: Readonly<Record<OwnChannel, readonly Notified[]>>;
  /** Times of the localnet, ms, between which a fault was switched. */
  readonly switched: (fault: string, on: boolean) => Promise<Switched>;
  /** Moves the localnet's time ahead, ms since the Unix epoch. */
  readonly moveInto: (timeMs: number) => Promise<void>;
  /** Waits for so many blocks. */
  readonly blocks: (count: number) => Promise<void>;
  /** Calls of the node to its sidecar that failed, as the node counts them. */
  readonly failures: () => Promise<number>;
  /** Reads while time and chain stand still, and the watchdog has seen everything. */
  readonly still: <T>(read: () => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Four validators, so that the chain goes on without the first one, and a signing window that a fault does not fill. */
const CHAIN = {
  local: {
    validators: [{ power: 10, operator: "operator" }, { power: 10 }, { power: 10 }, { power: 10 }],
    modules: { slashing: { params: { signed_blocks_window: "2000" } } },
  },
};

/** Starts everything. */
export async function startAfternoon(): Promise<WatchedAfternoon> {
  const home = await openCliHome();
  const closing: (() => Promise<unknown>)[] = [home.close];
  const close = async (): Promise<void> => {
    for (const one of closing.toReversed()) await one();
  };
  try {
    const order = async (...args: readonly string[]): Promise<void> => {
      const { code, stderr } = await home.run(...args);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    };
    const chain = join(home.directory, "chain.yaml");
    // YAML contains JSON.
    writeFileSync(chain, JSON.stringify(CHAIN));
    await home
      .start("localnet", "start", "--chain-config", chain, "--block-time", "250", "$PORTS")
      .printed(/sidecar metrics/);
    const channels = await startChannels(home);
    closing.push(channels.close);
    const receiver = await startReceiver();
    closing.push(receiver.close);
    const alertmanager = await startAlertmanager(receiver.url, {
      inhibitRules: inhibitRules(),
      groupBy: ["..."],
      groupWait: "2s",
    });
    closing.push(alertmanager.close);
    const endMs = nextMonthMs(Date.now());
    // An incident lies in one month.
    if (endMs - Date.now() < 2 * HOUR_MS)
      await order("localnet", "time", "set", isoTime(endMs + HOUR_MS), "$PORTS");
    await order("localnet", "time", "rate", String(RATE), "$PORTS");
    const watchdog = await startWatchdog(home, channels.settings);
    const [file, groups] = [...RULE_FILES].find(([, all]) => all.includes(WATCHDOG_GROUP)) ?? ["", []];
    const prometheus = await startPrometheus(
      { watchdog: { target: new URL(watchdog).host, labels: {} } },
      {
        files: new Map([[file, ruleFile(groups, SHORT_TIMES)]]),
        alertmanager: new URL(alertmanager.url).host,
      },
    );
    closing.push(prometheus.close);
    const { events } = channels;
    await until("some blocks, and what the month allows", async () => {
      const one = deep(await getJson(`${watchdog}/api/incidents`), ["validators", "0"]);
      const { good } = countsOf.parse(deep(await getJson(`${watchdog}/api/status`), ["blocks"]));
      return good >= 60 && deep(one, ["cost", "allowed"]) !== null ? true : undefined;
    });
    return {
      home,
      watchdog,
      prometheus: prometheus.url,
      alertmanager: alertmanager.url,
      receiver,
      events,
      get notified() {
        return channels.notified();
      },
      ...timeOf(home, watchdog),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The localnet's faults, counts and time. */
function timeOf(
  home: CliHome,
  watchdog: string,
): Pick<WatchedAfternoon, "switched" | "moveInto" | "blocks" | "failures" | "still"> {
  const { control, height } = localnetEndpoints(home.portOffset);
  const { localMetrics } = portsAt(home.portOffset);
  const folder = join(home.directory, "state", "relaywatch", `localnet-${home.portOffset}`);
  const token = readFileSync(join(folder, "control-token"), "utf8").trim();
  const order = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${control}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const now = async (): Promise<string> => timeReply.parse(await getJson(`${control}/time`)).time;
  const calls = async () => {
    const url = `http://127.0.0.1:${localMetrics}/metrics`;
    const page = await (await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) })).text();
    const count = (status: string): number =>
      Number(
        new RegExp(`^app_oracle_responses\\{.*status="${status}".*\\} (\\d+)$`, "m").exec(page)?.[1] ?? 0,
      );
    return { Success: count("Success"), Failure: count("Failure") };
  };
  return {
    switched: async (fault, on) => {
      const from = Date.parse(await now());
      const { code, stderr } = await home.run("localnet", "fault", fault, ...(on ? [] : ["--off"]), "$PORTS");
      if (code !== 0) throw new Error(stderr);
      return [from, Date.parse(await now())];
    },
    moveInto: (timeMs) => order("/time", { set: isoTime(timeMs) }),
    blocks: async (count) => {
      const from = await height("local");
      await until(`${count} blocks`, async () =>
        (await height("local")) >= from + BigInt(count) ? true : undefined,
      );
    },
    failures: async () => (await calls()).Failure,
    still: async (read) => {
      await order("/chains/local-1/halt", {});
      // The last block's call can still be under way.
      let last = { text: "", sinceMs: 0 };
      await until("the end of the node's calls", async () => {
        const text = JSON.stringify(await calls());
        if (text !== last.text) last = { text, sinceMs: performance.now() };
        return performance.now() - last.sinceMs > LONGEST_CALL_MS ? true : undefined;
      });
      await order("/time", { rate: 0 });
      try {
        const time = await now();
        // A poll has the time of its begin.
        await until("a poll of now", async () =>
          deep(await getJson(`${watchdog}/api/status`), ["polled_at"]) === time ? true : undefined,
        );
        return await read();
      } finally {
        await order("/chains/local-1/resume", {});
        await order("/time", { rate: RATE });
      }
    },
  };
}

const countsOf = z.object({ good: z.number() });

const timeReply = z.object({ time: z.string() });

/** The file of `config init` with what it does not ask for, and with the times of this test. */
async function startWatchdog(home: CliHome, channels: readonly object[]): Promise<string> {
  const { settings, url, start } = await initWatchdog(home);
  await start({
    ...settings,
    interval: "1s",
    // The month of a new localnet is short: with the chain's boundaries each outage would burn it.
    policy: { full_percent: 60, none_percent: 50, currency: "USD", incident_end: "2m" },
    // An event for itself.
    notify: { channels, group_wait: "1s" },
    alerts: {
      ...scaledAlerts(RATE),
      all_prices_missing: { for: "1m" },
      prices_differ_from_chain: { for: "1m" },
    },
  });
  return url;
}

/** Servers of all channels, and what they get. */
async function startChannels(home: CliHome) {
  const events: HookEvent[] = [];
  const notified: Record<OwnChannel, Notified[]> = { slack: [], telegram: [], mail: [], webhook: [] };
  const add = (channel: OwnChannel, text: string): void => {
    const [title = "", ...lines] = text.split("\n").filter((line) => line !== "");
    notified[channel].push({ title, text: lines.join("\n") });
  };
  const slack = await startHook((body) => {
    const { text, attachments } = slackBody.parse(body);
    add("slack", [text, ...attachments.map((one) => one.text)].join("\n"));
  });
  const telegram = await startHook((body) => add("telegram", telegramBody.parse(body).text));
  const webhook = await startHook((body) => {
    const { alerts, text } = webhookBody.parse(body);
    events.push(...alerts);
    add("webhook", text);
  });
  const mail = await startSmtpServer();
  const secret = (name: string, value: string) => {
    const file = join(home.directory, name);
    writeFileSync(file, value);
    return { file };
  };
  const token = `1234567890:${"a".repeat(35)}`;
  const settings = [
    { kind: "slack", name: "slack", url: secret("slack", slack.url) },
    {
      kind: "telegram",
      name: "telegram",
      bot_token: secret("telegram", token),
      chat_id: "-1001234",
      api: new URL(telegram.url).origin,
    },
    {
      kind: "email",
      name: "mail",
      host: "127.0.0.1",
      port: mail.port,
      security: "none",
      from: "watchdog@validator.example",
      to: ["on-call@validator.example"],
    },
    { kind: "webhook", name: "webhook", url: secret("webhook", webhook.url) },
  ].map((one) => ({ ...one, min_severity: "info" }));
  return {
    events,
    notified: () => ({ ...notified, mail: mail.mails.map(({ text }) => mailOf(text)) }),
    settings,
    close: async () => {
      for (const one of [slack, telegram, webhook, mail]) await one.close();
    },
  };
}

/** The subject of a mail, and its text, which begins with it and whose long lines are wrapped. */
function mailOf(mail: string): Notified {
  const [head = "", body = ""] = mail.replaceAll("=\n", "").split(/\n\n([\s\S]*)/);
  const title = /^Subject: (.*(?:\n .*)*)/m.exec(head)?.[1]?.replaceAll("\n ", " ") ?? "";
  const lines = body.split("\n").filter((line) => line !== "");
  return { title, text: lines.slice(lines[0] === title ? 1 : 0).join("\n") };
}
