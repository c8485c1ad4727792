import { CodedError, errorText } from "../base/errors.ts";
import type { ListenAddress } from "./config-fields.ts";
import { findPortHolder } from "./port-holder.ts";

/** A port that somebody else listens on. */
export class PortInUseError extends CodedError<{
  readonly code: "port-in-use";
  readonly host: string;
  readonly port: number;
  /** Who may hold it; absent when it cannot be told. */
  readonly holder?: string;
  /** The option that moves it. */
  readonly option: string;
}> {}

/** An address that cannot be listened on for another reason: not of this machine, not allowed. */
export class ListenError extends CodedError<{
  readonly code: "cannot-listen";
  readonly host: string;
  readonly port: number;
  readonly option: string;
}> {}

/** Turns what `listen` reported into an error that says what to do. `face` is what wanted the port. */
export function toListenError(
  cause: unknown,
  face: string,
  address: ListenAddress,
  option: string,
): PortInUseError | ListenError {
  const { host, port } = address;
  if (!isPortInUse(cause)) {
    const text = `${face} cannot listen on ${host}:${port}: ${errorText(cause)}; choose another address with ${option}`;
    return new ListenError({ code: "cannot-listen", host, port, option }, text, { cause });
  }
  const holder = findPortHolder(port);
  const facts = {
    code: "port-in-use",
    host,
    port,
    option,
    ...(holder === undefined ? {} : { holder }),
  } as const;
  const who = holder === undefined ? "another process" : holder;
  return new PortInUseError(
    facts,
    `${face} needs port ${port} on ${host}, which ${who} holds; stop it, or move this with ${option}`,
    { cause },
  );
}

function isPortInUse(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}
