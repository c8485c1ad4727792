import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";
import { portOffsetOption, parseDuration } from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { formatRoundedDuration } from "../../platform/base/text.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import { parseAddress } from "./command-inputs.ts";

export interface LocalnetOptions {
  readonly json?: true;
  readonly portOffset: number;
}

/** Creates a command that controls a running localnet. The command's help lists the options shared by all such commands first. */
export function localnetCommand(name?: string): Command {
  return withLocalnetOptions(new Command(name));
}

export function withLocalnetOptions(command: Command): Command {
  return command.addOption(jsonOption()).addOption(portOffsetOption());
}

/** Deadline for a request to the control API. The deadline is long enough for the localnet to make all requested blocks. */
const DEADLINE_MS = 120_000;

/** Sends a request to the control API: a GET, or a POST with the token if there is a body. Throws `CliError`. */
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

/** Parses a response to `GET /chains` or `POST /blocks`. */
export function parseChains(reply: unknown): z.output<typeof chainsReply>["chains"] {
  return chainsReply.parse(reply).chains;
}

const timeReply = z.object({ time: z.string(), rate: z.number() });

/** `relaywatch localnet time`: prints, sets or advances the chains' time, or changes its rate. */
export function timeCommand(context: CliContext): Command {
  const ask = async (body: unknown, options: LocalnetOptions): Promise<void> => {
    const reply = timeReply.parse(await askLocalnet("/time", body, options, context));
    context.print(options.json ? stringifyJson(reply, 2) : timeText(reply));
  };
  return new Command()
    .addCommand(
      localnetCommand("show")
        .description("print the chains' time and its rate")
        .action((options: LocalnetOptions) => ask(undefined, options)),
      { isDefault: true },
    )
    .addCommand(
      localnetCommand("set")
        .description("move the chains' time ahead to a given time")
        .argument("<time>", 'time in UTC, e.g. "2027-01-31T23:59:00Z"')
        .action((to: string, options: LocalnetOptions) => ask({ set: to }, options)),
    )
    .addCommand(
      localnetCommand("add")
        .description(
          "move the chains' time ahead by a duration; a duration longer than a light client's trusting period expires the client",
        )
        .argument("<duration>", 'duration, e.g. "21d" or "5m30s", at most 366 days', parseDuration)
        .action((ms: number, options: LocalnetOptions) => ask({ add: durationText(ms) }, options)),
    )
    .addCommand(
      localnetCommand("rate")
        .description("make the chains' time pass faster or slower")
        .argument(
          "<factor>",
          "how many chain seconds pass per second on this machine; 0 stops the time, 1 is normal",
          parseFactor,
        )
        .action((to: number, options: LocalnetOptions) => ask({ rate: to }, options)),
    )
    .addHelpText(
      "after",
      `
Headers, light clients, unbonding, timeouts and the sidecar's prices use the chains' time. The second block from now
is the first block with the new time. Time never goes back.
To make a daemon use the chains' time too, start it with --chain-clock.
With "rate 86400", each second is a day, and the light clients stay active, because the relayers update them.`,
    );
}

function timeText({ time, rate }: z.output<typeof timeReply>): string {
  const aheadMs = Math.round((Date.parse(time) - Date.now()) / 1_000) * 1_000;
  const distance =
    aheadMs === 0
      ? ""
      : `, ${formatRoundedDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} this machine`;
  return `${time}${distance}${rate === 1 ? "" : `, rate ${rate}`}`;
}

function parseFactor(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number from 0 to 10000000");
}

/** `relaywatch localnet mine`: makes blocks on both chains immediately, one block by default. */
export function mineCommand(context: CliContext): Command {
  const command = new Command()
    .argument("[count]", "number of blocks, at most 1000", parseCount, 1)
    .addOption(
      new Option("--interval <duration>", "move the time ahead by this duration before each block").argParser(
        parseDuration,
      ),
    );
  return withLocalnetOptions(command).action(
    async (count: number, options: LocalnetOptions & { readonly interval?: number }) => {
      const interval = options.interval === undefined ? {} : { interval: durationText(options.interval) };
      const reply = await askLocalnet("/blocks", { count, ...interval }, options, context);
      if (options.json) return context.print(stringifyJson(reply, 2));
      for (const { chain_id, height } of parseChains(reply))
        context.print(`${chain_id} is at height ${height}`);
      context.print(timeText(timeReply.parse(reply)));
    },
  );
}

function parseCount(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 1_000) return Number(text);
  throw new InvalidArgumentError("expected an integer from 1 to 1000");
}

/** `relaywatch localnet halt`: stops block production on one chain or on both. */
export const haltCommand = (context: CliContext): Command => switchCommand("halt", context);

/** `relaywatch localnet resume`: restarts block production on one chain or on both. */
export const resumeCommand = (context: CliContext): Command => switchCommand("resume", context);

function switchCommand(name: "halt" | "resume", context: CliContext): Command {
  const command = localnetCommand().argument("[chain]", "chain id; default: both chains");
  return command.action(async (only: string | undefined, options: LocalnetOptions) => {
    const listed = parseChains(await askLocalnet("/chains", undefined, options, context));
    const ids = only === undefined ? listed.map(({ chain_id }) => chain_id) : [only];
    for (const id of ids)
      await askLocalnet(`/chains/${encodeURIComponent(id)}/${name}`, {}, options, context);
    const chains = parseChains(await askLocalnet("/chains", undefined, options, context));
    if (options.json) return context.print(stringifyJson({ chains }, 2));
    for (const { chain_id, height, halted } of chains)
      context.print(`${chain_id} ${halted ? "is halted" : "makes blocks"} at height ${height}`);
  });
}

/** `relaywatch localnet faucet`: sends coins to an address. The address prefix determines the chain. */
export function faucetCommand(context: CliContext): Command {
  const command = localnetCommand()
    .argument("<address>", "account that receives the coins; its prefix selects the chain", parseRecipient)
    .argument("<amount>", "amount in the chain's base unit, e.g. 1000000");
  return command.action(async ({ address, prefix }: Recipient, amount: string, options: LocalnetOptions) => {
    const chains = parseChains(await askLocalnet("/chains", undefined, options, context));
    const chain = chains.find((one) => one.prefix === prefix);
    if (chain === undefined) {
      const prefixes = chains.map((one) => one.prefix).join(" or ");
      throw new CliError(
        EXIT.usage,
        `expected an address that begins with ${prefixes}; no chain here has the prefix ${prefix}`,
      );
    }
    const path = `/chains/${encodeURIComponent(chain.chain_id)}/faucet`;
    const reply = await askLocalnet(path, { address, amount }, options, context);
    if (options.json) return context.print(stringifyJson(reply, 2));
    const sent = z.object({ hash: z.string(), amount: z.string() }).parse(reply);
    context.print(`${sent.amount} to ${address} on ${chain.chain_id}, transaction ${sent.hash}`);
  });
}

interface Recipient {
  readonly address: string;
  readonly prefix: string;
}

function parseRecipient(text: string): Recipient {
  const address = parseAddress(text);
  return { address, prefix: decodeBech32(address).prefix };
}

const snapshot = z.object({
  id: z.number(),
  time: z.string(),
  heights: z.record(z.string(), z.coerce.string()),
});
const snapshotList = z.object({ snapshots: z.array(snapshot) });

type Snapshot = z.output<typeof snapshot>;

/** `relaywatch localnet snapshot`: takes, lists or removes snapshots of both chains. */
export function snapshotCommand(context: CliContext): Command {
  const printList = (reply: unknown, options: LocalnetOptions): void => {
    if (options.json) return context.print(stringifyJson(reply, 2));
    const { snapshots } = snapshotList.parse(reply);
    if (snapshots.length === 0) context.print("no snapshots");
    for (const one of snapshots) context.print(textOf(one));
  };
  return new Command()
    .addCommand(
      localnetCommand("take")
        .description("take a snapshot of the current state of both chains")
        .action(async (options: LocalnetOptions) => {
          const reply = await askLocalnet("/snapshots", {}, options, context);
          context.print(options.json ? stringifyJson(reply, 2) : textOf(snapshot.parse(reply)));
        }),
      { isDefault: true },
    )
    .addCommand(
      localnetCommand("list")
        .description("list the snapshots")
        .action(async (options: LocalnetOptions) =>
          printList(await askLocalnet("/snapshots", undefined, options, context), options),
        ),
    )
    .addCommand(
      localnetCommand("remove")
        .description("remove a snapshot")
        .argument("<id>", "snapshot number", parseId)
        .action(async (id: number, options: LocalnetOptions) =>
          printList(await askLocalnet("/snapshots/remove", { id }, options, context), options),
        ),
    );
}

/** `relaywatch localnet revert`: reverts both chains to a snapshot. */
export function revertCommand(context: CliContext): Command {
  const command = localnetCommand().argument("<id>", "snapshot number", parseId);
  return command.action(async (id: number, options: LocalnetOptions) => {
    const reply = await askLocalnet("/snapshots/revert", { id }, options, context);
    context.print(options.json ? stringifyJson(reply, 2) : `back at ${textOf(snapshot.parse(reply))}`);
  });
}

function textOf({ id, time, heights }: Snapshot): string {
  const places = Object.entries(heights).map(([chainId, height]) => `${chainId} at height ${height}`);
  return `snapshot ${id}: ${places.join(", ")}, ${time}`;
}

function parseId(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a snapshot number, 1 or more");
}
