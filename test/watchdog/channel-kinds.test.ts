import { afterEach, describe, expect, it, vi } from "vitest";
import {
  CHANNEL_KINDS,
  channelSchema,
  createChannel,
} from "../../src/watchdog/notify/channels/channel-kinds.ts";
import { alertEvent } from "../support/watchdog/alert-event.ts";

const deps = { post: async () => ({ status: 200 }), mail: async () => {} };

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Parses the example of a kind. Its secrets are read from the environment of the test. */
function exampleOf({ kind, example }: (typeof CHANNEL_KINDS)[number]) {
  for (const value of Object.values<unknown>(example))
    if (typeof value === "object" && value !== null && "env" in value)
      vi.stubEnv(String(value.env), kind === "telegram" ? "1:abcdefghij" : "https://receiver.example/secret");
  return channelSchema.parse({ kind, ...example });
}

describe.each(CHANNEL_KINDS.map((kind) => [kind.kind, kind] as const))(
  "the kind of channel %s",
  (name, kind) => {
    it("has an example that its schema accepts", () => {
      expect(exampleOf(kind)).toMatchObject({ kind: name, name: kind.example.name });
    });

    it("has the links of an event in the notification of its begin and of its end", async () => {
      const sent: unknown[] = [];
      const channel = createChannel(exampleOf(kind), {
        post: async ({ body }) => {
          sent.push(body);
          return { status: 200 };
        },
        mail: async (_server, mail) => {
          sent.push(mail);
        },
      });
      const links = {
        runbook: "https://runbooks.example/sidecar-down.md",
        dashboard: "https://grafana.example/d/fleet?var-validator=default",
        page: "https://watchdog.example/validators/default#condition-default-sidecar-down",
      };
      for (const event of ["firing", "resolved"] as const) {
        await channel.send([alertEvent({ ...links, kind: event })], new AbortController().signal);
        for (const link of Object.values(links)) expect(JSON.stringify(sent.at(-1))).toContain(link);
      }
    });

    it("creates a channel that sends alerts, and reports only when it takes them", async () => {
      const channel = createChannel(exampleOf(kind), deps);
      const { signal } = new AbortController();
      await channel.send([alertEvent()], signal);
      expect(channel.sendReport !== undefined).toBe(kind.takesReports);
      await channel.sendReport?.({ id: "report", subject: "Report", text: "text" }, signal);
    });
  },
);
