import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../base/exit-codes.ts";
import { Secret } from "../base/secret.ts";
import { CliError } from "./cli-error.ts";

/** Directory of what a localnet at this port offset keeps, below `$XDG_STATE_HOME` or `~/.local/state`. */
function localnetStateDir(portOffset: number): string {
  const base = process.env["XDG_STATE_HOME"];
  const root = base === undefined || base === "" ? join(homedir(), ".local", "state") : base;
  return join(root, "relaywatch", `localnet-${portOffset}`);
}

/** Directory of the chains that run as parts on their own: each has a home in it, named after the chain. */
export function localnetChainsHome(portOffset: number): string {
  return join(localnetStateDir(portOffset), "chains");
}

/** The file whose content opens the control face. */
export function controlTokenFile(portOffset: number): string {
  return join(localnetStateDir(portOffset), "control-token");
}

/** The control token of this port offset, made at the first call. Throws `CliError` when the file cannot be used. */
export function controlToken(portOffset: number): Secret {
  const file = controlTokenFile(portOffset);
  try {
    if (!existsSync(file)) {
      mkdirSync(localnetStateDir(portOffset), { recursive: true, mode: 0o700 });
      writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
    }
    return new Secret(readFileSync(file, "utf8").trim());
  } catch (cause) {
    throw new CliError(
      EXIT.fatal,
      `the control token cannot be kept in ${file}; set XDG_STATE_HOME to a writable directory`,
      { cause },
    );
  }
}
