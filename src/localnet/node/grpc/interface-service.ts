import { QueryError } from "../../chain/runtime/errors.ts";
import {
  ListAllInterfacesRequest,
  ListAllInterfacesResponse,
  ListImplementationsRequest,
  ListImplementationsResponse,
} from "../../../cosmos/proto/gen/cosmos/base/reflection/v1beta1/reflection.ts";
import { TYPE_URL } from "../../../cosmos/proto/type-urls.ts";
import type { NodeView } from "../node-view.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, nodeMethod } from "./node-method.ts";

const SERVICE = "/cosmos.base.reflection.v1beta1.ReflectionService";

/** `cosmos.base.reflection.v1beta1.ReflectionService`: the types that a `google.protobuf.Any` may hold. */
export const INTERFACE_METHODS: readonly NodeMethod[] = [
  nodeMethod(
    `${SERVICE}/ListAllInterfaces`,
    ListAllInterfacesRequest,
    ListAllInterfacesResponse,
    (_request, { view }) => ({ interfaceNames: [...interfacesOf(view).keys()] }),
  ),
  nodeMethod(
    `${SERVICE}/ListImplementations`,
    ListImplementationsRequest,
    ListImplementationsResponse,
    ({ interfaceName }, { view }) => {
      if (interfaceName === "") throw new QueryError(GRPC.invalidArgument, "invalid interface name");
      return { implementationMessageNames: [...(interfacesOf(view).get(interfaceName) ?? [])] };
    },
  ),
];

const SDK_INTERFACES: Readonly<Record<string, readonly string[]>> = {
  "cosmos.auth.v1beta1.AccountI": [TYPE_URL.baseAccount, TYPE_URL.moduleAccount],
  "cosmos.crypto.PubKey": [TYPE_URL.ed25519PubKey, TYPE_URL.secp256k1PubKey],
  "cosmos.tx.v1beta1.Tx": [TYPE_URL.tx],
};

const IBC_INTERFACES: Readonly<Record<string, readonly string[]>> = {
  "ibc.core.client.v1.ClientMessage": [TYPE_URL.tendermintHeader, TYPE_URL.tendermintMisbehaviour],
  "ibc.core.client.v1.ClientState": [TYPE_URL.tendermintClientState],
  "ibc.core.client.v1.ConsensusState": [TYPE_URL.tendermintConsensusState],
};

/** Type URLs by the name of the interface, as the Go modules register them. */
function interfacesOf(view: NodeView): ReadonlyMap<string, readonly string[]> {
  const messages = view.messageTypes();
  return new Map([
    ...Object.entries(SDK_INTERFACES),
    ["cosmos.base.v1beta1.Msg", messages],
    ...(messages.includes(TYPE_URL.createClient) ? Object.entries(IBC_INTERFACES) : []),
  ]);
}
