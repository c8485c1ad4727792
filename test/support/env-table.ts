import { ENV_VARIABLES } from "../../src/relayer/from-env/variables.ts";

/** The Markdown table of the variables that `--from-env` reads. */
export function envTable(): string {
  const rows = ENV_VARIABLES.map(({ name, key, note }) => {
    const setting = key === "" ? "" : `\`${key.replace(".0.", "[0].")}\``;
    return `| \`${name}\` | ${setting} | ${note} |`;
  });
  return ["| variable | key | note |", "|---|---|---|", ...rows].join("\n");
}
