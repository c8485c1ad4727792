import { Command } from "commander";
import { z } from "zod";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";

export interface LocalnetOptions {
  readonly json?: true;
  readonly portOffset: number;
}

/** Creates a command for a running localnet whose own options, if any, come last in its help. */
export function localnetCommand(name?: string): Command {
  return withLocalnetOptions(new Command(name));
}

export function withLocalnetOptions(command: Command): Command {
  return command.addOption(jsonOption()).addOption(portOffsetOption());
}

/** Deadline for one request, including the time for any blocks it makes. */
const DEADLINE_MS = 120_000;

/** Sends a request to the control API: a POST with the token if there is a body. Throws `CliError`. */
export function askLocalnet(
  path: string,
  body: unknown,
  { portOffset }: LocalnetOptions,
  { signal }: Pick<CliContext, "signal">,
): Promise<unknown> {
  return askDaemon(
    {
      daemon: "the localnet's control API",
      url: `http://127.0.0.1:${portsAt(portOffset).control}`,
      path,
      deadlineMs: DEADLINE_MS,
      hint: "start relaywatch up or relaywatch localnet start, or select a localnet with --port-offset",
      tokenHint: `the token in ${controlTokenFile(portOffset)} was ${body === undefined ? "not " : ""}sent`,
      ...(body === undefined ? {} : { body, token: controlToken(portOffset) }),
    },
    signal,
  );
}

const chainsReply = z.object({
  chains: z.array(
    z.object({ chain_id: z.string(), prefix: z.string(), height: z.coerce.string(), halted: z.boolean() }),
  ),
});

/** Parses the response to `GET /chains` or `POST /blocks`. */
export function parseChains(reply: unknown): z.output<typeof chainsReply>["chains"] {
  return chainsReply.parse(reply).chains;
}
