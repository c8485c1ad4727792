import type { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import { Header, Misbehaviour } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../proto/type-urls.ts";
import { decoded, ErrUnpackAny, unregistered } from "../errors.ts";

/** What a client can be told: a newer header, or two headers that contradict each other. */
export type ClientMessage =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "misbehaviour"; readonly misbehaviour: Misbehaviour };

/** Reads a client message from its Any. Throws ibc/14 when absent, and for another type or bytes that do not decode. */
export function unpackClientMessage(any: Any | undefined): ClientMessage {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintHeader:
      return { kind: "header", header: decoded(() => Header.decode(any.value)) };
    case TYPE_URL.tendermintMisbehaviour:
      return { kind: "misbehaviour", misbehaviour: decoded(() => Misbehaviour.decode(any.value)) };
    default:
      throw unregistered(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientMessage`,
      );
  }
}
