import { raceAbort } from "../../src/platform/base/abort.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { createChainClient } from "../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../src/cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../src/cosmos/client/tx/create-tx-sender.ts";
import { createSigner } from "../../src/cosmos/client/tx/signer.ts";
import { type Courier, createCourier, unstartedStatus } from "../../src/localnet/ibc-relayer/courier.ts";
import { type CourierChain, createCourierChain } from "../../src/localnet/ibc-relayer/courier-chain.ts";
import { registerCourierMetrics } from "../../src/localnet/ibc-relayer/courier-metrics.ts";
import { courierJson, type CourierStatus } from "../../src/localnet/ibc-relayer/courier-status.ts";
import { accountNamed } from "../../src/localnet/network/accounts.ts";
import { type ChainProfile, CHAINS } from "../../src/localnet/network/chains.ts";
import type { DaemonContext } from "../../src/platform/process/daemon-context.ts";
import { type HttpRoute, jsonReply } from "../../src/platform/http/http-route.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { createLightClientQueries } from "../../src/cosmos/light-client/client-queries.ts";
import type { Ports } from "../../src/platform/base/localnet-defaults.ts";

/** Name of its test account on both chains. */
const ACCOUNT = "courier";
const CONNECTION = "connection-0";
/** The courier pays up to this price: it must also work when blocks are full. */
const MAX_GAS_PRICE = parseDec18("100");
const PRICE_MULTIPLIER = parseDec18("1.2");
/** A block takes a second. The courier waits for its transactions, so it looks more often. */
const CONFIRM_POLL_MS = 100;
const CONFIRM_DEADLINE_MS = 30_000;

const NOT_STARTED: CourierStatus = unstartedStatus([CHAINS.local.chainId, CHAINS.remote.chainId]);

/**
 * Creates the courier between the two chains on these ports. The chains may run in other processes; those of this process are
 * there when `ready` resolves.
 */
export function createLocalnetCourier(
  ports: Pick<Ports, "localRpc" | "remoteRpc">,
  context: Pick<DaemonContext, "clock" | "random" | "logger">,
  ready: Promise<unknown> | undefined,
): Courier {
  const { clock, random } = context;
  const logger = context.logger.child({ part: "courier" });
  let courier: Courier | undefined;
  return {
    name: "courier",
    status: () => courier?.status() ?? NOT_STARTED,
    run: async (signal) => {
      await raceAbort(Promise.resolve(ready), signal);
      const local = await openChain(CHAINS.local, ports.localRpc, context);
      const remote = await openChain(CHAINS.remote, ports.remoteRpc, context);
      try {
        courier = createCourier([local.chain, remote.chain], { clock, random, logger });
        await courier.run(signal);
      } finally {
        local.close();
        remote.close();
      }
    },
  };
}

/** Creates the routes `GET /courier` and `GET /metrics` of the control API. */
export function courierRoutes(
  courier: Courier,
  { clock, build }: Pick<DaemonContext, "clock" | "build">,
): readonly HttpRoute[] {
  const registry = createMetricsRegistry({ build, program: "localnet", processMetrics: true });
  registerCourierMetrics(registry, courier.status, clock);
  return [
    {
      method: "GET",
      path: "/courier",
      handle: async () => jsonReply(200, courierJson(courier.status(), clock.nowMs())),
    },
    {
      method: "GET",
      path: "/metrics",
      handle: async () => ({
        status: 200,
        headers: { "content-type": registry.contentType },
        body: await registry.metrics(),
      }),
    },
  ];
}

async function openChain(
  { chainId, denom, bech32Prefix, part }: ChainProfile,
  port: number,
  { clock, random, logger }: Pick<DaemonContext, "clock" | "random" | "logger">,
): Promise<{ readonly chain: CourierChain; readonly close: () => void }> {
  const deps = { clock, random, logger };
  const client = createChainClient(
    { endpoints: [{ url: `http://127.0.0.1:${port}`, name: chainId }], chainId, limits: { connections: 8 } },
    { ...deps, observer: silentObserver },
  );
  const mnemonic = new Secret(accountNamed(CHAINS[part], ACCOUNT).mnemonic);
  const signer = await createSigner({ kind: "mnemonic", mnemonic }, bech32Prefix);
  const gasPrice = { denom, multiplier: PRICE_MULTIPLIER, cap: MAX_GAS_PRICE };
  const limits = { pollMs: CONFIRM_POLL_MS, confirmDeadlineMs: CONFIRM_DEADLINE_MS };
  const sender = createTxSender({ chainId, memo: "courier", gasPrice, limits }, { ...deps, client, signer });
  const queries = createLightClientQueries(client);
  const chain = createCourierChain({ chainId, connectionId: CONNECTION }, { client, queries, sender });
  return { chain, close: client.close };
}
