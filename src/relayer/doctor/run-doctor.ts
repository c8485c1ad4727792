import type { Preview } from "../preview/open-preview.ts";
import { checkAccount } from "./check-account.ts";
import { checkChain } from "./check-chain.ts";
import { checkConnection } from "./check-connection.ts";
import type { Finding } from "./finding.ts";

/** Checks everything that a relayer depends on. Sends nothing. Throws only on abort. */
export async function runDoctor(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, localClient, connections, context } = preview;
  const { nowMs } = context.clock;
  const local = { chainId: config.chain.id, client: localClient, role: "local", nowMs } as const;
  const groups = await Promise.all([
    checkChain(local, signal),
    checkAccount(preview, signal),
    ...connections.flatMap((connection) => [
      checkChain({ chainId: connection.chainId, client: connection.remote, role: "remote", nowMs }, signal),
      checkConnection(preview, connection, signal),
    ]),
  ]);
  return groups.flat();
}
