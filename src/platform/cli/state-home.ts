import { homedir } from "node:os";
import { join } from "node:path";
import { CliError, EXIT } from "../base/errors.ts";
import type { Secret } from "../base/secret.ts";
import { readOrCreateToken, tokenFileIn } from "../process/private-file.ts";
import { secretField } from "../config/config-fields.ts";

/** Returns a localnet's state directory for this port offset, below `$XDG_STATE_HOME` or `~/.local/state`. */
function localnetStateDir(portOffset: number): string {
  const base = process.env["XDG_STATE_HOME"];
  const root = base === undefined || base === "" ? join(homedir(), ".local", "state") : base;
  return join(root, "relaywatch", `localnet-${portOffset}`);
}

/** Returns the directory that contains one home directory per chain, for chains that run in their own processes. */
export function localnetChainsHome(portOffset: number): string {
  return join(localnetStateDir(portOffset), "chains");
}

export function controlTokenFile(portOffset: number): string {
  return tokenFileIn(localnetStateDir(portOffset));
}

/** Returns the control token for this port offset, creating the token on the first call. Throws `CliError` if the file is unusable. */
export function controlToken(portOffset: number): Secret {
  const file = controlTokenFile(portOffset);
  try {
    return readOrCreateToken(file);
  } catch (cause) {
    throw new CliError(
      EXIT.fatal,
      `cannot store the control token in ${file}; set XDG_STATE_HOME to a writable directory`,
      { cause },
    );
  }
}

export function readTokenFile(file: string): Secret {
  return readSecret({ file }, `the token in ${file}`);
}

/** Reads a secret from the file or environment variable in `reference`. Throws a `CliError` whose message begins with `what`. */
export function readSecret(reference: unknown, what: string): Secret {
  const read = secretField().safeParse(reference);
  if (read.success) return read.data;
  throw new CliError(EXIT.badConfig, `${what}: ${read.error.issues[0]?.message ?? "cannot be read"}`);
}
