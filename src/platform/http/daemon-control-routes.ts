import { z } from "zod";
import { isRecord, parseJson } from "../base/json.ts";
import { LOG_LEVELS, type LogLevelControl } from "../base/logger.ts";
import type { Reloader, ReloadStatus } from "../process/reloadable.ts";
import { errorReply, type HttpReply, jsonReply } from "./http-route.ts";
import { jsonView, words } from "./json-view.ts";
import { type ApiRoute, errorOf, getJson, postJson, serveRoute } from "./route-about.ts";

export interface ControlDeps {
  /** Reloads the configuration; absent if the settings are fixed. */
  readonly reloader?: Reloader | undefined;
  /** Changes the log level; absent if the level is fixed. */
  readonly logLevel?: LogLevelControl | undefined;
}

const level = z.strictObject({ level: z.enum(LOG_LEVELS) });

/**
 * Routes that reload a daemon's configuration and read or set its log level. Changes require the token even on a loopback address,
 * because every program and user on the machine can reach that address.
 */
export const CONTROL_API = {
  reload: postJson(
    "/-/reload",
    "reloads the configuration",
    z.strictObject({ applied: z.array(z.string()), need_restart: z.array(z.string()) }),
    {
      query: { force: "`1` to reload even if the change removes validators" },
      replies: { 500: errorOf("the configuration is invalid; the settings are unchanged") },
    },
  ),
  logLevel: getJson("/-/log-level", "the log level", level),
  setLogLevel: postJson("/-/log-level", 'sets the log level: `{"level": "debug"}`', level, {
    body: level,
    replies: { 400: errorOf("invalid log level") },
  }),
};

export function controlRoutes({ reloader, logLevel }: ControlDeps): readonly ApiRoute[] {
  return [
    ...(reloader === undefined
      ? []
      : [serveRoute(CONTROL_API.reload, ({ query }) => reload(reloader, query.get("force") === "1"))]),
    ...(logLevel === undefined
      ? []
      : [
          serveRoute(CONTROL_API.logLevel, () => jsonReply(200, { level: logLevel.current() })),
          serveRoute(CONTROL_API.setLogLevel, ({ body }) => setLevel(logLevel, body)),
        ]),
  ];
}

async function reload(reloader: Reloader, isForced: boolean): Promise<HttpReply> {
  const result = await reloader.reload("POST /-/reload", isForced);
  if (!result.ok) return errorReply(500, "reload-failed", `the settings are unchanged: ${result.error}`);
  const { services, live, needRestart } = result;
  return jsonReply(200, { applied: [...services, ...live], need_restart: needRestart });
}

function setLevel(logLevel: LogLevelControl, body: Uint8Array): HttpReply {
  const given = parseJson(new TextDecoder().decode(body));
  const wanted = isRecord(given) ? given["level"] : undefined;
  const found = LOG_LEVELS.find((one) => one === wanted);
  if (found === undefined)
    return errorReply(
      400,
      "bad-level",
      `the body must be {"level": L}, where L is one of ${LOG_LEVELS.join(", ")}`,
    );
  logLevel.set(found);
  return jsonReply(200, { level: found });
}

/** View of the configuration's reload status in `/api/status`. */
export const reloadView = jsonView<ReloadStatus>(({ value, orNull, time, timeOrNull, values }) => ({
  loaded_at: time(({ successAtMs }) => successAtMs),
  last_reload_successful: value(z.boolean(), ({ error }) => error === undefined),
  error: orNull(words, ({ error }) => error),
  failed_at: timeOrNull(({ failedAtMs }) => failedAtMs),
  need_restart: values(words, ({ needRestart }) => needRestart),
}));
