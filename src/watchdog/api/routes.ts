import type { Registry } from "prom-client";
import { errorReply, type HttpRoute, jsonReply, textReply } from "../../platform/http/http-route.ts";
import { allStatusJson, type WatchdogStatus } from "../status.ts";

export interface RoutesDeps {
  readonly statuses: () => readonly WatchdogStatus[];
  /** Whether the poll loop still runs. */
  readonly isAlive: () => boolean;
  readonly registry: Registry;
}

/** Creates the routes of the watchdog's HTTP API. All are read-only. */
export function createWatchdogRoutes({ statuses, isAlive, registry }: RoutesDeps): readonly HttpRoute[] {
  return [
    get("/api/status", () => jsonReply(200, allStatusJson(statuses()))),
    get("/metrics", async () => ({
      status: 200,
      headers: { "content-type": registry.contentType },
      body: await registry.metrics(),
    })),
    get("/livez", () =>
      isAlive() ? textReply(200, "ok\n") : errorReply(503, "stuck", "the last poll ended too long ago"),
    ),
    get("/readyz", () =>
      statuses().some(({ polledAtMs }) => polledAtMs === undefined)
        ? errorReply(503, "not-ready", "the first poll has not ended yet")
        : textReply(200, "ok\n"),
    ),
  ];
}

function get(path: string, handle: HttpRoute["handle"]): HttpRoute {
  return { method: "GET", path, handle };
}
