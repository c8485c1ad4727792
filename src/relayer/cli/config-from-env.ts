import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { readEnvironment, secretsOf, yamlFromEnv } from "./relayer-config-options.ts";
import { parseEnvYaml } from "../from-env/config-from-env.ts";

/** How long the command waits for the endpoints of the chains. */
const WAIT_MS = 10_000;

/** `relaywatch config from-env [FILE]`: prints the YAML of the Go relayer's settings. */
export function fromEnvCommand(context: CliContext): Command {
  return new Command()
    .argument("[file]", "file with the variables, as an .env file; default: the environment alone")
    .addHelpText(
      "after",
      `
Reads the chain ids from the endpoints. Secrets stay references. Unknown variables of the prefixes RELAYER_ and LOGGER_
are reported on stderr. Exits 78 when a variable is wrong or missing, and 75 when an endpoint does not respond.`,
    )
    .action((file: string | undefined) => printYaml(file, context));
}

async function printYaml(file: string | undefined, context: CliContext): Promise<void> {
  const environment = readEnvironment(file ?? true);
  const yaml = await yamlFromEnv(environment, context, WAIT_MS);
  parseEnvYaml(yaml, secretsOf(environment));
  context.print(`# From the settings of neutron_query_relayer.\n${yaml.trimEnd()}`);
}
