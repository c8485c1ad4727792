import { readLightBlock } from "../../cosmos/client/light-block.ts";
import { createChainClient } from "../../cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../cosmos/client/tx/create-tx-sender.ts";
import { createSigner } from "../../cosmos/client/tx/signer.ts";
import { createLightClientQueries } from "../../cosmos/light-client/client-queries.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { parseDec18 } from "../../platform/base/decimal.ts";
import type { Ports } from "../../platform/base/localnet-defaults.ts";
import { Secret } from "../../platform/base/secret.ts";
import { jsonReply } from "../../platform/http/http-route.ts";
import { type ApiRoute, serveRoute } from "../../platform/http/route-about.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { createIbcChain, type IbcChain } from "../ibc-relayer/ibc-chain.ts";
import { createIbcRelayer, type IbcRelayer, unstartedStatus } from "../ibc-relayer/ibc-relayer.ts";
import { IBC_RELAYER_ROUTE, ibcRelayerJson } from "../ibc-relayer/status.ts";
import * as localnet from "../accounts/chains.ts";

const CONNECTION = "connection-0";
/** Maximum gas price that the IBC relayer pays. The limit is high, because the relayer must also work while blocks are full. */
const MAX_GAS_PRICE = parseDec18("100");
const PRICE_MULTIPLIER = parseDec18("1.2");
const DEFAULT = { chains: localnet.CHAINS, roles: localnet.DEFAULT_ROLES };
/** Time between checks whether a transaction is in a block. The time is short, because the IBC relayer waits for each transaction. */
const CONFIRM_POLL_MS = 100;
const CONFIRM_DEADLINE_MS = 30_000;

/** Creates the IBC relayer between the chains whose RPC servers use `ports`. The relayer starts once `ready` resolves. */
export function createLocalnetIbcRelayer(
  ports: Pick<Ports, "localRpc" | "remoteRpc">,
  context: Pick<DaemonContext, "clock" | "random" | "logger">,
  ready: Promise<unknown> | undefined,
  {
    chains,
    roles,
  }: { readonly chains: localnet.LocalnetChains; readonly roles: localnet.LocalnetRoles } = DEFAULT,
): IbcRelayer {
  const { clock, random } = context;
  const notStarted = unstartedStatus([chains.local.chainId, chains.remote.chainId]);
  const logger = context.logger.child({ part: "ibc-relayer" });
  let ibcRelayer: IbcRelayer | undefined;
  return {
    name: "IBC relayer",
    status: () => ibcRelayer?.status() ?? notStarted,
    run: async (signal) => {
      await raceAbort(Promise.resolve(ready), signal);
      const local = await openChain(chains.local, roles, ports.localRpc, context);
      const remote = await openChain(chains.remote, roles, ports.remoteRpc, context);
      try {
        ibcRelayer = createIbcRelayer([local.chain, remote.chain], { clock, random, logger });
        await ibcRelayer.run(signal);
      } finally {
        local.close();
        remote.close();
      }
    },
  };
}

export function ibcRelayerRoutes(
  ibcRelayer: Pick<IbcRelayer, "status">,
  clock: Pick<Clock, "nowMs">,
): readonly ApiRoute[] {
  const status = async () => jsonReply(200, ibcRelayerJson(ibcRelayer.status(), clock.nowMs()));
  return [serveRoute(IBC_RELAYER_ROUTE, status)];
}

async function openChain(
  chain: localnet.ChainProfile,
  roles: localnet.LocalnetRoles,
  port: number,
  { clock, random, logger }: Pick<DaemonContext, "clock" | "random" | "logger">,
): Promise<{ readonly chain: IbcChain; readonly close: () => void }> {
  const { chainId, denom, bech32Prefix, part } = chain;
  const deps = { clock, random, logger };
  const client = createChainClient(
    { endpoints: [{ url: `http://127.0.0.1:${port}`, name: chainId }], chainId, limits: { connections: 8 } },
    { ...deps, observer: silentObserver, readLightBlock },
  );
  const mnemonic = new Secret(localnet.accountNamed(chain, roles.ibcRelayer[part]).mnemonic);
  const signer = await createSigner({ kind: "mnemonic", mnemonic }, bech32Prefix);
  const gasPrice = { denom, multiplier: PRICE_MULTIPLIER, cap: MAX_GAS_PRICE };
  const limits = { pollMs: CONFIRM_POLL_MS, confirmDeadlineMs: CONFIRM_DEADLINE_MS };
  const sender = createTxSender(
    { chainId, memo: "ibc-relayer", gasPrice, limits },
    { ...deps, client, signer },
  );
  const queries = createLightClientQueries(client);
  const connected = createIbcChain({ chainId, connectionId: CONNECTION }, { client, queries, sender });
  return { chain: connected, close: client.close };
}
