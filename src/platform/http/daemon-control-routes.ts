import { isRecord, parseJson } from "../base/json.ts";
import { LOG_LEVELS, type LogLevelControl } from "../base/logger.ts";
import { isoTime } from "../base/time.ts";
import type { Reloader, ReloadStatus } from "../process/reloadable.ts";
import { errorReply, getRoute, type HttpReply, type HttpRoute, jsonReply } from "./http-route.ts";

export interface ControlDeps {
  /** Absent: the settings are fixed. */
  readonly reloader?: Reloader | undefined;
  /** Absent: the level is fixed. */
  readonly logLevel?: LogLevelControl | undefined;
}

/**
 * Creates the routes that control a daemon: `POST /-/reload`, `POST /-/reload?force=1`, `GET` and `POST /-/log-level`. Those that change something need the
 * token, on a loopback address too: every program and every user of the machine can reach it.
 */
export function controlRoutes({ reloader, logLevel }: ControlDeps): readonly HttpRoute[] {
  return [
    ...(reloader === undefined
      ? []
      : [
          {
            method: "POST",
            path: "/-/reload",
            guarded: true,
            handle: ({ query }) => reload(reloader, query.get("force") === "1"),
          } satisfies HttpRoute,
        ]),
    ...(logLevel === undefined
      ? []
      : [
          getRoute("/-/log-level", () => jsonReply(200, { level: logLevel.current() })),
          {
            method: "POST",
            path: "/-/log-level",
            guarded: true,
            handle: ({ body }) => setLevel(logLevel, body),
          } satisfies HttpRoute,
        ]),
  ];
}

async function reload(reloader: Reloader, isForced: boolean): Promise<HttpReply> {
  const result = await reloader.reload("POST /-/reload", isForced);
  if (!result.ok) return errorReply(500, "reload-failed", `the settings are as before: ${result.error}`);
  const { services, live, needRestart } = result;
  return jsonReply(200, { applied: [...services, ...live], need_restart: needRestart });
}

function setLevel(logLevel: LogLevelControl, body: Uint8Array): HttpReply {
  const given = parseJson(new TextDecoder().decode(body));
  const wanted = isRecord(given) ? given["level"] : undefined;
  const level = LOG_LEVELS.find((one) => one === wanted);
  if (level === undefined)
    return errorReply(400, "bad-level", `the body is {"level": L}, and L one of ${LOG_LEVELS.join(", ")}`);
  logLevel.set(level);
  return jsonReply(200, { level });
}

/** Converts the state of the configuration to JSON for `/api/status`. Absent values are null. */
export function reloadJson(status: ReloadStatus) {
  return {
    loaded_at: isoTime(status.successAtMs),
    last_reload_successful: status.error === undefined,
    error: status.error ?? null,
    failed_at: status.failedAtMs === undefined ? null : isoTime(status.failedAtMs),
    need_restart: status.needRestart,
  };
}
