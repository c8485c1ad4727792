import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askLocalnet, localnetCommand, type LocalnetOptions } from "./ask-localnet.ts";

const snapshot = z.object({
  id: z.number(),
  time: z.string(),
  heights: z.record(z.string(), z.coerce.string()),
});
const snapshotList = z.object({ snapshots: z.array(snapshot) });

type Snapshot = z.output<typeof snapshot>;

/** `relaywatch localnet snapshot [take | list | remove ID]`. */
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
        .argument("<id>", "its number", parseId)
        .action(async (id: number, options: LocalnetOptions) =>
          printList(await askLocalnet("/snapshots/remove", { id }, options, context), options),
        ),
    );
}

/** `relaywatch localnet revert ID`. */
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
