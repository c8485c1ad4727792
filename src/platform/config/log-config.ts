import { z } from "zod";
import { LOG_LEVELS } from "../base/logger.ts";

/** The section `log` of a daemon's configuration. */
export function logSchema() {
  return z.strictObject({
    /** Least level of a line. The option `--log-level` overrides it. */
    level: z.enum(LOG_LEVELS).default("info"),
    /** `auto`: text on a terminal, else JSON. */
    format: z.enum(["auto", "json", "text"]).default("auto"),
    /** `stderr`, `stdout`, or paths of files, to which lines are appended. */
    outputs: z.array(z.string().min(1)).min(1).max(8).default(["stderr"]),
    /** Names of the fields of a JSON line. */
    keys: z
      .strictObject({
        time: z.string().min(1).default("time"),
        level: z.string().min(1).default("level"),
        message: z.string().min(1).default("msg"),
      })
      .prefault({}),
  });
}

/** A checked section `log`. */
export type LogConfig = z.output<ReturnType<typeof logSchema>>;
