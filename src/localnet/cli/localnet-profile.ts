import { Command, Option } from "commander";
import { stringifyJson } from "../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { column, formatTable } from "../../platform/cli/table.ts";
import { listDeviations, PROFILE_NAMES } from "../chain/deviations/deviations.ts";

/** `--profile NAME`, for commands that start chains. */
export function profileOption(): Option {
  return new Option(
    "--profile <name>",
    "the behaviour of new chains where the specification and the deployed chain differ (see relaywatch localnet profile); default: specification",
  ).choices(PROFILE_NAMES);
}

/** Maximum number of characters in a table cell. The JSON output contains the full text. */
const CELL = 60;

const COLUMNS = [
  column("MODULE", "area"),
  column("SWITCH", "switch"),
  column("SUBJECT", "subject"),
  column("SPECIFICATION", "specification"),
  column("DEPLOYED", "deployed"),
];

/** `relaywatch localnet profile`: lists the differences between the specification and the deployed chain. */
export function profileCommand(context: CliContext): Command {
  return new Command()
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A chain with the profile "specification" (the default) follows the specification in the rows with a switch, a chain with the profile
"deployed" follows the deployed chain. In the rows without a switch, all chains behave the same. See docs/conformance.md for the reasons.`,
    )
    .action(({ json }: { readonly json?: true }) => {
      const deviations = listDeviations();
      if (json)
        context.print(stringifyJson({ profiles: [...PROFILE_NAMES], differences: [...deviations] }, 2));
      else context.print(formatTable(COLUMNS, deviations.map(shortened)));
    });
}

function short(text: string): string {
  return text.length > CELL ? `${text.slice(0, CELL - 1)}…` : text;
}

function shortened(row: ReturnType<typeof listDeviations>[number]) {
  return {
    area: row.area,
    switch: row.switch,
    subject: short(row.subject),
    specification: short(row.specification),
    deployed: short(row.deployed),
  };
}
