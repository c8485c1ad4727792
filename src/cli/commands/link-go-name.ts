import { lstatSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { packageFolder } from "../../platform/process/build-info.ts";

const NAME = "neutron_query_relayer";

/**
 * `relaywatch link-go-name [FOLDER]`. Links the Go relayer's command name to this program. The npm package does not install that
 * name itself, because it would hide an installed Go relayer.
 */
export function linkGoNameCommand(context: CliContext): Command {
  return new Command()
    .argument("[folder]", "a folder in PATH; default: the relaywatch command's folder")
    .action((folder = dirname(process.argv[1] ?? "")) => {
      const link = join(resolve(folder), NAME);
      const program = join(packageFolder(), "dist/program", `${NAME}.js`);
      if (!isLinkTo(link, program)) symlinkSync(program, link);
      context.print(link);
    });
}

/** Returns true if the path is already a link to the program, and false if nothing exists at the path. Throws for any other file. */
function isLinkTo(link: string, program: string): boolean {
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (stat.isSymbolicLink() && readlinkSync(link) === program) return true;
  throw new CliError(EXIT.fatal, `${link} is another program; remove it first, or choose another folder`);
}
