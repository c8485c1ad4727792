import { Argument, type Command } from "commander";
import { z } from "zod";
import { stringifyJson } from "../base/json.ts";
import { LOG_LEVELS, type LogLevel } from "../base/logger.ts";
import type { CliContext } from "./cli-context.ts";
import type { DaemonRequest } from "./daemon-request.ts";

interface Printing {
  readonly json?: true;
}

/** Sends a request to the daemon selected by the command's options. */
type Ask<O> = (
  request: Pick<DaemonRequest, "path" | "method" | "body" | "deadlineMs">,
  options: O,
  context: CliContext,
) => Promise<unknown>;

/** Deadline for a reload, which restarts the services and waits for their first cycle. */
const RELOAD_MS = 60_000;

/** Adds the action of a command that reloads a daemon's configuration. The command must have the options that locate the daemon. */
export function reloadCommand<O>(command: Command, ask: Ask<O>, context: CliContext): Command {
  return command
    .option("--force", "accept the configuration even if it is empty or has lost all channels or validators")
    .addHelpText("after", RELOAD_HELP)
    .action(async (options: O & Printing & { readonly force?: true }) => {
      const path = `/-/reload${options.force ? "?force=1" : ""}`;
      const reply = await ask({ path, method: "POST", deadlineMs: RELOAD_MS }, options, context);
      context.print(options.json ? stringifyJson(reply, 2) : reloadText(reply));
    });
}

const RELOAD_HELP = `
Waits until the daemon has run once with the new settings. Prints which changed keys are applied and which need a process restart. Exits 1 and leaves the settings unchanged if the configuration is invalid.`;

const reloadReply = z.object({ applied: z.array(z.string()), need_restart: z.array(z.string()) });

function reloadText(reply: unknown): string {
  const { applied, need_restart: waiting } = reloadReply.parse(reply);
  const first =
    applied.length === 0 ? "loaded; no applicable key has changed" : `applied: ${applied.join(", ")}`;
  return waiting.length === 0 ? first : `${first}\nneeds a process restart: ${waiting.join(", ")}`;
}

/**
 * Adds the action of a command that prints or sets a daemon's log level. The command must have the options that locate the daemon.
 */
export function logLevelCommand<O>(command: Command, ask: Ask<O>, context: CliContext): Command {
  const argument = new Argument("[level]", "the new level; default: print the current level");
  return command
    .addArgument(argument.choices(LOG_LEVELS))
    .action(async (level: LogLevel | undefined, options: O & Printing) => {
      const change = level === undefined ? {} : { method: "POST" as const, body: { level } };
      const reply = await ask({ path: "/-/log-level", ...change }, options, context);
      context.print(
        options.json ? stringifyJson(reply, 2) : z.object({ level: z.string() }).parse(reply).level,
      );
    });
}
