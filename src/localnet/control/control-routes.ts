import { fromHex, sha256, upperHex, utf8 } from "../../platform/base/bytes.ts";
import { asText, elements, isPresent, isRecord, type JsonField, member } from "../../platform/base/json.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRoute,
  jsonReply,
  type RouteRequest,
} from "../../platform/http/http-route.ts";
import type { ChainProfile } from "../network/chains.ts";
import { testValidatorSeed } from "../node/consensus/validator-keys.ts";
import type { RunningNode } from "../node/create-node.ts";
import { MempoolError, NodeError } from "../node/errors.ts";
import { createFaucet, type Faucet, FaucetError } from "./faucet.ts";

/** A chain under control. `ready` is that of its node. */
export interface ControlledChain {
  readonly profile: ChainProfile;
  readonly ready: Promise<RunningNode>;
}

/** Thrown for an invalid request body; the reply has the error code `bad-order`. */
class InvalidBodyError extends Error {}

/** Bound for `count`, because the blocks of one request are made without a pause. */
const MAX_BLOCKS = 1_000;

const MAX_ADDRESSES = 10_000;

/** Creates the routes of the control API. `src/localnet/node/README.md` lists them. All except `GET /chains` need the token. */
export function controlRoutes(chains: readonly ControlledChain[]): readonly HttpRoute[] {
  const faucets = new Map(chains.map((chain) => [chain.profile.chainId, createFaucet(chain.profile)]));
  const command = (
    name: string,
    run: (node: RunningNode, body: JsonField, faucet: Faucet) => CommandResult,
  ): HttpRoute => ({
    method: "POST",
    path: `/chains/:chain/${name}`,
    guarded: true,
    handle: async (request) => {
      const id = request.params["chain"] ?? "";
      const chain = chains.find((one) => one.profile.chainId === id);
      const faucet = faucets.get(id);
      if (chain === undefined || faucet === undefined) {
        return errorReply(404, "no-such-chain", `no chain here is called ${id.slice(0, 50)}`);
      }
      return reply(async () => run(await chain.ready, readBody(request), faucet));
    },
  });
  return [
    {
      method: "GET",
      path: "/chains",
      handle: async () => jsonReply(200, { chains: await Promise.all(chains.map(describe)) }),
    },
    command("halt", ({ control }) => {
      control.halt();
      return { halted: true };
    }),
    command("resume", ({ control }) => {
      control.resume();
      return { halted: false };
    }),
    command("blocks", ({ control }, body) => ({
      height: control.produce(integer(member(body, "count"), 1, MAX_BLOCKS)),
    })),
    command("absent", ({ control }, body) => {
      control.setAbsent(addresses(member(body, "validators")));
      return { absent: control.absent() };
    }),
    command("double-sign", ({ control }, body) => {
      const accused = addressOf(member(body, "validator"));
      control.reportDoubleSign(accused);
      return { accused: upperHex(accused) };
    }),
    command("validators", ({ control, genesis }, body) => {
      const address = control.setValidator(seedOf(genesis.chainId, body), amount(member(body, "power")));
      return { address: upperHex(address) };
    }),
    command("faucet", ({ view }, body, faucet) =>
      faucet.send(view, text(member(body, "address")), amount(member(body, "amount"))),
    ),
  ];
}

type ReplyBody = Readonly<Record<string, unknown>>;
type CommandResult = ReplyBody | Promise<ReplyBody>;

async function describe({ profile, ready }: ControlledChain): Promise<ReplyBody> {
  const { view, control } = await ready;
  const { latestHeight } = view.status();
  return {
    chain_id: profile.chainId,
    height: latestHeight,
    halted: control.isHalted(),
    absent: control.absent(),
    validators: (view.validators(latestHeight + 1n)?.validators ?? []).map((one) => ({
      address: upperHex(one.address),
      power: one.power,
    })),
  };
}

/** 400 for an invalid body, 409 for a command that the chain rejects. Other errors are bugs and pass through. */
async function reply(run: () => CommandResult): Promise<HttpReply> {
  try {
    return jsonReply(200, await run());
  } catch (error) {
    if (error instanceof InvalidBodyError) return errorReply(400, "bad-order", error.message);
    if (error instanceof NodeError || error instanceof MempoolError || error instanceof FaucetError) {
      return errorReply(409, error.facts.code, error.message);
    }
    throw error;
  }
}

/** Parses the body; an empty one counts as `{}`. */
function readBody(request: RouteRequest): JsonField {
  const error = (path: string, expected: string): Error =>
    new InvalidBodyError(`${path}: ${expected} was expected`);
  if (request.body.length === 0) return { value: {}, path: "", error };
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(request.body));
    if (isRecord(value)) return { value, path: "", error };
  } catch {
    // The error below covers invalid JSON and other JSON values.
  }
  throw new InvalidBodyError("the body must be a JSON object");
}

/** Returns `least` for an absent field. */
function integer(field: JsonField, least: number, most: number): number {
  const value = field.value ?? least;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw field.error(field.path, `a whole number from ${least} to ${most}`);
}

function text(field: JsonField): string {
  if (!isPresent(field) || asText(field).length > 200) throw field.error(field.path, "a text");
  return asText(field);
}

function amount(field: JsonField): bigint {
  const value = text(field);
  if (!/^\d{1,18}$/.test(value)) throw field.error(field.path, "a whole number in quotes");
  return BigInt(value);
}

function addresses(field: JsonField): readonly Uint8Array[] {
  // `elements` takes an absent field for an empty list, which would make every validator present.
  const list = isPresent(field) ? elements(field) : undefined;
  if (list === undefined || list.length > MAX_ADDRESSES) throw field.error(field.path, "a list of addresses");
  return list.map(addressOf);
}

function addressOf(field: JsonField): Uint8Array {
  if (isPresent(field) && /^[0-9a-fA-F]{40}$/.test(asText(field))) return fromHex(asText(field));
  throw field.error(field.path, "an address of 40 hex digits");
}

/** Returns the seed of a validator: 64 hex digits, the hash of any other text, or that of the test validator `index`. */
function seedOf(chainId: string, body: JsonField): Uint8Array {
  const field = member(body, "seed");
  if (!isPresent(field)) return testValidatorSeed(chainId, integer(member(body, "index"), 0, 10_000));
  const seed = text(field);
  return /^[0-9a-fA-F]{64}$/.test(seed) ? fromHex(seed) : sha256(utf8(seed));
}
