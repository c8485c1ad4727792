import {
  type AlertSpec,
  placeLabels,
  type SeriesCase,
} from "../../../src/platform/monitoring/alerts/alert-spec.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { textReply } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";

/** A metrics page with the situations of alerts, each one with the labels of a target of its own. */
export interface AlertFeed {
  /** "host:port". */
  readonly target: string;
  /** Begins the second phase of all situations: that in which the alerts are resolved. */
  readonly clear: () => void;
  readonly close: () => Promise<void>;
}

/** Starts the page with the first phase. A minute of a situation takes a second here. */
export async function startAlertFeed(alerts: readonly AlertSpec[]): Promise<AlertFeed> {
  let beganMs: number | undefined;
  let clearedMs: number | undefined;
  const page = (): string => {
    // The situations begin with the first scrape.
    beganMs ??= Date.now();
    const began = beganMs;
    return alerts
      .flatMap((alert) => lines(alert, began, clearedMs))
      .map((one) => `${one}\n`)
      .join("");
  };
  const server = await openRouteServer(
    {
      name: "feed",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "none",
      routes: [{ method: "GET", path: "/metrics", handle: () => textReply(200, page()) }],
    },
    { logger: silentLogger },
  );
  return {
    target: `127.0.0.1:${server.address.port}`,
    clear: () => {
      clearedMs = Date.now();
    },
    close: server.close,
  };
}

/** The labels by which an alert of the feed is recognised. */
export function placeOf({ name }: AlertSpec): string {
  return `feed-${name}`;
}

function lines(alert: AlertSpec, beganMs: number, clearedMs: number | undefined): readonly string[] {
  const { fires = [], clears = [] } = alert.example ?? {};
  const first = ((clearedMs ?? Date.now()) - beganMs) / 1000;
  if (clearedMs === undefined)
    return fires.flatMap((one) => (ended(one, first) ? [] : [line(alert, one, valueAt(one, first))]));
  const second = (Date.now() - clearedMs) / 1000;
  const later = new Map(clears.map((one) => [one.series, one]));
  return [
    ...fires.flatMap((one) => {
      if (one.ends !== undefined) return [];
      const { series, step = 0 } = one;
      const next = later.get(series) ?? { series, step };
      const from = next.from ?? (one.clock ? (one.from ?? 0) : valueAt(one, first));
      return [line(alert, next, valueAt({ ...next, from }, second))];
    }),
    ...clears
      .filter(({ series }) => !fires.some((one) => one.series === series))
      .map((one) => line(alert, one, valueAt(one, second))),
  ];
}

/** The rules of a month have seen the counter by then. */
const JUMP_SECONDS = 20;

/** Longer than in promtool, so that Prometheus has seen it more than once. */
function ended({ ends }: SeriesCase, seconds: number): boolean {
  return ends !== undefined && seconds > ends * 4;
}

function valueAt({ from = 0, step = 0, jump = 0, clock }: SeriesCase, seconds: number): number {
  if (clock) return Date.now() / 1000 + from;
  return from + step * seconds + (seconds > JUMP_SECONDS ? jump : 0);
}

function line(alert: AlertSpec, { series }: SeriesCase, value: number): string {
  const own = Object.entries(placeLabels(alert.component, placeOf(alert)))
    .filter(([label]) => !series.includes(`,${label}="`))
    .map(([label, text]) => `${label}="${text}"`);
  return `${series.replace("$", own.join(","))} ${value}`;
}
