import type { MessageFns } from "../proto/message-fns.ts";
import type { ChainClient, QueryHeight } from "./chain-client.ts";

type Encoded<Requests> = {
  readonly [Rpc in keyof Requests]: { readonly request: MessageFns<Requests[Rpc]> };
};
type Decoded<Responses> = {
  readonly [Rpc in keyof Responses]: { readonly response: MessageFns<Responses[Rpc]> };
};

/** Returns a function that runs gRPC queries of a generated service; see `ChainClient.grpcQuery`. */
export function queriesOf<Requests, Responses>(
  client: Pick<ChainClient, "grpcQuery">,
  service: { readonly name: string; readonly methods: Encoded<Requests> & Decoded<Responses> },
) {
  const requests: Encoded<Requests> = service.methods;
  const responses: Decoded<Responses> = service.methods;
  return async <Rpc extends keyof Requests & keyof Responses & string>(
    rpc: Rpc,
    message: Requests[Rpc],
    signal: AbortSignal,
    height?: QueryHeight,
  ): Promise<Responses[Rpc]> => {
    const request = requests[rpc].request.encode(message).finish();
    const response = await client.grpcQuery(`/${service.name}/${rpc}`, request, signal, height);
    return responses[rpc].response.decode(response);
  };
}
