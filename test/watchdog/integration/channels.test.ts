import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { type LogFields, silentLogger } from "../../../src/platform/base/logger.ts";
import { type HttpReply, textReply } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";
import type { AlertEvent } from "../../../src/watchdog/alerts/alert-event.ts";
import type { ChannelMove } from "../../../src/watchdog/alerts/outbox.ts";
import type { Channel } from "../../../src/watchdog/notify/channels/channel.ts";
import { createPostJson } from "../../../src/watchdog/notify/channels/transport.ts";
import { createSendMail } from "../../../src/watchdog/notify/channels/mail.ts";
import { createChannel } from "../../../src/watchdog/notify/channels/channel-kinds.ts";
import { eventText, sinceLine } from "../../../src/watchdog/notify/channels/message.ts";
import { notifySchema } from "../../../src/watchdog/notify/notify-config.ts";
import { testChannels } from "../../../src/watchdog/notify/notifier.ts";
import { alertEvent } from "../../support/watchdog/alert-event.ts";
import { startSmtpServer } from "../../support/watchdog/smtp-server.ts";

const stop: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of stop.splice(0).toReversed()) await one();
});

/** A request that a receiver got. */
interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Starts an HTTP receiver; its reply can be replaced. */
async function startReceiver() {
  const receiver = {
    url: "",
    reply: textReply(200, "ok"),
    replyTo: (_request: Received): HttpReply => receiver.reply,
    received: new Array<Received>(),
  };
  const server = await openRouteServer(
    {
      name: "receiver",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "none",
      limits: { closeGraceMs: 0 },
      routes: [
        {
          method: "POST",
          path: "*",
          handle: ({ path, headers, body }): HttpReply => {
            const request = { path, headers, body: JSON.parse(new TextDecoder().decode(body)) };
            receiver.received.push(request);
            return receiver.replyTo(request);
          },
        },
      ],
    },
    { logger: silentLogger },
  );
  stop.push(server.close);
  receiver.url = `http://127.0.0.1:${server.address.port}`;
  return receiver;
}

const SECRET = "very-secret-part";

/** Creates a channel from the keys of the configuration file. Secrets come from the environment of the test. */
function channelOf(kind: string, keys: Readonly<Record<string, unknown>>): Channel {
  const { channels } = notifySchema.parse({ channels: [{ kind, name: "test", ...keys }] });
  const [config] = channels;
  if (config === undefined) throw new Error("no channel");
  return createChannel(config, { post: createPostJson(), mail: createSendMail() });
}

/** A reference to a secret. */
function secret(value: string): { readonly env: string } {
  const name = `RELAYWATCH_TEST_SECRET_${stop.length}_${value.length}`;
  process.env[name] = value;
  stop.push(async () => {
    delete process.env[name];
  });
  return { env: name };
}

const signal = new AbortController().signal;
const send = (channel: Channel, ...events: readonly AlertEvent[]) => channel.send(events, signal);
const FIRING = alertEvent();
const RESOLVED = alertEvent({ kind: "resolved", reason: "the sidecar answers", atMs: FIRING.atMs + 600_000 });

/** The lines of {@link FIRING} below its title, in every channel. */
const FOUR_LINES = [
  'Refused <!channel> & @everyone "quoted".',
  "Since 12:00 UTC; lost by 12:01: 61 blocks, 2 % of what full pay allows this month (2,651); the month's pay lower by 12.50.",
  "Do first: Start it.",
  "Runbook: https://runbooks.example/sidecar-down.md",
].join("\n");

describe("the lines of an event", () => {
  it("begin with the first lost block, which can be older than the alert, and have all links in one line", () => {
    const event = alertEvent({
      cost: { blocks: 109n, allowed: 2_651n, sinceMs: Date.UTC(2026, 10, 21, 11, 55, 30) },
      page: "https://watchdog.example/#sidecar-down",
      dashboard: "https://grafana.example/d/x",
    });
    expect(eventText(event).split("\n").slice(1)).toEqual([
      "Since 11:55 UTC; lost by 12:01: 109 blocks, 4 % of what full pay allows this month (2,651); too early for pay.",
      "Do first: Start it.",
      "Page: https://watchdog.example/#sidecar-down · Runbook: https://runbooks.example/sidecar-down.md · Dashboard: https://grafana.example/d/x",
    ]);
  });

  it("name the day of an earlier begin, no block, and nothing for an alert that is not about votes", () => {
    const { cost: _, ...other } = alertEvent({ sinceMs: Date.UTC(2026, 10, 20, 12), atMs: FIRING.atMs });
    expect(sinceLine(other)).toBe("Since 2026-11-20 12:00 UTC.");
    expect(sinceLine({ ...FIRING, cost: { blocks: 0n } })).toBe(
      "Since 12:00 UTC; no lost block is counted yet.",
    );
  });
});

describe("Slack", () => {
  it("gets a subject, one coloured attachment for each event, and no control sequence of another host", async () => {
    const receiver = await startReceiver();
    await send(channelOf("slack", { url: secret(`${receiver.url}/services/${SECRET}`) }), FIRING, RESOLVED);
    const [request] = receiver.received;
    expect(request?.path).toBe(`/services/${SECRET}`);
    expect(request?.body).toMatchObject({
      text: "[FIRING 1, RESOLVED 1] test-1 default: Sidecar down",
      attachments: [
        { color: "#b00020", text: expect.stringContaining("Refused &lt;!channel&gt; &amp; @everyone") },
        {
          color: "#1e7b34",
          text: [
            "[RESOLVED] Now: the sidecar answers.",
            "From 12:00 to 12:11 UTC (11 min); lost: 61 blocks, 2 % of what full pay allows this month (2,651); the month's pay lower by 12.50.",
            "Runbook: https://runbooks.example/sidecar-down.md",
          ].join("\n"),
        },
      ],
    });
    expect(JSON.stringify(request?.body)).not.toContain("<!channel>");
  });
});

describe("Discord", () => {
  it("gets a subject and one embed for each event, and calls nobody", async () => {
    const receiver = await startReceiver();
    await send(channelOf("discord", { url: secret(`${receiver.url}/${SECRET}`) }), FIRING);
    expect(receiver.received[0]?.body).toEqual({
      content: "[FIRING, critical] test-1 default: Sidecar down",
      embeds: [
        {
          color: 0xb00020,
          description: FOUR_LINES,
          timestamp: "2026-11-21T12:01:05.000Z",
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it("stays within Discord's limits", async () => {
    const receiver = await startReceiver();
    const channel = channelOf("discord", { url: secret(receiver.url) });
    const long = Array.from({ length: channel.maxEvents }, (_, index) =>
      alertEvent({ alert: `alert-${index}`, title: "T".repeat(500), reason: "r".repeat(5000) }),
    );
    await send(channel, ...long);
    const body = JSON.stringify(receiver.received[0]?.body);
    const embeds = [...body.matchAll(/"description":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, text]) => text?.length ?? 0,
    );
    expect(embeds).toHaveLength(channel.maxEvents);
    expect(Math.max(...embeds)).toBeLessThan(1100);
    expect(embeds.reduce((sum, length) => sum + length, 0)).toBeLessThan(6000);
    expect(/"content":"([^"]*)"/.exec(body)?.[1]?.length).toBeLessThanOrEqual(2000);
  });
});

describe("Telegram", () => {
  it("gets plain text of at most 4,096 characters at the path of its token", async () => {
    const receiver = await startReceiver();
    const channel = channelOf("telegram", {
      bot_token: secret(`123456:${SECRET}`),
      chat_id: "-1001",
      api: receiver.url,
    });
    await send(
      channel,
      ...Array.from({ length: 20 }, (_, index) =>
        alertEvent({ alert: `a-${index}`, reason: "r".repeat(900) }),
      ),
    );
    const [request] = receiver.received;
    expect(request?.path).toBe(`/bot123456:${SECRET}/sendMessage`);
    expect(request?.body).toEqual({
      chat_id: "-1001",
      text: expect.stringMatching(/^\[FIRING 20\][\s\S]*… and \d+ more alerts\.$/),
      disable_web_page_preview: true,
    });
    expect(JSON.stringify(request?.body).length).toBeLessThan(4300);
  });
});

describe("PagerDuty", () => {
  it("gets one event each, with the alert's key: trigger and resolve", async () => {
    const receiver = await startReceiver();
    const channel = channelOf("pagerduty", {
      routing_key: secret(SECRET),
      url: `${receiver.url}/v2/enqueue`,
    });
    expect([channel.maxEvents, channel.minSeverity, channel.sendReminders]).toEqual([1, "critical", false]);
    await send(channel, FIRING);
    await send(channel, RESOLVED);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/v2/enqueue", "/v2/enqueue"]);
    expect(receiver.received.map(({ body }) => body)).toMatchObject([
      {
        routing_key: SECRET,
        event_action: "trigger",
        dedup_key: "test-1/default/sidecar-down",
        payload: {
          summary: expect.stringContaining("test-1 default: Sidecar down: refused"),
          severity: "critical",
          source: "test-1/default",
          timestamp: "2026-11-21T12:01:05.000Z",
          custom_details: { text: FOUR_LINES },
        },
        links: [{ href: "https://runbooks.example/sidecar-down.md", text: "Runbook" }],
      },
      { event_action: "resolve", dedup_key: "test-1/default/sidecar-down" },
    ]);
  });
});

describe("a generic webhook", () => {
  it("gets all fields, the texts, the id of the newest event and the authorization", async () => {
    const receiver = await startReceiver();
    const channel = channelOf("webhook", {
      url: secret(`${receiver.url}/hook`),
      authorization: secret(`Bearer ${SECRET}`),
    });
    await send(channel, FIRING, RESOLVED);
    expect(receiver.received[0]).toMatchObject({
      path: "/hook",
      headers: { authorization: `Bearer ${SECRET}`, "idempotency-key": RESOLVED.id },
      body: {
        version: 2,
        alerts: [
          {
            id: FIRING.id,
            kind: "firing",
            cost: { blocks: "61", allowed: "2651", pay_cents: "1250" },
            since: "2026-11-21T12:00:00.000Z",
          },
          { id: RESOLVED.id, kind: "resolved" },
        ],
        content: expect.stringContaining(FOUR_LINES.slice(1)),
      },
    });
  });
});

describe("Alertmanager", () => {
  it("gets labels that identify the alert, and annotations", async () => {
    const receiver = await startReceiver();
    const channel = channelOf("alertmanager", {
      urls: [`${receiver.url}/am/`],
      authorization: secret("Basic x"),
    });
    await send(channel, RESOLVED);
    expect(receiver.received[0]).toMatchObject({
      path: "/am/api/v2/alerts",
      headers: { authorization: "Basic x" },
      body: [
        {
          labels: {
            alertname: "OracleSidecarDown",
            severity: "critical",
            chain_id: "test-1",
            validator: "default",
            component: "oracle-watchdog",
          },
          annotations: {
            summary: "Sidecar down.",
            description: expect.stringMatching(
              /^Now: the sidecar answers\. From 12:00 to 12:11 UTC \(11 min\); lost: 61 blocks/,
            ),
            runbook_url: FIRING.runbook,
            cost: expect.stringContaining("61 blocks, 2 % of"),
          },
          startsAt: "2026-11-21T12:00:00.000Z",
          endsAt: "2026-11-21T12:11:05.000Z",
        },
      ],
    });
  });

  it("gets no alert that ends before it begins, also one that began by a clock that was ahead", async () => {
    const receiver = await startReceiver();
    await send(channelOf("alertmanager", { urls: [receiver.url] }), {
      ...RESOLVED,
      sinceMs: Date.UTC(2026, 10, 21, 13),
    });
    expect(receiver.received[0]).toMatchObject({
      body: [{ startsAt: "2026-11-21T12:11:05.000Z", endsAt: "2026-11-21T12:11:05.000Z" }],
    });
  });
});

describe("e-mail", () => {
  const mailKeys = (port: number) => ({
    host: "127.0.0.1",
    port,
    security: "none",
    user: "watchdog",
    password: secret(SECRET),
    from: "watchdog@validator.example",
    to: ["a@validator.example", "b@validator.example"],
  });

  it("goes to every recipient, once for a repeated delivery, in one thread for one alert", async () => {
    const server = await startSmtpServer();
    stop.push(server.close);
    const channel = channelOf("email", mailKeys(server.port));
    await send(channel, FIRING);
    await send(channel, FIRING);
    await send(channel, RESOLVED);
    const header = (name: string) =>
      server.mails.map(({ text }) => new RegExp(`^${name}: (.*)$`, "mi").exec(text)?.[1]);
    expect(server.mails.map(({ recipients }) => recipients)).toEqual(
      Array.from({ length: 3 }, () => ["a@validator.example", "b@validator.example"]),
    );
    expect(header("Subject")).toEqual([
      "[FIRING, critical] test-1 default: Sidecar down",
      "[FIRING, critical] test-1 default: Sidecar down",
      "[RESOLVED] test-1 default: Sidecar down",
    ]);
    const [first, repeated, resolved] = header("Message-ID");
    expect(first).toMatch(/^<[0-9a-f]{32}@validator\.example>$/);
    expect(repeated).toBe(first);
    expect(resolved).not.toBe(first);
    expect(new Set(header("References")).size).toBe(1);
    expect(server.commands.some((line) => line.startsWith("AUTH PLAIN"))).toBe(true);
    expect(server.mails[0]?.text.replaceAll(/=\r?\n/g, "")).toContain("Do first: Start it.");
  });

  it("distinguishes refused content from other failures, without the password", async () => {
    const server = await startSmtpServer();
    stop.push(server.close);
    const channel = channelOf("email", mailKeys(server.port));
    server.refusal = "554 5.7.1 content rejected for watchdog";
    await expect(send(channel, FIRING)).rejects.toMatchObject({
      facts: { code: "rejected", status: 554 },
      message: "the mail server replied 554 5.7.1 content rejected for [redacted]",
    });
    server.refusal = "451 try again";
    await expect(send(channel, FIRING)).rejects.toMatchObject({ facts: { code: "not-sent" } });
    await server.close();
    await expect(send(channel, FIRING)).rejects.toThrow(
      /^e-mail not sent: E(?:CONNECTION|SOCKET|CONNREFUSED)$/,
    );
    expect(server.mails).toEqual([]);
  });

  it("is per recipient: those who have it get no second copy, and the refused ones are named", async () => {
    const server = await startSmtpServer();
    stop.push(server.close);
    const channel = channelOf("email", mailKeys(server.port));
    const got = () =>
      server.mails.map(({ recipients, text }) => [recipients.join(), /^Subject: (.*)$/m.exec(text)?.[1]]);
    server.refusedRecipients.set("b@validator.example", "452 4.2.2 mailbox full");
    for (const events of [[FIRING], [FIRING], [FIRING, RESOLVED], [FIRING, RESOLVED]])
      await expect(send(channel, ...events)).rejects.toMatchObject({
        facts: { code: "refused", status: 452 },
        message:
          "the mail server refused b@validator.example (452 4.2.2 mailbox full); the other recipients received it",
      });
    expect(got()).toEqual([
      ["a@validator.example", "[FIRING, critical] test-1 default: Sidecar down"],
      ["a@validator.example", "[RESOLVED] test-1 default: Sidecar down"],
    ]);
    server.refusedRecipients.set("b@validator.example", "550 5.1.1 user unknown");
    await expect(send(channel, FIRING, RESOLVED)).rejects.toMatchObject({
      facts: { code: "gone", status: 550 },
    });
    expect(server.mails).toHaveLength(2);
    server.refusedRecipients.clear();
    await send(channel, FIRING, RESOLVED);
    expect(got().slice(2)).toEqual([
      ["b@validator.example", "[FIRING 1, RESOLVED 1] test-1 default: Sidecar down"],
    ]);
  });

  it("refused for all recipients is no mail", async () => {
    const server = await startSmtpServer();
    stop.push(server.close);
    const channel = channelOf("email", mailKeys(server.port));
    for (const one of ["a", "b"])
      server.refusedRecipients.set(`${one}@validator.example`, "550 no such user");
    await expect(send(channel, FIRING)).rejects.toMatchObject({
      facts: { code: "gone", status: 550 },
      message:
        "the mail server refused a@validator.example (550 no such user), b@validator.example (550 no such user)",
    });
    expect(server.mails).toEqual([]);
  });

  it("refuses an address that would add a header", () => {
    const keys = { ...mailKeys(25), to: ["a@b.example\r\nBcc: c@d.example"] };
    expect(() => channelOf("email", keys)).toThrow();
  });
});

describe("a receiver that does not accept", () => {
  const webhook = (url: string): Channel => channelOf("webhook", { url: secret(`${url}/${SECRET}`) });

  it.each([
    [500, { code: "refused", status: 500 }],
    [404, { code: "refused", status: 404 }],
    [400, { code: "rejected", status: 400 }],
    [413, { code: "rejected", status: 413 }],
    [422, { code: "rejected", status: 422 }],
  ])("fails with HTTP %i", async (status, facts) => {
    const receiver = await startReceiver();
    receiver.reply = textReply(status, "no");
    await expect(send(webhook(receiver.url), FIRING)).rejects.toMatchObject({ facts });
  });

  it.each([
    ["slack", 404, "no_service", "gone", "Slack answered HTTP 404: no_service"],
    ["slack", 410, "channel_is_archived", "gone", "Slack answered HTTP 410: channel_is_archived"],
    ["slack", 400, "invalid_payload", "rejected", "Slack answered HTTP 400: invalid_payload"],
    ["slack", 500, "rollup_error", "refused", "Slack answered HTTP 500: rollup_error"],
    [
      "slack",
      200,
      '{"ok":false,"error":"channel_not_found"}',
      "gone",
      "Slack answered HTTP 200: channel_not_found",
    ],
    [
      "webhook",
      201,
      '{"success":false,"message":"no such room"}',
      "refused",
      "the webhook answered HTTP 201: no such room",
    ],
    [
      "telegram",
      400,
      '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
      "gone",
      "Telegram answered HTTP 400: Bad Request: chat not found",
    ],
    [
      "telegram",
      400,
      '{"ok":false,"description":"Bad Request: message text is empty"}',
      "rejected",
      "Telegram answered HTTP 400: Bad Request: message text is empty",
    ],
    [
      "telegram",
      403,
      '{"description":"Forbidden: bot was kicked from the group chat"}',
      "gone",
      "Telegram answered HTTP 403: Forbidden: bot was kicked from the group chat",
    ],
    ["telegram", 401, '{"description":"Unauthorized"}', "gone", "Telegram answered HTTP 401: Unauthorized"],
    [
      "discord",
      404,
      '{"message":"Unknown Webhook","code":10015}',
      "gone",
      "Discord answered HTTP 404: Unknown Webhook",
    ],
    [
      "discord",
      400,
      '{"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"0":{"description":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH"}]}}}}}',
      "rejected",
      'Discord answered HTTP 400: Invalid Form Body; {"embeds":{"0":{"description":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH"}]}}}}',
    ],
    [
      "pagerduty",
      400,
      `{"status":"invalid event","message":"Event object is invalid","errors":["invalid routing key ${SECRET}"]}`,
      "gone",
      'PagerDuty answered HTTP 400: Event object is invalid; ["invalid routing key [redacted]"]',
    ],
    [
      "pagerduty",
      400,
      `{"message":"Event object is invalid","errors":["'payload.severity' is missing"]}`,
      "rejected",
      `PagerDuty answered HTTP 400: Event object is invalid; ["'payload.severity' is missing"]`,
    ],
    ["webhook", 410, "", "gone", "the webhook answered HTTP 410"],
    ["webhook", 502, "<html><h1>Bad gateway</h1>", "refused", "the webhook answered HTTP 502"],
    [
      "webhook",
      403,
      `no access for ${SECRET}\n\u0007 at /hooks/${SECRET}?token=${SECRET} ${"x".repeat(400)}`,
      "refused",
      `the webhook answered HTTP 403: no access for [redacted] at /hooks/[redacted]?token=[redacted] ${"x".repeat(237)}`,
    ],
  ])("says in its own words why: %s, HTTP %i, %s", async (...row) => {
    const [kind, status, text, code, message] = row;
    const receiver = await startReceiver();
    receiver.reply = textReply(status, text);
    const keys = {
      telegram: { bot_token: secret(`123456:${SECRET}`), chat_id: "-1", api: receiver.url },
      pagerduty: { routing_key: secret(SECRET), url: receiver.url },
    }[kind] ?? { url: secret(`${receiver.url}/hooks/${SECRET}?token=${SECRET}`) };
    await expect(send(channelOf(kind, keys), FIRING)).rejects.toMatchObject({
      facts: { code, status },
      message,
    });
  });

  it("follows a Telegram group that became a supergroup, and says the new id once, also over a restart", async () => {
    const receiver = await startReceiver();
    const said: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (_message: string, fields?: LogFields) => void said.push(fields),
    };
    const { channels } = notifySchema.parse({
      channels: [
        {
          kind: "telegram",
          name: "tg",
          bot_token: secret(`123456:${SECRET}`),
          chat_id: "-4001",
          api: receiver.url,
        },
      ],
    });
    const [config] = channels;
    if (config === undefined) throw new Error("no channel");
    const stored = new Map<string, ChannelMove>();
    const moves = {
      moveOf: (name: string) => stored.get(name),
      setMove: (name: string, move: ChannelMove) => void stored.set(name, move),
    };
    const deps = { post: createPostJson(), mail: createSendMail(), logger, moves };
    const channel = createChannel(config, deps);
    receiver.replyTo = ({ body }) =>
      JSON.stringify(body).includes('"chat_id":"-1009000000001"')
        ? textReply(200, '{"ok":true}')
        : textReply(400, '{"ok":false,"parameters":{"migrate_to_chat_id":-1009000000001}}');
    await send(channel, FIRING);
    await send(channel, RESOLVED);
    await send(createChannel(config, deps), FIRING);
    const chats = () => receiver.received.map(({ body }) => isRecord(body) && body["chat_id"]);
    expect(chats()).toEqual(["-4001", "-1009000000001", "-1009000000001", "-1009000000001"]);
    expect(said).toEqual([
      { channel: "tg", advice: 'the chat is now a supergroup; set chat_id: "-1009000000001"' },
    ]);
    // The operator has set another chat since then.
    if (config.kind !== "telegram") throw new Error("not Telegram");
    receiver.replyTo = () => textReply(200, "ok");
    await send(createChannel({ ...config, chatId: "-77" }, deps), FIRING);
    expect(chats().at(-1)).toBe("-77");
  });

  it("gets texts that end between two characters, and never half of one", async () => {
    const receiver = await startReceiver();
    const half = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
    const family = "\u{1F469}\u200D\u{1F469}\u200D\u{1F467}";
    for (const shift of Array.from({ length: 9 }, (_, index) => "x".repeat(index)))
      for (const kind of ["slack", "discord", "telegram", "pagerduty"]) {
        const keys = {
          telegram: { bot_token: secret(`123456:${SECRET}`), chat_id: "-1", api: receiver.url },
          pagerduty: { routing_key: secret(SECRET), url: receiver.url },
        }[kind] ?? { url: secret(`${receiver.url}/${SECRET}`) };
        const title = `${shift}${family.repeat(700)}`;
        await send(channelOf(kind, keys), alertEvent({ title, reason: "a \ud83d half", description: title }));
        const text = JSON.stringify(receiver.received.at(-1)?.body);
        expect(text).not.toMatch(half);
        expect(text).not.toMatch(/\\ud[89a-f]/i);
        // No family loses a member.
        expect(text.replaceAll(family, "")).not.toMatch(/[\u{1F469}\u{1F467}\u200D]/u);
      }
  });

  it.each([
    ["https://new.example/hooks/other-secret-part", "https://new.example"],
    [`/hooks/${SECRET}/`, "http://127.0.0.1:"],
  ])(
    "names the host to which a receiver redirects, and sends nothing there: %s",
    async (location, target) => {
      const receiver = await startReceiver();
      receiver.reply = { ...textReply(308, "moved"), headers: { location } };
      const error = await send(webhook(receiver.url), FIRING).catch(String);
      expect(error).toContain(`the webhook answered HTTP 308: it redirects to ${target}`);
      expect(error).not.toContain("secret-part");
      expect(receiver.received).toHaveLength(1);
    },
  );

  it("says how long to wait, in seconds with a fraction, at most an hour", async () => {
    const receiver = await startReceiver();
    for (const [header, retryAfterMs] of [
      ["2", 2000],
      ["0.25", 250],
      ["999999", 3_600_000],
    ] as const) {
      receiver.reply = { ...textReply(429, "slow down"), headers: { "Retry-After": header } };
      await expect(send(webhook(receiver.url), FIRING)).rejects.toMatchObject({
        facts: { code: "refused", status: 429, retryAfterMs },
      });
    }
    receiver.reply = textReply(429, '{"ok":false,"parameters":{"retry_after":7}}');
    await expect(send(webhook(receiver.url), FIRING)).rejects.toMatchObject({
      facts: { retryAfterMs: 7000 },
    });
    receiver.reply = textReply(
      429,
      '{"message":"You are being rate limited.","retry_after":1.5,"global":true}',
    );
    await expect(send(webhook(receiver.url), FIRING)).rejects.toMatchObject({
      facts: { retryAfterMs: 1500 },
    });
    receiver.reply = { ...textReply(429, "x"), headers: { "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" } };
    const error: unknown = await send(webhook(receiver.url), FIRING).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ facts: { code: "refused", status: 429 } });
  });

  it("never shows the URL", async () => {
    const receiver = await startReceiver();
    receiver.reply = textReply(500, "no");
    const refused = await send(webhook(receiver.url), FIRING).catch(String);
    const unreachable = await send(webhook("http://127.0.0.1:1"), FIRING).catch(String);
    expect(refused).toBe("ChannelError: the webhook answered HTTP 500: no");
    expect(unreachable).toBe("ChannelError: the webhook: ECONNREFUSED");
  });
});

describe("a test of all channels", () => {
  it("shows for each whether it accepts a notification and its end", async () => {
    const receiver = await startReceiver();
    const results = await testChannels(
      [
        channelOf("slack", { url: secret(receiver.url) }),
        channelOf("pagerduty", { routing_key: secret(SECRET), url: receiver.url }),
        channelOf("webhook", { url: secret(`http://127.0.0.1:1/${SECRET}`) }),
      ],
      { clock: systemClock, reason: "a test", links: { runbooks: "" } },
      signal,
    );
    expect(results).toEqual([
      { channel: "test", kind: "slack", error: null },
      { channel: "test", kind: "pagerduty", error: null },
      { channel: "test", kind: "webhook", error: "the webhook: ECONNREFUSED" },
    ]);
    expect(receiver.received).toHaveLength(3);
  });
});
