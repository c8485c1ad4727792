import type { Registry } from "prom-client";
import { errorReply, type HttpReply, type HttpRoute, jsonReply, textReply } from "../../ops/http-route.ts";
import { statusJson, type WatchdogStatus } from "../status.ts";
import { PAGE_POLICY, statusPage } from "./status-page.ts";

/** What the face shows. */
export interface FaceDeps {
  readonly status: () => WatchdogStatus;
  /** Whether looks still happen. */
  readonly isAlive: () => boolean;
  readonly registry: Registry;
}

/** Routes of the watchdog's HTTP face; all of them only read. */
export function createWatchdogRoutes({ status, isAlive, registry }: FaceDeps): readonly HttpRoute[] {
  return [
    get("/", () => pageReply(statusPage(status()))),
    get("/api/status", () => jsonReply(200, statusJson(status()))),
    get("/metrics", async () => ({
      status: 200,
      headers: { "content-type": registry.contentType },
      body: await registry.metrics(),
    })),
    get("/livez", () =>
      isAlive()
        ? textReply(200, "ok\n")
        : errorReply(503, "stuck", "no look at the sources has ended for too long"),
    ),
    get("/readyz", () =>
      status().observedAtMs === undefined
        ? errorReply(503, "not-ready", "the first look at the sources has not ended yet")
        : textReply(200, "ok\n"),
    ),
  ];
}

function pageReply(html: string): HttpReply {
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
    body: html,
  };
}

function get(path: string, handle: HttpRoute["handle"]): HttpRoute {
  return { method: "GET", path, handle };
}
