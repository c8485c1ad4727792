import { Argument, Option } from "commander";
import { z } from "zod";
import { LOG_LEVELS } from "../base/logger.ts";

/** `[LEVEL]` for commands that print or set a daemon's log level. */
export function levelArgument(): Argument {
  return new Argument("[level]", "new level; if omitted, the present one is printed").choices(LOG_LEVELS);
}

export function levelText(reply: unknown): string {
  return z.object({ level: z.string() }).parse(reply).level;
}

const reloadReply = z.object({ applied: z.array(z.string()), need_restart: z.array(z.string()) });

/** Creates the request for a reload. A reload takes as long as stopping and starting the services, plus their first cycle. */
export function reloadRequest({ force }: { readonly force?: true }) {
  return { path: `/-/reload${force ? "?force=1" : ""}`, method: "POST", deadlineMs: 60_000 } as const;
}

/** `--force` for commands that reload. */
export function forceOption(): Option {
  return new Option(
    "--force",
    "also accept a configuration that is empty, or no longer has channels or validators",
  );
}

export function reloadText(reply: unknown): string {
  const { applied, need_restart: waiting } = reloadReply.parse(reply);
  const first =
    applied.length === 0 ? "loaded; no applicable key has changed" : `applied: ${applied.join(", ")}`;
  return waiting.length === 0 ? first : `${first}\nneeds a restart of the process: ${waiting.join(", ")}`;
}

export const RELOAD_HELP = `
Waits until the daemon has run once with the new settings. Prints the changed keys that are applied, and those that need a restart
of the process. Exits 1 when the configuration cannot be used: the settings are then unchanged.`;
