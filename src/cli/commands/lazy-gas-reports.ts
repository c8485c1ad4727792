import type { GasReports } from "../../localnet/cli/gas-reports.ts";

/** The workbench's gas reports, whose code is loaded on first use. */
export const lazyGasReports: GasReports = {
  save: async (...request) => (await load()).save(...request),
  stacks: async (...request) => (await load()).stacks(...request),
};

async function load(): Promise<GasReports> {
  return (await import("../../workbench/cli/gas-reports.ts")).gasReports;
}
