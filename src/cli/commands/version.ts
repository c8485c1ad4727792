import { Command } from "commander";
import { stringifyJson } from "../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { readBuildInfo } from "../../platform/process/build-info.ts";

export function versionCommand(context: CliContext): Command {
  return new Command().addOption(jsonOption()).action((options: { readonly json?: true }) => {
    const { name, version, commit, nodeVersion } = readBuildInfo();
    context.print(
      options.json
        ? stringifyJson({ name, version, commit: commit ?? null, nodeVersion })
        : `${name} ${version} (commit ${commit ?? "unknown"}, node ${nodeVersion})`,
    );
  });
}
