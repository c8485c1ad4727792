import { connectionIdError } from "../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import type { IbcKeeper } from "../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import type { Any } from "../../src/cosmos/proto/gen/google/protobuf/any.ts";

/** A fake IBC keeper with one client. Tests may change all of its fields. */
export interface FakeIbc extends IbcKeeper {
  /** Client ids by connection id. */
  readonly connections: Map<string, string>;
  /** App hashes by "revision-height". */
  readonly roots: Map<string, Uint8Array>;
  /** All headers that were passed to `updateClient`, in order. */
  readonly headers: Any[];
  /** Called for every header. A test replaces it to reject headers. */
  onHeader: (header: Any) => void;
  /** Undefined: the client does not exist. */
  latestHeight: { readonly revisionNumber: bigint; readonly revisionHeight: bigint } | undefined;
}

/** Creates connection-0, -1 and -2 over one client at height 4-1000 that accepts every header. */
export function createFakeIbc(): FakeIbc {
  const connections = new Map<string, string>();
  for (const number of [0, 1, 2]) connections.set(`connection-${number}`, "07-tendermint-0");
  const roots = new Map<string, Uint8Array>();
  const headers: Any[] = [];
  const fake: FakeIbc = {
    connections,
    roots,
    headers,
    onHeader: () => undefined,
    latestHeight: { revisionNumber: 4n, revisionHeight: 1000n },
    connectionIdError,
    connectionClientId: (_context, id) => connections.get(id),
    clientLatestHeight: () => fake.latestHeight,
    consensusRoot: (_context, _clientId, { revisionNumber, revisionHeight }) =>
      roots.get(`${revisionNumber}-${revisionHeight}`),
    updateClient: (_context, _clientId, header) => {
      headers.push(header);
      fake.onHeader(header);
    },
  };
  return fake;
}
