import { runLocalnet } from "../../daemons/localnet/main.ts";
import type { LocalnetDaemonOptions, LocalnetPart } from "../../src/localnet/network/localnet-options.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { controlToken } from "../../src/platform/cli/state-home.ts";

/** Runs parts of a localnet as one process does, with the control token of `XDG_STATE_HOME`. Returns what ends them. */
export async function startParts(
  parts: readonly LocalnetPart[],
  portOffset: number,
  more: Partial<LocalnetDaemonOptions> = {},
): Promise<() => Promise<void>> {
  const own = new AbortController();
  let done: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    done = runLocalnet(
      {
        parts,
        ports: portsAt(portOffset),
        home: undefined,
        keepBlocks: undefined,
        blockTimeMs: 100,
        validators: { local: [10n], remote: [10n] },
        access: { hosts: [], origins: [] },
        controlToken: controlToken(portOffset),
        ...more,
      },
      {
        signal: own.signal,
        logger: silentLogger,
        clock: systemClock,
        random: Math.random,
        build: { name: "relaywatch", version: "0", commit: undefined, nodeVersion: "v20" },
      },
      () => resolve(),
    );
    done.catch(reject);
  });
  return async () => {
    own.abort(new Error("test over"));
    await done;
  };
}
