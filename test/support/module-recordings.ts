import { fixtureFile } from "./fixture-file.ts";
import { comparedParts, expectedParts } from "./ibc/recorded-differences.ts";
import { measureRecordedTxs } from "./ibc/recorded-gas.ts";
import type { ProbeOutcome } from "./contract-probe.ts";
import { replayFile } from "./replay.ts";

/** Replays the recorded messages of IBC and of interchain queries: codes, texts, events, responses and gas. */
export function replayModules(): readonly ProbeOutcome[] {
  const measured = measureRecordedTxs();
  const ibc = measured.flatMap(({ tx, ours, beyond = 0 }) => [
    ...(JSON.stringify(comparedParts(tx, ours)) === JSON.stringify(expectedParts(tx, "deployed"))
      ? []
      : [`ibc ${tx.seq} ${tx.name}: the result differs`]),
    ...(beyond === 0 ? [] : [`ibc ${tx.seq} ${tx.name}: ${beyond} gas less than recorded`]),
  ]);
  return [
    { name: "ibc", total: measured.length, differences: ibc },
    ...["submit-cases", "tx-submit-cases", "register-cases"].map((file) => {
      const compared = replayFile(fixtureFile(`interchainqueries/${file}.json`));
      const differences = compared.flatMap((one) =>
        one.differences.map((text) => `${file} ${one.name}: ${text}`),
      );
      return { name: `interchainqueries ${file}`, total: compared.length, differences };
    }),
  ];
}
