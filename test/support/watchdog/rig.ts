import { reportsSchema } from "../../../src/watchdog/report/reports-config.ts";
import type { ManualClock } from "../manual-clock.ts";
import { Registry } from "prom-client";
import type { LogFields, Logger } from "../../../src/platform/base/logger.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import type { WatchdogConfig } from "../../../src/watchdog/config/config.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import type { ValidatorTarget } from "../../../src/watchdog/sources/targets.ts";
import { DEFAULT_VALIDATOR } from "../../../src/watchdog/state/schema.ts";
import { createWatchdog, type Watchdog, type WatchdogDeps } from "../../../src/watchdog/watchdog.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { z } from "zod";
import type { World } from "./world.ts";

/** A running watchdog over a simulated world. */
export interface Rig {
  readonly watchdog: Watchdog;
  readonly url: string;
  readonly registry: Registry;
  readonly log: readonly string[];
  /** Stops the watchdog and waits for its end. Returns the error that `run` threw. */
  readonly stop: () => Promise<unknown>;
}

/** A webhook receiver. */
export interface Receiver {
  /** Received alerts of all requests, in order. */
  readonly alerts: Readonly<Record<string, unknown>>[];
  /** Texts of the requests. */
  readonly texts: string[];
  /** Status of the next responses. While undefined, requests fail. */
  status: number | undefined;
}

/** Creates a receiver that accepts every notification. */
export function createReceiver(): Receiver {
  return { alerts: [], texts: [], status: 204 };
}

/** What a test changes in the configuration. */
export type RigOptions = Partial<WatchdogConfig> & { readonly chainId?: string };

/** Configuration for simulations: one poll every 5 s, the default alerts, and a webhook that gets critical ones. */
export function rigConfig({ chainId, ...extra }: RigOptions = {}): WatchdogConfig {
  const target: ValidatorTarget = {
    name: DEFAULT_VALIDATOR,
    ...(chainId === undefined ? {} : { chainId }),
    nodes: [
      {
        name: "node",
        node: "http://127.0.0.1:26660/metrics",
        prices: "http://127.0.0.1:8080/",
        oracleMetrics: "http://127.0.0.1:8001/metrics",
        sidecarMetrics: "http://127.0.0.1:8002/metrics",
      },
    ],
    egress: [],
  };
  return {
    listen: { host: "127.0.0.1", port: 0 },
    intervalMs: 5000,
    limits: { deadlineMs: 4000, maxPageBytes: 1_000_000 },
    validators: [{ target, policy: { policy: SPECIFIED_POLICY, fromChain: false } }],
    // Those that the simulated sidecar has.
    alerts: alertsSchema.parse({ major_pairs: ["BTC/USD", "ETH/USD"] }),
    notify: {
      channels: [
        {
          kind: "webhook",
          name: "webhook",
          minSeverity: "critical",
          sendReminders: true,
          sendResolved: true,
          deadlineMs: 1000,
          url: new Secret("http://hooks.example/secret-path"),
        },
      ],
      groupWaitMs: 0,
      reminders: { critical: [], warning: [], info: [] },
      escalation: { minSeverity: "critical", steps: [] },
      runbooks: "",
    },
    maintenance: [],
    reports: reportsSchema.parse({}),
    ...extra,
  };
}

/** Starts a watchdog. Its first poll has ended when this returns. */
export async function startRig(
  config: WatchdogConfig,
  clock: ManualClock,
  world: Pick<World, "read"> & Pick<WatchdogDeps, "readSamples" | "openState">,
  receiver: Receiver,
): Promise<Rig> {
  const end = new AbortController();
  const registry = new Registry();
  const log: string[] = [];
  const watchdog = createWatchdog(config, {
    clock,
    registry,
    logger: collectingLogger(log),
    random: () => 0.5,
    reader: { read: world.read, close: async () => {} },
    ...(world.readSamples === undefined ? {} : { readSamples: world.readSamples }),
    ...(world.openState === undefined ? {} : { openState: world.openState }),
    post: async ({ body }) => {
      if (receiver.status === undefined) throw new Error("connect failed http://hooks.example/secret-path");
      const { alerts, text } = webhookRequest.parse(body);
      receiver.alerts.push(...alerts);
      receiver.texts.push(text);
      return { status: receiver.status };
    },
  });
  const ended = watchdog.run(end.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const address = await watchdog.ready.catch(() => undefined);
  await clock.advance(0);
  return {
    watchdog,
    url: `http://127.0.0.1:${address?.port ?? 0}`,
    registry,
    log,
    stop: () => {
      end.abort(new Error("test over"));
      return ended;
    },
  };
}

const webhookRequest = z.object({
  alerts: z.array(z.record(z.string(), z.unknown())),
  text: z.string(),
});

/** A logger that collects its lines as text. */
function collectingLogger(lines: string[]): Logger {
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      const text = JSON.stringify(fields, (_key, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      );
      lines.push(`${level} ${message} ${text}`);
    };
  const logger: Logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => logger,
  };
  return logger;
}
