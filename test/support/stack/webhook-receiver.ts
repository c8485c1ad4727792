import { z } from "zod";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { textReply } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";

const message = z.object({
  status: z.enum(["firing", "resolved"]),
  alerts: z.array(z.object({ labels: z.record(z.string(), z.string()), startsAt: z.string() })),
});

type Labels = Readonly<Record<string, string>>;

/**
 * A receiver of Alertmanager's webhooks. A message counts once: Alertmanager repeats one whose answer comes late, as on a busy machine.
 */
export interface Receiver {
  readonly url: string;
  /** Number of messages about an alert. `key` is the {@link labelText} of its labels. */
  readonly count: (key: string, status: "firing" | "resolved") => number;
  /** Number of messages about all alerts whose labels match. */
  readonly counts: (matches: (labels: Labels) => boolean) => {
    readonly firing: number;
    readonly resolved: number;
  };
  readonly close: () => Promise<void>;
}

/** Returns the sorted labels as text. */
export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .toSorted()
    .join(",");
}

/** Starts a server on a free port that passes on the JSON of each POST, to any path. */
export async function startHook(
  onBody: (body: unknown) => void,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = await openRouteServer(
    {
      name: "receiver",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "none",
      routes: [
        {
          method: "POST",
          path: "*",
          handle: ({ body }) => {
            onBody(JSON.parse(new TextDecoder().decode(body)));
            return textReply(200, "ok");
          },
        },
      ],
    },
    { logger: silentLogger },
  );
  return { url: `http://127.0.0.1:${server.address.port}/hook`, close: server.close };
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const received = new Map<string, { readonly status: string; readonly labels: Labels }>();
  const { url, close } = await startHook((body) => {
    const { status, alerts } = message.parse(body);
    for (const { labels, startsAt } of alerts)
      received.set(`${startsAt} ${status} ${labelText(labels)}`, { status, labels });
  });
  const counts: Receiver["counts"] = (matches) => {
    const found = [...received.values()].filter(({ labels }) => matches(labels));
    const firing = found.filter(({ status }) => status === "firing").length;
    return { firing, resolved: found.length - firing };
  };
  return {
    url,
    count: (key, status) => counts((labels) => labelText(labels) === key)[status],
    counts,
    close,
  };
}
