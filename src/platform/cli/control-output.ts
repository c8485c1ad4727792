import { Argument } from "commander";
import { z } from "zod";
import { LOG_LEVELS } from "../base/logger.ts";

/** `[LEVEL]` of the commands that print or set a daemon's log level. */
export function levelArgument(): Argument {
  return new Argument("[level]", "the new level; without it, the present one is printed").choices(LOG_LEVELS);
}

/** Formats the reply of `/-/log-level`. */
export function levelText(reply: unknown): string {
  return z.object({ level: z.string() }).parse(reply).level;
}

const reloadReply = z.object({ applied: z.array(z.string()), need_restart: z.array(z.string()) });

/** A reload takes as long as a stop and a start of the services. */
export const RELOAD_REQUEST = { path: "/-/reload", method: "POST", deadlineMs: 60_000 } as const;

/** Formats the reply of `/-/reload`. */
export function reloadText(reply: unknown): string {
  const { applied, need_restart: waiting } = reloadReply.parse(reply);
  const first =
    applied.length === 0 ? "loaded; no key that is applied has changed" : `applied: ${applied.join(", ")}`;
  return waiting.length === 0 ? first : `${first}\nneeds a restart of the process: ${waiting.join(", ")}`;
}

/** Help of the commands that load a daemon's configuration again. */
export const RELOAD_HELP = `
Prints the changed keys that are applied, and those that need a restart of the process. Exits 1 when the configuration cannot
be used: the settings are then as before.`;
