import { expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";
import { goRelayerRoutes } from "../../../src/relayer/api/routes.ts";
import type { DeadLetter } from "../../../src/relayer/state/journal.ts";
import { runCommand } from "../../support/cli-chain.ts";

const HASH = "ab".repeat(32);
const { signal } = new AbortController();

it("a transaction that is a dead letter of two queries counts as included for the one that received it", async () => {
  let letters: readonly DeadLetter[] = [1n, 2n].map((queryId) => ({
    queryId,
    hash: HASH,
    remoteHeight: 9n,
    reason: "no funds",
    atMs: 0,
  }));
  const routes = goRelayerRoutes({
    journal: { deadLetters: () => letters, acknowledgeDeadLetter: () => false },
    resubmissions: {
      resubmit: async (queryId) => {
        // The contract of query 2 rejects it again.
        if (queryId === 1n) letters = letters.filter((letter) => letter.queryId !== queryId);
        return { kind: "included" };
      },
    },
    openResubmit: true,
  });
  const listen = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const server = await openRouteServer({ ...listen, name: "test", listen, routes }, { logger: silentLogger });
  try {
    const url = `http://127.0.0.1:${server.address.port}`;
    const sent = await runCommand(["relayer", "dead-letters", "resubmit", "--all", "--url", url], signal);
    expect(sent.out.split("\n")).toEqual([`1/${HASH} included`, `2/${HASH} failed again: no funds`]);
  } finally {
    await server.close();
  }
});
